// Repetition: consecutive operations that repeat, except for starts and lengths of intervals, which
// change by constant amounts, and for frames, which are new each time.
#ifndef TORC_PASSES_LOOPS_REPETITION_H_
#define TORC_PASSES_LOOPS_REPETITION_H_

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include <llvm/ADT/SmallVector.h>

#include "ir/schedule_builder.h"
#include "schedules/schedule.h"

namespace torc::passes {

/// Blocks of some parts, whose boxes depend on the counter of a loop of depth 1.
struct RepeatedBlocks {
  std::uint32_t part = 0, parts = 1;
  Box box;          // of pairs, the box of the sources
  Box destination;  // of pairs
};

/// An operation, generalised over all iterations.
class RepeatedOperation {
 public:
  /// Made from operation `first` in the first iteration and `second` in the second one;
  /// std::nullopt if they do not match.
  static std::optional<RepeatedOperation> make(const ScheduleView& schedule, std::uint32_t first,
                                               std::uint32_t second);

  /// Whether operation `index` is its iteration `iteration`.
  bool fits(const ScheduleView& schedule, std::uint32_t index, std::uint32_t iteration) const;

  const Operation& first() const { return first_; }
  /// The pieces of a region (0: dst, 1: a, 2: b) or of its frame, in a builder.
  llvm::SmallVector<Piece, 4> pieces(std::uint32_t region, bool of_frame,
                                     ir::ScheduleBuilder& builder) const;
  const Box& guard() const { return guard_; }

 private:
  using List = llvm::SmallVector<RepeatedBlocks, 1>;

  Operation first_;
  std::array<List, 3> regions_, frames_;
  Box guard_;
  bool has_pairs_ = false;
};

/// `count` times `period` operations from `begin` on.
struct Repetition {
  std::uint32_t begin = 0, period = 0, count = 1;
  std::vector<RepeatedOperation> body;  // `period` of them, if there are two iterations

  std::uint32_t end() const { return begin + period * count; }
  std::uint32_t at(std::uint32_t iteration, std::uint32_t position) const {
    return begin + iteration * period + position;
  }
};

/// The number of repetitions of the operations [begin, begin + period) in a row, before `end`.
Repetition repetitionAt(const ScheduleView& schedule, std::uint32_t begin, std::uint32_t period,
                        std::uint32_t end);

}  // namespace torc::passes

#endif  // TORC_PASSES_LOOPS_REPETITION_H_
