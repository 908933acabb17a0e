// The blocks of a scatter or a gather along trees of one axis after another. The root sends along
// the first axis of a color's order; each child gets the blocks of the planes that it represents.
// Then all nodes of that line send their blocks along the second axis, and so on. Or a neighbour of
// the root on the first axis does so for the *rest*, the blocks of the root's plane.
#ifndef TORC_COMPILER_ALGORITHMS_SCATTER_AXIS_BLOCKS_H_
#define TORC_COMPILER_ALGORITHMS_SCATTER_AXIS_BLOCKS_H_

#include <cstdint>
#include <vector>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/SmallVector.h>

#include "compiler/algorithms/trees/ring_tree.h"
#include "compiler/spec/collective_spec.h"
#include "ir/program.h"

namespace torc::compiler {

/// Blocks from `parent` to `child` along an axis, by coordinates there.
struct BlockEdge {
  Interval parent;  // parents with that child
  Interval child;
  std::int32_t hops = 1;
  Interval sent, held;    // the blocks' coordinates, relative to the parent and to the child
  bool from_root = true;  // the parent has the root's coordinate
  bool is_leaf = true;    // the child sends no blocks on along the axis
};

/// A tree along one axis.
struct AxisTree {
  std::uint32_t axis = 0;
  Interval root;                               // its coordinate
  llvm::SmallVector<Interval, 2> others;       // all other coordinates
  std::vector<std::vector<BlockEdge>> rounds;  // of a scatter, the first round first
};

/// The tree of a ring by the rule `tree_of`, and the blocks of its subtrees; its first arm goes by
/// `sign`.
AxisTree blockTree(const Topology& topology, std::uint32_t axis, int sign,
                   RingTree (*tree_of)(std::uint32_t));

/// A color, with its trees.
struct BlockColor {
  std::vector<AxisTree> trees;   // of axes of more than one node, in the color's order
  Box held;                      // all blocks that a node other than the root may hold
  bool scatters_in_turn = true;  // whether messages of a node in one direction of an axis
  bool gathers_in_turn = true;   // are sequential
  /// Side of the root's neighbour with the rest, over which its blocks go in one hop each; 0: the
  /// root sends them. Trees have one round, and operations are few as dependences are in chains.
  int rest = 0;
};

/// The program with this `header` and its colors, round by round; a round is a phase.
ir::Program blocksAlongAxes(const Schedule& header, llvm::ArrayRef<BlockColor> colors);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_SCATTER_AXIS_BLOCKS_H_
