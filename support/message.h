// Messages assembled from pieces: message("stream ", 9, " does not exist").
#ifndef TORC_SUPPORT_MESSAGE_H_
#define TORC_SUPPORT_MESSAGE_H_

#include <sstream>
#include <string>
#include <string_view>

#include "support/status.h"

namespace torc {

/// The pieces, each printed by `<<`. It allocates: for error paths.
template <typename... Pieces>
std::string message(const Pieces&... pieces) {
  std::ostringstream text;
  (text << ... << pieces);
  return text.str();
}

/// A user's text as a part of a line: unprintable letters become '?', and long texts are shortened.
inline std::string shown(std::string_view text) {
  constexpr std::size_t kLongest = 100;
  std::string part(text.substr(0, kLongest));
  for (char& letter : part)
    letter = static_cast<unsigned char>(letter) < ' ' || letter == '\x7f' ? '?' : letter;
  return text.size() > kLongest ? part + "..." : part;
}

/// The fault of a malformed file or text.
template <typename... Pieces>
Status malformed(const Pieces&... pieces) {
  return Status(StatusCode::kMalformed, message(pieces...));
}

}  // namespace torc

#endif  // TORC_SUPPORT_MESSAGE_H_
