// Common parts of the collectives that exchange in growing groups: axes and their rounds, nodes
// with equal operations in a round, guards and directions.
//
// A message has a guard for its nodes by their coordinates on the axis; consecutive nodes with
// equal operations share one. Operations of a round with different guards form a chain of
// dependences. A node that waits for the last of them waits for its own one: dependences pass
// through operations that a node does not execute. Every round is a phase.
#ifndef TORC_COMPILER_ALGORITHMS_RECURSIVE_RECURSIVE_STEPS_H_
#define TORC_COMPILER_ALGORITHMS_RECURSIVE_RECURSIVE_STEPS_H_

#include <cstdint>
#include <vector>

#include <llvm/ADT/SmallVector.h>

#include "compiler/algorithms/recursive/axis_rounds.h"
#include "compiler/spec/collective_spec.h"
#include "ir/step_builder.h"

namespace torc::compiler {

class RecursiveSteps {
 protected:
  /// Receives of a round overlap with the additions of the previous round.
  static constexpr std::uint32_t kRoundsOfStaging = 2;

  /// Consecutive nodes of an axis.
  struct Span {
    std::uint32_t first = 0, count = 0;
    bool operator==(const Span&) const = default;
  };
  /// Nodes of consecutive coordinates on an axis with equal operations in a round.
  struct Members {
    Span nodes;
    std::uint32_t digit = 0;
    llvm::SmallVector<std::int64_t, 8> distances;  // to the member of each digit
    llvm::SmallVector<Span, 8> spans;  // of the members' smaller groups before the round

    std::uint32_t radix() const { return static_cast<std::uint32_t>(distances.size()); }
  };
  using Awaited = llvm::SmallVector<std::uint32_t, 16>;

  RecursiveSteps(const CollectiveSpec& spec, std::uint32_t most_messages);

  /// The groups of a round. `split`: coordinates that begin a new guard.
  std::vector<Members> membersOf(const AxisRounds& rounds, const AxisRound& round,
                                 const std::vector<bool>& split = {}) const;

  /// The whole vector in a buffer, and in a new frame.
  Region whole(Buffer buffer) { return builder_.region(buffer, {{0, 1, builder_.box({})}}); }
  Region frame();

  ir::StepPlace everywhere() const { return {stream_, kNone}; }
  ir::StepPlace place(std::size_t axis, Span nodes);
  ir::StepPlace place(std::size_t axis, std::uint32_t node) { return place(axis, Span{node, 1}); }
  /// The shift of a message along an axis, in the shorter direction round a ring.
  Shift moves(std::size_t axis, std::int64_t distance) const;

  static Awaited awaited(std::uint32_t operation) {
    return operation == kNone ? Awaited() : Awaited{operation};
  }

  const Topology topology_;
  ir::StepBuilder builder_;
  const std::uint32_t stream_;
  // Axes of more than one node, in rank order; below, an axis is an index into this list.
  llvm::SmallVector<std::uint32_t, kMaxAxes> axes_;
  llvm::SmallVector<AxisRounds, kMaxAxes> rounds_;
  std::uint32_t largest_radix_ = 2;
  std::uint32_t slots_ = 0;  // number of frames' slots
  std::size_t axis_ = 0;     // of the current exchange
};

/// Rounds of exchanges and additions, with one sum on each node.
class RecursiveSums : protected RecursiveSteps {
 protected:
  using RecursiveSteps::RecursiveSteps;

  void beginRound() {
    builder_.setPhase(static_cast<std::uint32_t>(begins_.size()));
    begins_.push_back(end_);
  }
  /// The operation that wrote the value for this round.
  Awaited valueIsThere() const { return awaited(begins_.back()); }
  /// The operations that read the staging frames two rounds ago.
  Awaited stagingIsFree() const {
    return begins_.size() < kRoundsOfStaging ? Awaited()
                                             : awaited(begins_[begins_.size() - kRoundsOfStaging]);
  }
  /// Index of the staging frames of this round.
  std::uint32_t turn() const { return begins_.size() % kRoundsOfStaging; }
  void awaitEnd(Awaited& after) const {
    if (end_ != kNone) after.push_back(end_);
  }
  /// The data of a member of a group in a round.
  struct Exchange {
    llvm::SmallVector<Region, 8> sent;     // to the member of each digit
    Region own;                            // the member's value
    llvm::SmallVector<Region, 8> staging;  // for the first message, the second, and so on
    Region partial, sum;                   // of the first values; of all
  };
  /// Members exchange values, and each adds the received values in the order of the digits.
  void exchangeAt(const Members& members, const Exchange& exchange);

  std::vector<std::uint32_t> begins_;  // by round: the last operation before; kNone: none
  std::uint32_t end_ = kNone;          // depends on all last operations of the round so far
};

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_RECURSIVE_RECURSIVE_STEPS_H_
