// What the collectives that exchange in growing groups have in common: axes and their rounds, who
// does the same in a round, guards and ways.
//
// A message has a guard for its nodes by their coordinates on the axis; consecutive ones that do
// the same share one. Operations of a round that nodes with another guard execute name one another,
// so that who waits for the last of them waits for the own: dependences pass through operations
// that a node does not execute. Every round is a phase.
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
  /// A round receives while what came in the one before is added.
  static constexpr std::uint32_t kRoundsOfStaging = 2;

  /// Of an axis's nodes, consecutive ones.
  struct Span {
    std::uint32_t first = 0, count = 0;
    bool operator==(const Span&) const = default;
  };
  /// Nodes of consecutive coordinates on an axis that do the same in a round.
  struct Members {
    Span nodes;
    std::uint32_t digit = 0;
    llvm::SmallVector<std::int64_t, 8> distances;  // to the member of each digit
    llvm::SmallVector<Span, 8> spans;  // that the members' smaller groups stand for before it

    std::uint32_t radix() const { return static_cast<std::uint32_t>(distances.size()); }
  };
  using Awaited = llvm::SmallVector<std::uint32_t, 16>;

  RecursiveSteps(const CollectiveSpec& spec, std::uint32_t most_messages);

  /// The groups of a round. `split`: coordinates that begin a guard of their own.
  std::vector<Members> membersOf(const AxisRounds& rounds, const AxisRound& round,
                                 const std::vector<bool>& split = {}) const;

  /// The whole vector in a buffer, and in a frame of its own.
  Region whole(Buffer buffer) { return builder_.region(buffer, {{0, 1, builder_.box({})}}); }
  Region frame();

  ir::StepPlace everywhere() const { return {stream_, kNone}; }
  ir::StepPlace place(std::size_t axis, Span nodes);
  ir::StepPlace place(std::size_t axis, std::uint32_t node) { return place(axis, Span{node, 1}); }
  /// The way by which a message moves along an axis, the shorter one round a ring.
  Shift moves(std::size_t axis, std::int64_t distance) const;

  static Awaited awaited(std::uint32_t operation) {
    return operation == kNone ? Awaited() : Awaited{operation};
  }

  const Topology topology_;
  ir::StepBuilder builder_;
  const std::uint32_t stream_;
  // Of more than one node, as ranks are counted; below, an axis is a number in this list.
  llvm::SmallVector<std::uint32_t, kMaxAxes> axes_;
  llvm::SmallVector<AxisRounds, kMaxAxes> rounds_;
  std::uint32_t largest_radix_ = 2;
  std::uint32_t slots_ = 0;  // of frames
  std::size_t axis_ = 0;     // that is exchanged along
};

/// Rounds in which values are added up, in one sum on each node.
class RecursiveSums : protected RecursiveSteps {
 protected:
  using RecursiveSteps::RecursiveSteps;

  void beginRound() {
    builder_.setPhase(static_cast<std::uint32_t>(begins_.size()));
    begins_.push_back(end_);
  }
  /// What brought the value of a round to its nodes.
  Awaited valueIsThere() const { return awaited(begins_.back()); }
  /// What read the staging of a round before, in the last round but one.
  Awaited stagingIsFree() const {
    return begins_.size() < kRoundsOfStaging ? Awaited()
                                             : awaited(begins_[begins_.size() - kRoundsOfStaging]);
  }
  /// Numbers of what lies elsewhere in the next round.
  std::uint32_t turn() const { return begins_.size() % kRoundsOfStaging; }
  void awaitEnd(Awaited& after) const {
    if (end_ != kNone) after.push_back(end_);
  }
  /// What a member of a group has and gets in a round.
  struct Exchange {
    llvm::SmallVector<Region, 8> sent;     // to the member of each digit
    Region own;                            // its value
    llvm::SmallVector<Region, 8> staging;  // for what comes first, second, and so on
    Region partial, sum;                   // of the first values, of all
  };
  /// Members exchange values, and each adds what it gets in the order of the digits.
  void exchangeAt(const Members& members, const Exchange& exchange);

  std::vector<std::uint32_t> begins_;  // by round: what ended the one before; kNone: nothing
  std::uint32_t end_ = kNone;          // names all that end the round so far
};

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_RECURSIVE_RECURSIVE_STEPS_H_
