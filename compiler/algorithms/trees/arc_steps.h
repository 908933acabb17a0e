// The steps of a broadcast or a reduce along the arcs of trees (arc_boxes.h), for one segment; the
// pass `segment` runs them for many, one behind the other.
//
// A broadcast sends a part of the data down: each arc is a receive behind the guard of its children
// and a send behind that of its parents. A reduction is the mirror image: a node adds what its
// children send to what it contributes, and sends the sum. It adds in one order, what lies deepest
// below it last; the first child to what it contributes as it lies, and a node without a child
// sends just that, where it is known from the boxes which that is; else all begin with a copy.
//
// Where it is not known which boxes meet, receives, and sums, name the one before, of other nodes:
// dependences pass through operations that a node does not execute, so that whoever waits for the
// last of them waits for its own.
#ifndef TORC_COMPILER_ALGORITHMS_TREES_ARC_STEPS_H_
#define TORC_COMPILER_ALGORITHMS_TREES_ARC_STEPS_H_

#include <cstdint>
#include <optional>
#include <utility>

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

  /// Each appends the steps of one collective, in a stream of their own.
  void broadcast(const Arcs& arcs, const ArcNodes& nodes);
  void reduce(const Arcs& arcs, const ArcNodes& nodes);
  /// Those of an allreduce in two calls: sums grow in `out` up to a root that does as others, and
  /// go down again. The nodes say which are in what set.
  void allreduceUp(const Arcs& arcs, const ArcNodes& nodes);
  void allreduceDown(const Arcs& arcs, const ArcNodes& nodes);

 private:
  using Indices = ir::OperationIndices;
  /// Operations, with the nodes that execute them.
  using Steps = llvm::SmallVector<std::pair<Box, std::uint32_t>, 8>;
  /// Where what comes by some hops along an axis is received: a node has one child there.
  struct Staging {
    std::uint32_t axis = 0;
    std::int32_t hops = 0;
    Region region;
    Steps used, free;  // what has read it, and what a receive of these hops waits for
  };

  /// `before`: what receives wait for; `has_data`: what brings the root its data.
  void down(const Arcs& arcs, const ArcNodes& nodes, const Steps& before, Steps has_data);
  void up(const Arcs& arcs, const Arcs& turns, const ArcNodes& nodes);
  void addAtRoot(const Arcs& turns, const ArcNodes& nodes);
  /// Adds what comes to the nodes of `box` to `sum`, or (`is_first`) to what they contribute; the
  /// result is the step that did.
  std::uint32_t addChild(const ArcBoxes& arc, const ArcNodes& nodes, const Box& box,
                         const Region& sum, bool is_first, Indices before);
  /// What a node of `box` waits for to wait for all of `steps` that it executes.
  static Indices after(const Steps& steps, const Box& box, const ArcNodes& nodes);

  void begin() { stream_ = builder_.addStream({part_, 0}); }
  ir::StepPlace place(const Box& box) { return {stream_, builder_.box(box)}; }
  Region data(Buffer buffer) { return builder_.region(buffer, {{part_, 1, builder_.box({})}}); }
  Region newFrame();
  Region sum();
  Staging& staging(const ArcBoxes& arc);

  ir::StepBuilder& builder_;
  const std::uint32_t part_;
  std::uint32_t stream_ = 0;
  std::optional<Region> sum_;  // where sums grow
  llvm::SmallVector<Staging, 8> staging_;
  std::size_t reused_ = 0;  // of staging, how often
  Steps summed_, sent_;     // whatever changed a sum, and sent it up
};

/// The program of a broadcast or a reduce in a color for each tree; in each the blocks lie in rank
/// order, for all move together.
ir::Program programOf(const CollectiveSpec& spec, llvm::ArrayRef<Arcs> trees,
                      const ArcNodes& nodes);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_TREES_ARC_STEPS_H_
