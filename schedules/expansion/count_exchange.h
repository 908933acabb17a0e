// The exchange of counts: if counts differ from pair to pair, a schedule that forwards blocks first
// runs with the count of every block in place of the block. Then each rank knows the lengths of the
// blocks that pass through it.
#ifndef TORC_SCHEDULES_EXPANSION_COUNT_EXCHANGE_H_
#define TORC_SCHEDULES_EXPANSION_COUNT_EXCHANGE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "schedules/expansion/expand.h"
#include "schedules/expansion/pair_counts.h"
#include "schedules/schedule.h"
#include "support/status.h"

namespace torc {

/// The elements of its program are 64-bit numbers. A rank writes numberOf(count) `copies` times
/// into the block for each rank, in `in`; scratch is zero. After the programs of all ranks, every
/// block of `out` holds the number of the block to this rank, and `read` returns the counts of the
/// forwarded blocks.
class CountExchange {
 public:
  /// Encoding of a count, and its inverse. 0 encodes none: the rank received nothing there, as not
  /// every rank needs every frame.
  static std::uint64_t numberOf(std::uint64_t count) { return count + 1; }
  static std::uint64_t countOf(std::uint64_t number) { return number - 1; }

  /// `schedule` has blocks of pairs, has passed `validate`, and outlives this object.
  explicit CountExchange(const ScheduleView& schedule);
  CountExchange(const CountExchange&) = delete;
  CountExchange& operator=(const CountExchange&) = delete;

  /// The schedule in one segment, with a slot for each frame, so that no received number is
  /// overwritten. Its messages and tags are among those of the schedule.
  const ScheduleView& view() const { return view_; }

  /// Elements of a block, enough to give each part at least one: parts may take different ways.
  std::uint64_t copies() const { return copies_; }

  StatusOr<FlatProgram> expand(std::int32_t rank) const;

  /// Adds to `counts` the blocks whose numbers are in `scratch` of `rank` after its program. Throws
  /// std::bad_alloc.
  Status read(std::int32_t rank, std::span<const std::uint64_t> scratch, PairCounts& counts) const;

 private:
  ScheduleView view_;
  std::vector<Frame> frames_;
  std::uint64_t copies_ = 1;
};

}  // namespace torc

#endif  // TORC_SCHEDULES_EXPANSION_COUNT_EXCHANGE_H_
