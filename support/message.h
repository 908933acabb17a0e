// Messages for a person, put together from pieces: message("stream ", 9, " does not exist").
#ifndef TORC_SUPPORT_MESSAGE_H_
#define TORC_SUPPORT_MESSAGE_H_

#include <sstream>
#include <string>
#include <string_view>

#include "support/status.h"

namespace torc {

/// The pieces, each as `<<` prints it. For error paths: it allocates.
template <typename... Pieces>
std::string message(const Pieces&... pieces) {
  std::ostringstream text;
  (text << ... << pieces);
  return text.str();
}

/// What somebody wrote, as a part of a line: what cannot be printed is '?', and it is cut where it
/// is long.
inline std::string shown(std::string_view text) {
  constexpr std::size_t kLongest = 100;
  std::string part(text.substr(0, kLongest));
  for (char& letter : part)
    letter = static_cast<unsigned char>(letter) < ' ' || letter == '\x7f' ? '?' : letter;
  return text.size() > kLongest ? part + "..." : part;
}

/// The fault of a file or text that is not what it should be.
template <typename... Pieces>
Status malformed(const Pieces&... pieces) {
  return Status(StatusCode::kMalformed, message(pieces...));
}

}  // namespace torc

#endif  // TORC_SUPPORT_MESSAGE_H_
