// Routes: the links of messages between node classes, dimension by dimension (X first), in the
// direction of the shift.
//
// A message of a class stands for one of every node in the class, all at the same time. Along a
// collapsed axis a message over k links coincides with those of k nodes, so that it uses the
// representative link k times. Ranks of one node (axis T) share its links: if T is collapsed, every
// message stands for one of each rank of the node.
#ifndef TORC_MODEL_SIMULATOR_ROUTES_H_
#define TORC_MODEL_SIMULATOR_ROUTES_H_

#include <compare>
#include <cstdint>
#include <vector>

#include <llvm/Support/Error.h>

#include "ir/node_classes.h"
#include "schedules/schedule.h"

namespace torc::model {

/// The directed links of one axis in one direction. A line of two has one cable: both ways round
/// are its direction +. In a graph, one link.
struct LinkClass {
  std::uint32_t axis = 0;
  int sign = 1;
  std::uint32_t of_graph = kNone;  // number of a schedule's link; the other members are then unused

  bool operator==(const LinkClass&) const = default;
  /// By axis, + first; links of a graph by number.
  auto operator<=>(const LinkClass& other) const {
    if (of_graph != other.of_graph) return of_graph <=> other.of_graph;
    return axis != other.axis ? axis <=> other.axis : other.sign <=> sign;
  }
};

class Routes {
 public:
  /// A directed link of a route: that of `node` in one direction, used `times` times.
  struct Hop {
    std::uint32_t node = 0;
    LinkClass link;
    std::uint64_t times = 1;
    Coordinates from{};  // the cable: one step up along the axis from here
  };

  /// Both must outlive this.
  Routes(const Topology& topology, const ir::NodeClasses& classes);

  /// Representative nodes of the machine: classes, but ranks of one node are one.
  std::uint32_t nodeCount() const { return node_count_; }
  std::uint32_t nodeOf(std::uint32_t node_class) const { return node_class % node_count_; }
  /// Ranks of a node that one class represents.
  std::uint32_t copies() const { return copies_; }
  std::uint32_t ranksPerNode() const { return ranks_per_node_; }

  /// The links of a message from `node_class` over `shift`, in order, each once; none inside a
  /// node. On a mesh the route must be inside.
  std::vector<Hop> hops(std::uint32_t node_class, const Shift& shift) const;

  /// The links of all messages of a loop over peers along collapsed axes: representatives of the
  /// busiest of an axis in each direction.
  std::vector<Hop> hops(std::uint32_t node_class, const PeerLoop& peers) const;

  /// Whether the links that a hop represents include a dead cable, or a dead node at an end.
  bool crosses(const Hop& hop, const DeadLink& dead) const;
  bool touches(const Hop& hop, const Coordinates& dead) const;

 private:
  const Topology& topology_;
  const ir::NodeClasses& classes_;
  std::uint32_t ranks_per_node_ = 1;
  std::uint32_t copies_ = 1;
  std::uint32_t node_count_ = 1;
};

/// An error if `tasks`, the operations of `nodes` nodes, would need more than minutes and
/// gigabytes.
llvm::Error checkTaskCount(const ScheduleView& schedule, std::uint32_t nodes, double tasks);

}  // namespace torc::model

#endif  // TORC_MODEL_SIMULATOR_ROUTES_H_
