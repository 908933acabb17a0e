// The exchange of counts: before a schedule that forwards blocks serves counts that differ from
// pair to pair, the same schedule is run with the count of every block in place of the block. Then
// each rank knows how long the blocks are that pass through it, whatever the schedule.
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

/// The elements of its program are 64-bit numbers. A rank writes the number that stands for a count
/// (numberOf) `copies` times into the block for that rank, in `in`; scratch has zeros. When all
/// ranks have run their programs, every block of `out` has the number of the block to the rank, and
/// `read` tells the counts of the blocks that the rank has forwarded.
class CountExchange {
 public:
  /// What stands for a count, and the count again. 0, which stands for none, is where nothing was
  /// received: not every rank needs every frame.
  static std::uint64_t numberOf(std::uint64_t count) { return count + 1; }
  static std::uint64_t countOf(std::uint64_t number) { return number - 1; }

  /// `schedule` is of pairs, has passed `validate`, and outlives this object.
  explicit CountExchange(const ScheduleView& schedule);
  CountExchange(const CountExchange&) = delete;
  CountExchange& operator=(const CountExchange&) = delete;

  /// The schedule in one segment, with a slot for each frame, so that nothing that was received is
  /// written over. Its messages and tags are among those of the schedule.
  const ScheduleView& view() const { return view_; }

  /// Elements of a block, so many that each of its parts has one at least: parts may take ways of
  /// their own.
  std::uint64_t copies() const { return copies_; }

  /// The program of `rank`. Errors as those of torc::expand.
  StatusOr<FlatProgram> expand(std::int32_t rank) const;

  /// Adds the blocks of which `scratch` of `rank` has numbers after its program to `counts`. Throws
  /// std::bad_alloc.
  Status read(std::int32_t rank, std::span<const std::uint64_t> scratch, PairCounts& counts) const;

 private:
  ScheduleView view_;
  std::vector<Frame> frames_;
  std::uint64_t copies_ = 1;
};

}  // namespace torc

#endif  // TORC_SCHEDULES_EXPANSION_COUNT_EXCHANGE_H_
