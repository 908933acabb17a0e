// The steps of a broadcast or a reduce along the arcs of trees (arc_boxes.h), for one segment; the
// pass `segment` runs them for many, one behind the other.
//
// A broadcast sends a part of the data down: each arc is a receive behind the guard of its children
// and a send behind that of its parents. A reduction is the mirror image: a node adds what its
// children send to what it contributes, and sends the sum. It adds in one order, what lies deepest
// below it last; the first child to what it contributes as it lies, and a node without a child
// sends just that, where it is known from the boxes which that is; else all begin with a copy.
#ifndef TORC_COMPILER_ALGORITHMS_TREES_ARC_STEPS_H_
#define TORC_COMPILER_ALGORITHMS_TREES_ARC_STEPS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "compiler/algorithms/trees/arc_boxes.h"
#include "ir/step_builder.h"

namespace torc::compiler {

/// Of one part of the data; calls for other roots, whose guards exclude each other, share scratch.
class ArcSteps {
 public:
  /// `builder` outlives it.
  ArcSteps(ir::StepBuilder& builder, std::uint32_t part) : builder_(builder), part_(part) {}

  /// Appends the steps, in a stream of their own.
  void broadcast(const Arcs& arcs, const ArcNodes& nodes);
  void reduce(const Arcs& arcs, const ArcNodes& nodes);

 private:
  /// Operations, with the nodes that execute them.
  using Steps = llvm::SmallVector<std::pair<Box, std::uint32_t>, 16>;

  Region data(Buffer buffer) { return builder_.region(buffer, {{part_, 1, builder_.box({})}}); }
  Region newFrame();
  Region sum();
  Region staging(std::uint32_t axis, int sign);
  ir::StepPlace place(const Box& box) { return {stream_, builder_.box(box)}; }
  ir::OperationIndices meeting(const Steps& steps, const Box& box, const ArcNodes& nodes) const;
  void addAtRoot(const Arcs& arcs, const ArcNodes& nodes);

  ir::StepBuilder& builder_;
  const std::uint32_t part_;
  std::uint32_t stream_ = 0;
  std::optional<Region> sum_;
  std::map<std::pair<std::uint32_t, int>, Region> staging_;  // by axis and sign
};

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_TREES_ARC_STEPS_H_
