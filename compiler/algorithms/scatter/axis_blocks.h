// The blocks of a scatter or a gather along trees of one axis after another. The root sends along
// the first axis of a color's order; each child gets the blocks of the planes that it represents.
// Then all nodes of that line send their blocks along the second axis, and so on.
#ifndef TORC_COMPILER_ALGORITHMS_SCATTER_AXIS_BLOCKS_H_
#define TORC_COMPILER_ALGORITHMS_SCATTER_AXIS_BLOCKS_H_

#include <cstdint>
#include <vector>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/SmallVector.h>

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

/// A color, with its trees.
struct BlockColor {
  std::vector<AxisTree> trees;   // of axes of more than one node, in the color's order
  Box held;                      // all blocks that a node other than the root may hold
  bool scatters_in_turn = true;  // whether messages of a node in one direction of an axis
  bool gathers_in_turn = true;   // are sequential
};

/// The program with this `header` and its colors, round by round; a round is a phase.
ir::Program blocksAlongAxes(const Schedule& header, llvm::ArrayRef<BlockColor> colors);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_SCATTER_AXIS_BLOCKS_H_
