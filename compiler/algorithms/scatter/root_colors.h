// Colors of blocks that leave the root, or come to it, over different links.
#ifndef TORC_COMPILER_ALGORITHMS_SCATTER_ROOT_COLORS_H_
#define TORC_COMPILER_ALGORITHMS_SCATTER_ROOT_COLORS_H_

#include <cstdint>
#include <vector>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/SmallVector.h>

#include "schedules/schedule.h"

namespace torc::compiler {

/// Axes of more than one node.
using AxisOrder = llvm::SmallVector<std::uint32_t, kMaxAxes>;

/// The way of a color from the root: the axes in their order, and the direction in which it begins.
struct WayOut {
  AxisOrder order;
  int sign = 1;
};

/// A color whose phases visit `order` first, then the axes of one node.
Color colorOf(const Topology& topology, llvm::ArrayRef<std::uint32_t> order);

/// Adds two colors for each axis of the network, one for each direction: the order begins with that
/// axis, goes on with those behind it, around, and ends with the cores. The weights are as the
/// bandwidths of the links by which the colors leave the root. On one node the cores are the
/// network. Precondition: there is more than one rank's place.
std::vector<WayOut> addRootColors(Schedule& schedule);

/// Adds one color, whose order begins with the shortest axis.
WayOut addRootColor(Schedule& schedule);

/// Adds a color for each axis of the network, which begins with it: two, one for each direction, of
/// a short ring of an even number of nodes, where the way to the farthest node is as long both ways
/// round. The weights are such that all links of a root in a corner, as rank 0 is, have as much to
/// carry where blocks leave along one axis after another, each the shorter way round.
std::vector<WayOut> addCornerColors(Schedule& schedule);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_SCATTER_ROOT_COLORS_H_
