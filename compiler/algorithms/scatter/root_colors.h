// Colors of blocks that leave or reach the root over different links.
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

/// The path of a color from the root: the axes in their order, and the direction in which it
/// begins.
struct WayOut {
  AxisOrder order;
  int sign = 1;
};

/// A color whose phases visit `order` first, then the axes of one node.
Color colorOf(const Topology& topology, llvm::ArrayRef<std::uint32_t> order);

/// Adds two colors for each axis of the network, one for each direction. The order begins with that
/// axis, goes on with later ones, cyclically, and ends with the cores. The weights are proportional
/// to the bandwidths of the links on which the colors leave the root. On one node the cores are the
/// network. Precondition: there is more than one site.
std::vector<WayOut> addRootColors(Schedule& schedule);

/// Adds one color, whose order begins with the shortest axis.
WayOut addRootColor(Schedule& schedule);

/// Adds a color for each axis of the network that begins with it. A short ring of an even number of
/// nodes gets two, one for each direction, because the farthest node is equally far in both. The
/// weights balance the loads of all links of a root in a corner, like rank 0, if blocks leave along
/// one axis after another, each in the shorter direction.
std::vector<WayOut> addCornerColors(Schedule& schedule);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_SCATTER_ROOT_COLORS_H_
