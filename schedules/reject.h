// Faults of schedules and files are thrown, within one module, to where it returns a Status.
#ifndef TORC_SCHEDULES_REJECT_H_
#define TORC_SCHEDULES_REJECT_H_

#include <cstddef>
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

#endif  // TORC_SCHEDULES_REJECT_H_
