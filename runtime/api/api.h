// The border of the C API: statuses become codes and a text, exceptions stop here.
#ifndef TORC_RUNTIME_API_API_H_
#define TORC_RUNTIME_API_API_H_

#include <exception>
#include <new>
#include <stdexcept>

#include "runtime/api/torc.h"
#include "support/message.h"
#include "support/status.h"

namespace torc {

/// The code of `status`; where that is an error its message becomes torc_error_message().
int report(const Status& status) noexcept;

/// Runs `work`, which returns a Status; what it throws becomes one.
template <typename Work>
Status attempt(Work&& work) noexcept {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    // The text fits a string's own buffer: no allocation.
    return {StatusCode::kNoMemory, "out of memory"};
  } catch (const std::length_error&) {
    return {StatusCode::kOverflow, "size too large"};
  } catch (const std::exception& exception) {
    return {StatusCode::kInvalidArgument, exception.what()};
  }
}

/// The error of a null handle: `torc_schedule_free: schedule is NULL`.
inline Status nullArgument(const char* what) {
  return {StatusCode::kInvalidArgument, message(what, " is NULL")};
}

}  // namespace torc

#endif  // TORC_RUNTIME_API_API_H_
