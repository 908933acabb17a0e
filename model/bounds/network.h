// Network: live nodes and links of a torus or mesh, and the bandwidth of its cuts. The bounds of
// model/bounds/bounds.h use it.
//
// A cut is a set of nodes; its bandwidth is that of the live links between it and the rest, each
// counted once: the same amount enters and leaves at a time. The examined cuts are sub-tori: those
// spanned by a set S of dimensions, one for every position in the others. On a torus without damage
// all of one S are equivalent, and S = {} is a node; on a line the ends are the worst; with damage,
// the sub-tori that contain some are examined one by one.
#ifndef TORC_MODEL_BOUNDS_NETWORK_H_
#define TORC_MODEL_BOUNDS_NETWORK_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "model/machines/machine.h"
#include "schedules/topology/topology.h"

namespace torc::model {

/// A dimension of more than one node.
struct NetworkDimension {
  std::uint32_t axis = 0;  // of the topology
  std::uint32_t size = 2;
  bool ring = true;      // has separate links for both ways round, like two nodes with two cables
  double bandwidth = 1;  // of one link in one direction

  /// Links of the dimension at a node with coordinate `at`: 2, but 1 at the end of a line.
  int linksAt(std::int32_t at) const {
    return ring ? 2 : (at > 0) + (at + 1 < static_cast<std::int32_t>(size));
  }
};

/// A link from `lower` one step up along dimension `dimension`.
struct NetworkLink {
  Coordinates lower{};
  std::uint32_t dimension = 0;

  auto operator<=>(const NetworkLink&) const = default;
};

/// A set of nodes and its links to the others.
struct Cut {
  std::uint32_t spanned = 0;  // bit i: dimension i is in S
  double nodes = 0;           // live ones inside
  double bandwidth = 0;       // of its live links
  double port_bandwidth = 0;  // of its nodes' ports in one direction
};

/// The partition of the network into all sub-tori spanned by S.
struct Split {
  std::uint32_t spanned = 0;
  double parts = 0;           // with a live node
  double bandwidth = 0;       // of live links between parts
  double port_bandwidth = 0;  // of all nodes' ports in one direction
};

class Network {
 public:
  /// Bandwidths in payload bytes/s.
  explicit Network(const Machine& machine);

  /// Dimensions of one node are left out.
  const std::vector<NetworkDimension>& dimensions() const { return dimensions_; }
  double nodes() const { return nodes_; }  // live and dead
  double liveNodes() const { return nodes_ - static_cast<double>(dead_nodes_.size()); }
  /// A twisted torus (twisted.h): of its cuts and splits only those into single nodes are examined.
  bool twisted() const { return twisted_; }
  bool damaged() const { return !dead_nodes_.empty() || !dead_links_.empty(); }
  const std::vector<Coordinates>& deadNodes() const { return dead_nodes_; }
  /// Each once, links of dead nodes included; in order.
  const std::vector<NetworkLink>& deadLinks() const { return dead_links_; }
  /// Links that a node can use at a time in one direction.
  std::uint32_t ports() const { return ports_; }

  /// The node one step along `dimension`; false beyond the end of a line.
  bool step(Coordinates& at, std::uint32_t dimension, int sign) const;
  /// The existing link between `at` and the node one step from it.
  NetworkLink linkFrom(const Coordinates& at, std::uint32_t dimension, int sign) const;
  bool isDead(const Coordinates& node) const;
  bool isDead(const NetworkLink& link) const;
  double liveLinks(std::uint32_t dimension) const;

  /// Calls `visit` for the sub-tori that can be the narrowest of their S, S not all dimensions. In
  /// a twisted torus a single node is the narrowest of all sets, as its nodes are equivalent.
  void forEachCut(const std::function<void(const Cut&)>& visit) const;
  /// Calls `visit` for every proper subset S.
  void forEachSplit(const std::function<void(const Split&)>& visit) const;
  /// The widest sub-torus spanned by `spanned`: without damage, inside of lines.
  Cut widestCut(std::uint32_t spanned) const;

  /// The examined S are the numbers below this.
  std::uint32_t endOfSpanned() const { return twisted_ ? 1 : (1u << dimensions_.size()) - 1; }

 private:
  /// Links of the machine, and nodes with their links.
  void addDamage(const Machine& machine);
  Coordinates middle() const;
  /// Nodes of a sub-torus.
  double sizeOf(std::uint32_t spanned) const;
  /// The `ports` fastest links of the node at `at` out of a sub-torus.
  double portBandwidth(std::uint32_t spanned, const Coordinates& at) const;
  /// The sub-torus spanned by `spanned` that contains `at`, without damage.
  Cut wholeCut(std::uint32_t spanned, const Coordinates& at) const;
  /// The same with damage.
  Cut cutThrough(std::uint32_t spanned, const Coordinates& at) const;
  /// Positions of the examined sub-tori spanned by `spanned`.
  std::vector<Coordinates> positions(std::uint32_t spanned) const;

  std::vector<NetworkDimension> dimensions_;
  std::vector<Coordinates> dead_nodes_;
  std::vector<NetworkLink> dead_links_;
  double nodes_ = 1;
  std::uint32_t ports_ = 2 * kMaxDimensions;
  bool twisted_ = false;
};

/// Most live nodes of a network for `minimumCut`: its time grows with their third power.
inline constexpr double kMaxMinimumCutNodes = 600;

/// Bandwidth of the narrowest cut of all sets of nodes. `network` has 2 to kMaxMinimumCutNodes live
/// nodes.
double minimumCut(const Network& network);

}  // namespace torc::model

#endif  // TORC_MODEL_BOUNDS_NETWORK_H_
