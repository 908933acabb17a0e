#include "model/simulator/routes.h"

#include <algorithm>
#include <cstdlib>

#include "ir/make_error.h"
#include "ir/peer_loops/peer_loops.h"

namespace torc::model {
namespace {

constexpr double kMaxTasks = 2e7;

}  // namespace

Routes::Routes(const Topology& topology, const ir::NodeClasses& classes)
    : topology_(topology), classes_(classes), node_count_(classes.count()) {
  if (!topology.hasCores()) return;
  // Classes count the first axis fastest and T slowest: those of a node are nodeCount() apart.
  const std::uint32_t cores = topology.axis_count - 1;
  ranks_per_node_ = topology.axes[cores].size;
  if (classes.collapsed(cores)) {
    copies_ = ranks_per_node_;
  } else {
    node_count_ /= ranks_per_node_;
  }
}

std::vector<Routes::Hop> Routes::hops(std::uint32_t node_class, const Shift& shift) const {
  std::vector<Hop> hops;
  Coordinates at = classes_.coordinatesOf(node_class);
  for (int i = 0; i < topology_.dimensions(); ++i) {
    const auto axis = static_cast<std::uint32_t>(i);
    const Axis& it = topology_.axes[axis];
    const int step = shift[axis] > 0 ? 1 : -1;
    const LinkClass link{axis, it.linkSign(step)};
    for (std::int32_t left = std::abs(shift[axis]); left > 0; --left) {
      const std::uint32_t node = nodeOf(classes_.classOf(at));
      auto taken = std::find_if(hops.begin(), hops.end(), [&](const Hop& hop) {
        return hop.node == node && hop.link == link;
      });
      const Coordinates before = at;
      at[axis] = static_cast<std::int32_t>(wrap(std::int64_t{at[axis]} + step, it.size));
      if (taken == hops.end()) {
        Coordinates from = step > 0 ? before : at;
        if (it.hasOneCable()) from[axis] = 0;
        taken = hops.insert(taken, {node, link, 0, from});
      }
      taken->times += copies_;
    }
  }
  return hops;
}

std::vector<Routes::Hop> Routes::hops(std::uint32_t node_class, const PeerLoop& peers) const {
  std::vector<Hop> hops;
  const Coordinates at = classes_.coordinatesOf(node_class);
  for (int i = 0; i < topology_.dimensions(); ++i) {
    const auto axis = static_cast<std::uint32_t>(i);
    const ir::PeerLoopLoad load = ir::loadOf(topology_, peers, axis);
    for (const auto& [sign, messages] : {std::pair(1, load.up), std::pair(-1, load.down)}) {
      if (messages == 0) continue;
      hops.push_back({nodeOf(node_class), {axis, sign}, messages * copies_, at});
    }
  }
  return hops;
}

bool Routes::touches(const Hop& hop, const Coordinates& dead) const {
  Coordinates down{};
  down[hop.link.axis] = -1;
  return crosses(hop, {dead, hop.link.axis}) ||
         crosses(hop, {topology_.moved(dead, down), hop.link.axis});
}

bool Routes::crosses(const Hop& hop, const DeadLink& dead) const {
  if (dead.axis != hop.link.axis) return false;
  for (int i = 0; i < topology_.dimensions(); ++i) {
    const auto axis = static_cast<std::uint32_t>(i);
    if (!classes_.collapsed(axis) && dead.from[axis] != hop.from[axis]) return false;
  }
  return true;
}

llvm::Error checkTaskCount(const ScheduleView& schedule, std::uint32_t nodes, double tasks) {
  // Tables by node have an entry for each shift.
  const double entries = static_cast<double>(nodes) * static_cast<double>(schedule.shifts.size());
  if (std::max({tasks, entries, static_cast<double>(nodes)}) <= kMaxTasks) {
    return llvm::Error::success();
  }
  return makeError("too large to simulate: " + std::to_string(nodes) +
                   " nodes that differ, with up to " + std::to_string(schedule.operations.size()) +
                   " operations each");
}

}  // namespace torc::model
