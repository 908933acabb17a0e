// The steps of a broadcast or a reduce along the arcs of trees (arc_boxes.h), for one segment; the
// pass `segment` runs them for many, one behind the other.
//
// A broadcast sends a part of the data down: each arc is a receive behind the guard of its children
// and a send behind that of its parents. A reduction is the mirror image: a node adds what its
// children send to what it contributes, and sends the sum. It adds in one order, what lies deepest
// below it last; the first child to what it contributes as it lies, and a node without a child
// sends just that, where it is known from the boxes which that is; else all begin with a copy.
//
// Receives, and sums, name the one before, of other nodes: dependences pass through operations that
// a node does not execute, so that whoever waits for the last of them waits for its own.
#ifndef TORC_COMPILER_ALGORITHMS_TREES_ARC_STEPS_H_
#define TORC_COMPILER_ALGORITHMS_TREES_ARC_STEPS_H_

#include <cstdint>
#include <optional>

#include "compiler/algorithms/trees/arc_boxes.h"
#include "compiler/spec/collective_spec.h"
#include "ir/program.h"
#include "ir/step_builder.h"

namespace torc::compiler {

/// Of one part of the data; calls for other roots, whose guards exclude each other, share scratch.
class ArcSteps {
 public:
  /// `builder` outlives it.
  ArcSteps(ir::StepBuilder& builder, std::uint32_t part) : builder_(builder), part_(part) {}

  /// Appends the steps of a broadcast, or (`reduces`) of a reduce, in a stream of their own.
  void add(const Arcs& arcs, const ArcNodes& nodes, bool reduces) {
    stream_ = builder_.addStream({part_, 0});
    reduces ? reduce(arcs, nodes) : broadcast(arcs, nodes);
  }

 private:
  /// Where what comes by some hops along an axis is received: a node has one child there.
  struct Staging {
    std::uint32_t axis = 0;
    std::int32_t hops = 0;
    Region region;
    ir::OperationIndices used, free;  // what added it last, and what it waits for
  };

  void broadcast(const Arcs& arcs, const ArcNodes& nodes);
  void reduce(const Arcs& arcs, const ArcNodes& nodes);
  void addAtRoot(const Arcs& arcs, const ArcNodes& nodes);

  Region data(Buffer buffer) { return builder_.region(buffer, {{part_, 1, builder_.box({})}}); }
  Region newFrame();
  Region sum();
  Staging& staging(const ArcBoxes& arc);
  ir::StepPlace place(const Box& box) { return {stream_, builder_.box(box)}; }
  /// The sum of the nodes of `box` so far, with what comes to them; `first`: what they contribute,
  /// to which `after` has added.
  ir::OperationIndices addChild(const ArcBoxes& arc, const Box& box, const Region& sum,
                                bool is_first, ir::OperationIndices after);

  ir::StepBuilder& builder_;
  const std::uint32_t part_;
  std::uint32_t stream_ = 0;
  std::optional<Region> sum_;
  llvm::SmallVector<Staging, 8> staging_;
  std::size_t reused_ = 0;  // of staging, how often
};

/// The program of a broadcast or a reduce in a color for each tree; in each the blocks lie in rank
/// order, for all move together.
ir::Program programOf(const CollectiveSpec& spec, llvm::ArrayRef<Arcs> trees,
                      const ArcNodes& nodes);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_TREES_ARC_STEPS_H_
