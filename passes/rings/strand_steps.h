// StrandSteps: building blocks for the steps of a strand (passes/analysis/strands.h) on any ring:
// regions of its parts and current blocks, and messages along an axis between nodes of a ring or
// line, one step after the other.
#ifndef TORC_PASSES_RINGS_STRAND_STEPS_H_
#define TORC_PASSES_RINGS_STRAND_STEPS_H_

#include <cstdint>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/SmallVector.h>

#include "ir/step_builder.h"
#include "passes/analysis/ring_steps.h"
#include "passes/analysis/strands.h"

namespace torc::passes {

class StrandSteps {
 public:
  using Parts = llvm::ArrayRef<std::uint32_t>;

  /// Both outlive this object; steps go to the builder's current phase.
  StrandSteps(ir::StepBuilder& builder, Strand& strand)
      : builder_(builder), topology_(builder.schedule().topology), strand_(strand) {}

  /// Dependences of the next step: a phase's first step waits for the end of the phase before, each
  /// other one for the step before it.
  const ir::OperationIndices& after() const { return after_; }
  void setAfter(ir::OperationIndices after) { after_ = std::move(after); }

  Strand& strand() { return strand_; }
  const Strand& strand() const { return strand_; }
  const PlanProgress& progress() const { return strand_.progress; }
  Collective collective() const { return builder_.schedule().collective; }

  /// Restricts later steps to `nodes`.
  void restrictTo(const Box& nodes) { nodes_ = nodes; }

  /// Number of steps of a ring along `axis`, and the messages of a node in one of them.
  std::uint32_t stepCount(std::uint32_t axis) const;
  RingStep stepOf(ir::PlanKind kind, std::uint32_t axis, std::uint32_t step) const;
  const Topology& topology() const { return topology_; }

  /// The parts of the strand; those that move in a step; of two, those that do not.
  Parts all() const { return strand_.parts; }
  Parts movedBy(const LineStep& line) const;
  Parts notMovedBy(const LineStep& line) const;

  /// Index of the box of the strand's current blocks (own coordinates on fixed axes); of these,
  /// those at `offset` from the own coordinate on `axis`.
  std::uint32_t ownBlocks();
  std::uint32_t blocks(std::uint32_t axis, std::int32_t offset);
  /// A region of these parts of the blocks of `box`; a new frame of them, alone in its slot.
  Region region(Buffer buffer, Parts parts, std::uint32_t box, std::uint32_t frame = kNone) {
    return builder_.region(buffer, pieces(parts, box), frame);
  }
  std::uint32_t newFrame(Parts parts, std::uint32_t box);

  /// Whether every node has an `out` for all blocks.
  bool everyoneHasOut() const {
    const CollectiveRow& row = rowOf(collective());
    return row.outWhole() && !row.isRooted();
  }
  /// Place of the sums of the blocks at `offset` on `axis`: in `out`; if not every node has one, in
  /// frames: one for each offset on the first axis, and the own coordinate's for the others.
  Region sums(Parts parts, std::uint32_t axis, std::int32_t offset);
  /// The nodes at the root's coordinate on all axes but `axis` that are not fixed: axes still to be
  /// scattered along, or already gathered along.
  Box atRootElsewhere(std::uint32_t axis) const;

  /// Steps along `axis` of the line's senders or receivers (`nodes`), which wait for `after()`;
  /// they return the index of the operation.
  std::uint32_t send(const Region& a, std::uint32_t axis, const LineStep& line, const Nodes& nodes);
  std::uint32_t receive(const Region& dst, std::uint32_t axis, const LineStep& line,
                        const Nodes& nodes);
  /// Receives `box` of `parts` into a new frame, then dst = a + frame, which waits for `also_after`
  /// too; returns the index of the reduction.
  std::uint32_t receiveThenReduce(Parts parts, std::uint32_t box, const Region& dst,
                                  const Region& a, std::uint32_t axis, const LineStep& line,
                                  const Nodes& nodes, std::uint32_t also_after = kNone);
  std::uint32_t copy(const Region& dst, const Region& a, std::uint32_t axis, const LineStep& line);
  /// out = in for the own blocks, on every executing node.
  std::uint32_t copyOwnBlocks();

 private:
  bool isHalfLatencyRing(std::uint32_t axis) const {
    return strand_.isHalfLatency() && !topology_.isLine(axis);
  }
  llvm::SmallVector<Piece, 2> pieces(Parts parts, std::uint32_t box) const;
  Box ownBox() const;
  ir::StepPlace placeOf(std::uint32_t axis, const LineStep& line, const Nodes& nodes);

  ir::StepBuilder& builder_;
  const Topology& topology_;
  Strand& strand_;
  ir::OperationIndices after_;
  Box nodes_;
};

}  // namespace torc::passes

#endif  // TORC_PASSES_RINGS_STRAND_STEPS_H_
