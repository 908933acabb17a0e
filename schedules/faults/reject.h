// Faults of schedules and files are thrown, within one module, to where it returns a Status.
#ifndef TORC_SCHEDULES_FAULTS_REJECT_H_
#define TORC_SCHEDULES_FAULTS_REJECT_H_

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <string_view>
#include <system_error>
#include <utility>

#include "support/message.h"
#include "support/status.h"

namespace torc {

/// Throws the fault, with its message in pieces.
template <typename... Pieces>
[[noreturn, gnu::cold, gnu::noinline]] void reject(const Pieces&... pieces) {
  throw malformed(pieces...);
}
/// The pieces are evaluated in any case: they exist, and cost little, where nothing is wrong.
template <typename... Pieces>
void rejectIf(bool is_wrong, const Pieces&... pieces) {
  if (is_wrong) reject(pieces...);
}

inline void orReject(const Status& status) {
  if (!status.ok()) throw status;
}

/// Runs `check`; a fault gets the pieces of `context` before its message: "operation 17: ...".
template <typename Check, typename... Pieces>
void within(Check&& check, const Pieces&... context) {
  try {
    check();
  } catch (const Status& fault) {
    throw fault.annotated(message(context...));
  }
}

/// Checks each record by itself; a fault begins with its number: "color 3: ".
template <typename Records, typename Check>
void checkEach(const char* what, const Records& records, Check&& check) {
  for (std::size_t i = 0; i < records.size(); ++i)
    within([&] { check(records[i]); }, what, ' ', i);
}

/// The record with which the message of a fault begins: "color 3: weight must be at least 1".
struct FaultyRecord {
  std::string_view what{};  // "color"
  std::size_t index = 0;    // 3
  std::string_view rest{};  // ": weight must be at least 1"
};
/// `what` is empty if the message does not begin with a record.
inline FaultyRecord recordOf(std::string_view message) {
  const std::size_t digits = std::min(message.find_first_of("0123456789"), message.size());
  FaultyRecord record;
  const char* const end = message.data() + message.size();
  const auto [rest, error] = std::from_chars(message.data() + digits, end, record.index);
  if (digits < 2 || message[digits - 1] != ' ' || error != std::errc()) return record;
  record.what = message.substr(0, digits - 1);
  record.rest = {rest, static_cast<std::size_t>(end - rest)};
  return record;
}

/// Ok, or the fault that `check` throws.
template <typename Check>
Status statusOf(Check&& check) {
  try {
    check();
    return {};
  } catch (Status& fault) {
    return std::move(fault);
  }
}

}  // namespace torc

#endif  // TORC_SCHEDULES_FAULTS_REJECT_H_
