// Boundary of the C API: converts statuses to codes and texts, and catches exceptions.
#ifndef TORC_RUNTIME_API_API_H_
#define TORC_RUNTIME_API_API_H_

#include <exception>
#include <new>
#include <stdexcept>
#include <type_traits>

#include "runtime/api/torc.h"
#include "schedules/collective.h"
#include "support/message.h"
#include "support/status.h"
#include "support/thread_annotations.h"

namespace torc::runtime {

/// The code of `status`; the message of an error becomes torc_error_message().
int report(const Status& status) noexcept;

/// Runs `work`, which returns a Status or nothing, and converts its exceptions to a Status. Clang's
/// analysis does not see that it runs with the locks of the caller.
template <typename Work>
Status attempt(Work&& work) noexcept TORC_NO_THREAD_SAFETY_ANALYSIS {
  try {
    if constexpr (std::is_void_v<decltype(work())>) {
      work();
      return {};
    } else {
      return work();
    }
  } catch (const std::bad_alloc&) {
    // The text fits a string's internal buffer: no allocation.
    return {StatusCode::kNoMemory, "out of memory"};
  } catch (const std::length_error&) {
    return {StatusCode::kOverflow, "size too large"};
  } catch (const std::exception& exception) {
    return {StatusCode::kInvalidArgument, exception.what()};
  }
}

/// The error of a null handle: `torc_schedule_free: schedule is NULL`.
/// Does the work of a function of the C API: an error is reported behind the function's name.
template <typename Work>
int apiCall(const char* function, Work&& work) noexcept {
  return report(attempt([&]() -> Status {
    Status status = work();
    return status.ok() ? status : status.annotated(function);
  }));
}

inline Status nullArgument(const char* what) {
  return {StatusCode::kInvalidArgument, message(what, " is NULL")};
}

/// The C API's constant for a collective: the same number.
constexpr torc_kind kindOf(Collective collective) {
  static_assert(TORC_ALLREDUCE == static_cast<int>(Collective::kAllreduce));
  static_assert(TORC_REDUCE_SCATTER == static_cast<int>(Collective::kReduceScatter));
  static_assert(TORC_ALLGATHER == static_cast<int>(Collective::kAllgather));
  static_assert(TORC_BROADCAST == static_cast<int>(Collective::kBroadcast));
  static_assert(TORC_ALLTOALL == static_cast<int>(Collective::kAlltoall));
  static_assert(TORC_REDUCE == static_cast<int>(Collective::kReduce));
  static_assert(TORC_SCATTER == static_cast<int>(Collective::kScatter));
  static_assert(TORC_GATHER == static_cast<int>(Collective::kGather));
  static_assert(TORC_SCAN == static_cast<int>(Collective::kScan));
  static_assert(TORC_EXSCAN == static_cast<int>(Collective::kExscan));
  static_assert(TORC_NEIGHBOR_ALLGATHER == static_cast<int>(Collective::kNeighborAllgather));
  static_assert(TORC_NEIGHBOR_ALLTOALL == static_cast<int>(Collective::kNeighborAlltoall));
  static_assert(TORC_NEIGHBOR_ALLTOALL + 1 == kCollectiveCount);
  return static_cast<torc_kind>(collective);
}

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_API_API_H_
