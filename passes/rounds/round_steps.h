// RoundSteps: the steps of a part along one axis in rounds (passes/analysis/ring_rounds.h).
//
// Blocks. In a reduce-scatter axes done before are fixed to the own coordinate, axes to come are
// whole; in an allgather it is the other way around. A message has blocks of several coordinates of
// the axis, relative to the executing node: consecutive nodes with equal messages share a guard.
//
// Place of the sums. allreduce: in `out`; the first addition to a block is out = in + received,
// later ones out = out + received. reduce_scatter: in a frame for all blocks of the part; the last
// addition to the own block writes `out`. Blocks without additions so far go in a separate message,
// from `in`.
//
// Order. Operations of a node in a round wait for those of the rounds before and, in the first
// round of an axis, for the end of the axis before. Operations of the last round depend on one
// another, so that a dependence on the last of them implies the node's own: dependences pass
// through operations that a node does not execute. Received data use other scratch than in the
// round before.
#ifndef TORC_PASSES_ROUNDS_ROUND_STEPS_H_
#define TORC_PASSES_ROUNDS_ROUND_STEPS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <llvm/ADT/SmallVector.h>

#include "ir/step_builder.h"
#include "passes/analysis/plan_progress.h"
#include "passes/analysis/ring_rounds.h"

namespace torc::passes {

/// A part, with its progress.
struct RoundPart {
  RoundPart(const Schedule& schedule, std::uint32_t color)
      : color(color), progress(schedule, color) {}

  std::uint32_t color;
  std::uint32_t part = 0;
  std::uint32_t direction = 0;
  std::uint32_t stream = 0;
  PlanProgress progress;
  std::uint32_t rounds = 0;      // so far, on all axes
  ir::OperationIndices ended;    // last operations of the axis before
  std::uint32_t copied = kNone;  // allgather: the own block, into `out`
  std::uint32_t sums = kNone;    // reduce_scatter: the frame
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> slots;  // by turn and number
};

class RoundSteps {
 public:
  /// All outlive this object; steps go to the builder's current phase. The part's progress allows
  /// it, and is as it was before the axis.
  RoundSteps(ir::StepBuilder& builder, RoundPart& part, std::uint32_t axis);

  /// `rounds` in their order.
  void reduceScatter(const std::vector<RingRound>& rounds);
  /// `rounds` backwards, with senders and receivers swapped.
  void allgather(const std::vector<RingRound>& rounds);

  /// The result if there is no axis: out = in for the own blocks.
  static void copyOwn(ir::StepBuilder& builder, RoundPart& part);

 private:
  /// Consecutive coordinates, `length` from `offset` of the executing node on.
  struct Run {
    std::int32_t offset = 0;
    std::uint32_t length = 0;
    bool operator==(const Run&) const = default;
  };
  using Runs = llvm::SmallVector<Run, 4>;
  /// Kinds of additions to blocks: whether there was one before and, plus kLast, whether it is the
  /// last.
  enum Addition : std::size_t { kBegun = 0, kAdded = 1, kLast = 2, kAdditions = 4 };
  /// A message at one of its ends.
  struct Message {
    std::int32_t moves = 0;
    bool has_sums = false;  // of a reduce-scatter's sender: it has added to these blocks
    Runs blocks;
    std::array<Runs, kAdditions> additions;  // of a reduce-scatter's receiver
    bool operator==(const Message&) const = default;
  };
  struct Role {
    llvm::SmallVector<Message, 2> sends, receives;
    bool operator==(const Role&) const = default;
  };
  /// Consecutive nodes with equal roles.
  struct Members {
    std::uint32_t first = 0, count = 0;
    const Role* role = nullptr;
  };

  bool everyoneHasOut() const { return rowOf(builder_.schedule().collective).outWhole(); }

  static std::vector<Members> membersOf(const std::vector<Role>& roles);
  Runs runsOf(const std::vector<std::uint32_t>& blocks, std::uint32_t origin,
              std::uint32_t node) const;
  std::vector<Role> rolesInReduceScatter(const RingRound& round);
  std::vector<Role> rolesInAllgather(const RingRound& round) const;

  llvm::SmallVector<Piece, 4> pieces(const Runs& runs);
  Region region(Buffer buffer, const Runs& runs, std::uint32_t frame = kNone) {
    return builder_.region(buffer, pieces(runs), frame);
  }
  Region sums(const Runs& runs);
  std::uint32_t stagingFrame(const Runs& runs, std::uint32_t number);
  ir::StepPlace placeOf(const Members& members);
  Shift shiftOf(std::int32_t moves) const;
  ir::OperationIndices joined(const Members& members,
                              const std::vector<ir::OperationIndices>& of) const;
  /// The last round's operations end the axis.
  void endAxis();
  /// Adds the steps of a round for nodes with equal roles.
  void reduceScatterAt(const Members& members, bool is_last_round);
  void allgatherAt(const Members& members);
  /// Adds received data to the sums of its blocks; then `after` is the last addition.
  void addReceived(const ir::StepPlace& place, const Message& message, std::uint32_t frame,
                   ir::OperationIndices& after);

  ir::StepBuilder& builder_;
  const Topology& topology_;
  RoundPart& part_;
  const std::uint32_t axis_;
  const std::uint32_t size_;
  const bool first_axis_;
  std::size_t round_ = 0;  // on this axis
  // Reduce-scatter, by coordinate: whether a block has a sum; the number of remaining additions to
  // the own one.
  std::vector<std::vector<bool>> has_sum_;
  std::vector<std::size_t> own_additions_;
  // By coordinate: dependences of the sums, or gathered blocks, that a node sends; the same a round
  // ago; its sends so far.
  std::vector<ir::OperationIndices> there_, there_before_, sent_;
  std::uint32_t chain_ = kNone;  // the last operation so far in the last round
  std::map<std::pair<std::size_t, std::size_t>, std::uint32_t>
      chains_;                  // of an allgather: the last receive, by round and number
  ir::OperationIndices tails_;  // of nodes without receives in the last round
};

}  // namespace torc::passes

#endif  // TORC_PASSES_ROUNDS_ROUND_STEPS_H_
