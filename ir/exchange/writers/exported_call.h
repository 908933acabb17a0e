// An exported call: a schedule for one size and root. Programs of ranks are made one after the
// other, so that only one is in memory.
#ifndef TORC_IR_EXCHANGE_WRITERS_EXPORTED_CALL_H_
#define TORC_IR_EXCHANGE_WRITERS_EXPORTED_CALL_H_

#include <cstdint>
#include <memory>

#include <llvm/Support/Error.h>

#include "schedules/expansion/expand.h"
#include "schedules/loops/unroll.h"
#include "schedules/schedule.h"

namespace torc::ir {

/// Most operations of all ranks together in an export.
inline constexpr std::uint64_t kMostExported = 1'000'000'000;

/// Size of the call, and times of local work.
struct CallSize {
  std::uint64_t count = 0;          // as in Counts
  std::uint64_t element_bytes = 1;  // of an element
  std::int32_t root = 0;
  double reduce_s_per_byte = 0;  // seconds for a byte of a sum
  double copy_s_per_byte = 0;    // seconds for a byte of a copy
};

/// The count, as in Counts, of a call with `elements` elements in its whole vector, rounded down to
/// equal blocks.
std::uint64_t countOf(const ScheduleView& schedule, std::uint64_t elements);

class ExportedCall {
 public:
  /// `schedule` has passed `validate`, and outlives the call. An error if all ranks together may
  /// execute more than kMostExported operations.
  static llvm::Expected<ExportedCall> make(const ScheduleView& schedule, const CallSize& size);

  /// The schedule with its loops unrolled: the sources of operations refer to it.
  const ScheduleView& schedule() const { return schedule_; }
  const CallSize& size() const { return size_; }
  std::int32_t ranks() const { return static_cast<std::int32_t>(schedule_.topology.ranks()); }
  /// The program of `rank`. Errors as those of `expand`.
  llvm::Expected<FlatProgram> program(std::int32_t rank) const;

  /// Bytes of a message, a sum or a copy. A signal has one: formats have no messages without data.
  std::uint64_t bytesOf(const FlatOperation& operation) const;
  /// Seconds of a sum, or of a copy; 0 for others.
  double secondsOf(const FlatOperation& operation) const;

 private:
  ExportedCall() = default;

  std::unique_ptr<UnrolledLoops> unrolled_;  // null if there are no loops
  ScheduleView schedule_;
  CallSize size_;
};

}  // namespace torc::ir

#endif  // TORC_IR_EXCHANGE_WRITERS_EXPORTED_CALL_H_
