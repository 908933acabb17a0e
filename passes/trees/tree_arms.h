// The arms of a tree along an axis: the nodes on either side of the root's coordinate, each of
// which is fed by the one before it. A ring is halved: one arm is the nearer half, the other one
// the rest.
#ifndef TORC_PASSES_TREES_TREE_ARMS_H_
#define TORC_PASSES_TREES_TREE_ARMS_H_

#include <cstdint>

#include <llvm/ADT/SmallVector.h>

#include "schedules/schedule.h"

namespace torc::passes {

/// The nodes that differ from the root on an axis alone, on one side of it.
struct TreeArm {
  int sign = 1;      // the way that leads away from the root
  Interval fed;      // all of them
  Interval feeding;  // those with one behind them, the root among them
  // The same without the root, and the last one, where the root's coordinate is known: not on a
  // line of a collective whose root a call names.
  Interval passing, last;
  bool has_passing = false;
};

/// The arms along `axis`, of more than one node. The root is at coordinate 0, but in a collective
/// whose root a call names, on an axis whose coordinates do not count from it, at r.
llvm::SmallVector<TreeArm, 2> treeArms(const ScheduleView& schedule, std::uint32_t axis);

/// The root's coordinate on `axis`; all of an axis of one node.
Interval rootCoordinate(const ScheduleView& schedule, std::uint32_t axis);

}  // namespace torc::passes

#endif  // TORC_PASSES_TREES_TREE_ARMS_H_
