// Runs a schedule on numbers, all ranks in this process, and compares every rank's result with the
// collective's definition. It judges the verifier in property tests, independently of boxes and
// proofs.
#ifndef TORC_TESTS_RUNTIME_EXECUTION_CHECKED_JOB_H_
#define TORC_TESTS_RUNTIME_EXECUTION_CHECKED_JOB_H_

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/transport/inprocess_transport.h"
#include "schedules/schedule.h"

namespace torc {

/// Element type and operation of a job. Sums of floats add small integers, so that every order
/// gives the same, exact result.
enum class CheckedType { kInt64Sum, kInt32Max, kUint8Sum, kFloatSum, kDoubleSum, kInt16Min };
inline constexpr int kCheckedTypeCount = 6;

struct CheckedCall {
  CheckedType type = CheckedType::kInt64Sum;
  std::uint64_t count = 0;              // as in Counts
  std::vector<std::uint64_t> per_rank;  // as in Counts; empty: `count`
  bool in_place = false;                // not in a reduce_scatter
  std::int32_t root = 0;
  runtime::Delivery delivery = runtime::Delivery::kRendezvous;
  std::uint64_t seed = 0;
};

/// Empty if every rank ended with the right result; otherwise the first fault: a rank and element
/// that differ, blocked ranks, or an error of expansion or transport.
std::string runChecked(const ScheduleView& schedule, const CheckedCall& call);

}  // namespace torc

#endif  // TORC_TESTS_RUNTIME_EXECUTION_CHECKED_JOB_H_
