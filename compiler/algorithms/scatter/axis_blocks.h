// The blocks of a scatter or a gather along trees of one axis after another. The root sends along
// the first axis of a color's order, to every child the blocks of the planes behind it; then all
// nodes of that line send along the second what they have, and so on.
#ifndef TORC_COMPILER_ALGORITHMS_SCATTER_AXIS_BLOCKS_H_
#define TORC_COMPILER_ALGORITHMS_SCATTER_AXIS_BLOCKS_H_

#include <cstdint>
#include <vector>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/SmallVector.h>

#include "compiler/spec/collective_spec.h"
#include "ir/program.h"

namespace torc::compiler {

/// Blocks from `parent` to `child` along an axis, coordinates there.
struct BlockEdge {
  Interval parent;  // where it has that child
  Interval child;
  std::int32_t hops = 1;
  Interval sent, held;    // the blocks' coordinates, seen from the parent and from the child
  bool from_root = true;  // the parent has the root's coordinate
  bool is_leaf = true;    // the child sends none of them on along the axis
};

/// A tree along one axis.
struct AxisTree {
  std::uint32_t axis = 0;
  Interval root;                               // its coordinate
  llvm::SmallVector<Interval, 2> others;       // all other ones
  std::vector<std::vector<BlockEdge>> rounds;  // of a scatter, the first one first
};

/// A color of blocks.
struct BlockColor {
  std::vector<AxisTree> trees;   // of axes of more than one node, in its order
  Box held;                      // all blocks that a node but the root may hold
  bool scatters_in_turn = true;  // whether messages of a node, one way along an axis, go one after
  bool gathers_in_turn = true;   // the other
};

/// The program that `header`, with its colors, begins, round by round; a round is a phase.
ir::Program blocksAlongAxes(const Schedule& header, llvm::ArrayRef<BlockColor> colors);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_SCATTER_AXIS_BLOCKS_H_
