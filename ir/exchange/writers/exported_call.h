// An exported call: a schedule for one size and root, of which the programs of all ranks are made
// one after the other, so that no more than one has to be held.
#ifndef TORC_IR_EXCHANGE_WRITERS_EXPORTED_CALL_H_
#define TORC_IR_EXCHANGE_WRITERS_EXPORTED_CALL_H_

#include <cstdint>
#include <memory>

#include <llvm/Support/Error.h>

#include "schedules/expansion/expand.h"
#include "schedules/loops/unroll.h"
#include "schedules/schedule.h"

namespace torc::ir {

/// Operations of all ranks together that are exported, at most.
inline constexpr std::uint64_t kMostExported = 1'000'000'000;

/// What is called, and how long a rank takes for what is no message.
struct CallSize {
  std::uint64_t count = 0;          // as in Counts
  std::uint64_t element_bytes = 1;  // of an element
  std::int32_t root = 0;
  double reduce_s_per_byte = 0;  // seconds for a byte of a sum
  double copy_s_per_byte = 0;    // and of a copy
};

/// The count, as in Counts, of a call with `elements` elements in its whole vector; what is left
/// over where blocks are equal is left out.
std::uint64_t countOf(const ScheduleView& schedule, std::uint64_t elements);

class ExportedCall {
 public:
  /// `schedule` has passed `validate`, and outlives the call. An error where all ranks together
  /// may execute more than kMostExported operations.
  static llvm::Expected<ExportedCall> make(const ScheduleView& schedule, const CallSize& size);

  /// With its loops written out: what operations name as their source.
  const ScheduleView& schedule() const { return schedule_; }
  const CallSize& size() const { return size_; }
  std::int32_t ranks() const { return static_cast<std::int32_t>(schedule_.topology.ranks()); }
  /// The program of `rank`. Errors as those of `expand`.
  llvm::Expected<FlatProgram> program(std::int32_t rank) const;

  /// Bytes of a message, a sum or a copy. A signal has one: formats have no messages without data.
  std::uint64_t bytesOf(const FlatOperation& operation) const;
  /// Seconds of a sum, after its message where it has one, or of a copy; 0 of others.
  double secondsOf(const FlatOperation& operation) const;

 private:
  ExportedCall() = default;

  std::unique_ptr<UnrolledLoops> unrolled_;  // null where there are no loops
  ScheduleView schedule_;
  CallSize size_;
};

}  // namespace torc::ir

#endif  // TORC_IR_EXCHANGE_WRITERS_EXPORTED_CALL_H_
