// The steps of a broadcast or a reduce along the arcs of trees (arc_boxes.h), for one segment; the
// pass `segment` runs them for many, one after another.
//
// A broadcast sends a part of the data down: each arc is a receive with the guard of its children
// and a send with the guard of its parents. A reduction is the mirror image: a node adds the data
// of its children to its own contribution, and sends the sum. It adds in a fixed order, the deepest
// subtree last. If the intersections of boxes are known, the first addition reads the contribution
// in place, and a leaf sends its contribution in place. Otherwise all nodes begin with a copy.
//
// If the intersections of boxes are unknown, receives and sums form chains of dependences across
// nodes. A node that waits for the last operation waits for its own one: dependences pass through
// operations that a node does not execute.
#ifndef TORC_COMPILER_ALGORITHMS_TREES_ARC_STEPS_H_
#define TORC_COMPILER_ALGORITHMS_TREES_ARC_STEPS_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/algorithms/trees/arc_boxes.h"
#include "compiler/spec/collective_spec.h"
#include "ir/program.h"
#include "ir/step_builder.h"

namespace torc::compiler {

/// A way of some blocks of a part to a node whose message is dropped, from a node that has them.
struct Detour {
  std::vector<Box> nodes;                           // guards of the nodes on the way
  std::vector<std::pair<std::uint32_t, int>> hops;  // axes and signs
  Box blocks;
};
/// The ways to each such node, in the order in which a broadcast uses them.
using Detours = std::vector<std::vector<Detour>>;

/// Steps of one part of the data; calls for other roots, with mutually exclusive guards, share
/// scratch.
class ArcSteps {
 public:
  /// `builder` outlives it.
  ArcSteps(ir::StepBuilder& builder, std::uint32_t part) : builder_(builder), part_(part) {}

  /// Each appends the steps of one collective, in a new stream.
  void broadcast(const Arcs& arcs, const ArcNodes& nodes, const Detours& detours = {});
  void reduce(const Arcs& arcs, const ArcNodes& nodes, const Detours& detours = {});
  /// An allreduce in two calls: sums accumulate in `out` up to a root without separate steps, and
  /// go down again. `nodes` must know the nodes of each set.
  void allreduceUp(const Arcs& arcs, const ArcNodes& nodes);
  void allreduceDown(const Arcs& arcs, const ArcNodes& nodes);

 private:
  using Indices = ir::OperationIndices;
  /// Operations, with their nodes.
  using Steps = llvm::SmallVector<std::pair<Box, std::uint32_t>, 8>;
  /// The frame for messages by some hops along an axis: a node has one child in that direction.
  struct Staging {
    std::uint32_t axis = 0;
    std::int32_t hops = 0;
    Region region;
    Steps used, free;  // its readers, and the dependences of a receive with these hops
  };

  /// `before`: dependences of receives; `has_data`: operations that write the root's data.
  void down(const Arcs& arcs, const ArcNodes& nodes, const Steps& before, Steps has_data,
            const Detours& detours = {});
  void up(const Arcs& arcs, const Arcs& turns, const ArcNodes& nodes, const Detours& detours = {});
  /// Moves data on the ways to one node, or (`adds`) its sum on the ways back. Returns operations
  /// after whose end all of that is done.
  Indices carry(llvm::ArrayRef<Detour> ways, const Indices& before, bool adds);
  void addAtRoot(const Arcs& turns, const ArcNodes& nodes);
  /// Receives at the nodes of `box` and adds to `sum`, or (`is_first`) to their contributions.
  /// Returns the adding operation.
  std::uint32_t addChild(const ArcBoxes& arc, const ArcNodes& nodes, const Box& box,
                         const Region& sum, bool is_first, Indices before);
  /// Dependences for a node of `box` on all of `steps` that it executes.
  static Indices after(const Steps& steps, const Box& box, const ArcNodes& nodes);

  void begin() { stream_ = builder_.addStream({part_, 0}); }
  ir::StepPlace place(const Box& box) { return {stream_, builder_.box(box)}; }
  Region data(Buffer buffer) { return builder_.region(buffer, {{part_, 1, builder_.box({})}}); }
  Region newFrame(const Box& blocks = {});
  /// Scratch for blocks on the way at the nodes of a guard. Guards that do not meet share it.
  Region frameAt(std::uint32_t guard, const Box& blocks);
  Region sum();
  Staging& staging(const ArcBoxes& arc);

  ir::StepBuilder& builder_;
  const std::uint32_t part_;
  std::uint32_t stream_ = 0;
  std::optional<std::uint32_t> detour_stream_;
  struct Shared {
    Box blocks;
    Region frame;
    std::vector<std::uint32_t> guards = {};
  };
  std::vector<Shared> shared_;
  std::optional<Region> sum_;  // accumulates sums
  llvm::SmallVector<Staging, 8> staging_;
  std::size_t reused_ = 0;  // number of reuses of staging frames
  Steps summed_, sent_;     // all operations that changed or sent a sum
};

/// The program of a broadcast or a reduce in a color for each tree; in each color the blocks have
/// rank order, for they move together.
ir::Program programOf(const CollectiveSpec& spec, llvm::ArrayRef<Arcs> trees,
                      const ArcNodes& nodes);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_TREES_ARC_STEPS_H_
