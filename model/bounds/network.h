// Network: nodes and links of a torus or mesh without what is dead, and what its cuts carry. The
// bounds of model/bounds/bounds.h are made of it.
//
// A cut is a set of nodes; its bandwidth is that of the live links between it and the rest, each
// taken once: so much goes in and so much goes out at a time. The cuts looked at are sub-tori:
// those spanned by a set S of dimensions, one for every position in the others. On a torus without
// damage all of one S are alike, and S = {} is a node; on a line the ends are the worst; of damage,
// the sub-tori that it touches are looked at one by one.
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
  bool ring = true;      // has links of its own both ways round, as two nodes with two cables have
  double bandwidth = 1;  // of one link in one direction

  /// Links of the dimension at a node with coordinate `at`: 2, but 1 at the end of a line.
  int linksAt(std::int32_t at) const {
    return ring ? 2 : (at > 0) + (at + 1 < static_cast<std::int32_t>(size));
  }
  /// Links of the dimension for one line of its nodes.
  double linksOfLine() const { return ring ? size : size - 1.0; }
};

/// A link from `lower` one step up along dimension `dimension`.
struct NetworkLink {
  Coordinates lower{};
  std::uint32_t dimension = 0;

  auto operator<=>(const NetworkLink&) const = default;
};

/// A set of nodes and what joins it to the others.
struct Cut {
  std::uint32_t spanned = 0;  // bit i: dimension i is in S
  double nodes = 0;           // live ones inside
  double bandwidth = 0;       // of its live links
  double port_bandwidth = 0;  // what its nodes' ports let through in one direction
};

/// All sub-tori spanned by S as the parts of the network.
struct Split {
  std::uint32_t spanned = 0;
  double parts = 0;           // with a live node
  double bandwidth = 0;       // of live links between parts
  double port_bandwidth = 0;  // what all nodes' ports let through in one direction
};

class Network {
 public:
  /// Bandwidths in payload bytes/s.
  explicit Network(const Machine& machine);

  /// Dimensions of one node are left out.
  const std::vector<NetworkDimension>& dimensions() const { return dimensions_; }
  double nodes() const { return nodes_; }  // live and dead
  double liveNodes() const { return nodes_ - static_cast<double>(dead_nodes_.size()); }
  /// A twisted torus (twisted.h): of its cuts and splits those into single nodes are looked at.
  bool twisted() const { return twisted_; }
  bool damaged() const { return !dead_nodes_.empty() || !dead_links_.empty(); }
  const std::vector<Coordinates>& deadNodes() const { return dead_nodes_; }
  /// Each once, those of dead nodes included; in order.
  const std::vector<NetworkLink>& deadLinks() const { return dead_links_; }
  /// Links that a node can use at a time in one direction.
  std::uint32_t ports() const { return ports_; }

  /// The node one step along `dimension`; false where that leaves a line.
  bool step(Coordinates& at, std::uint32_t dimension, int sign) const;
  /// The link between `at` and the node one step from it, which exists.
  NetworkLink linkFrom(const Coordinates& at, std::uint32_t dimension, int sign) const;
  bool isDead(const Coordinates& node) const;
  bool isDead(const NetworkLink& link) const;
  /// Live links of a dimension, in all.
  double liveLinks(std::uint32_t dimension) const;

  /// Calls `visit` for the sub-tori that can be the narrowest of their S, S not all dimensions. Of
  /// a twisted torus a node alone is the narrowest of all sets: its nodes are alike.
  void forEachCut(const std::function<void(const Cut&)>& visit) const;
  /// Calls `visit` for every S but all dimensions.
  void forEachSplit(const std::function<void(const Split&)>& visit) const;
  /// The widest that a sub-torus spanned by `spanned` can be: without damage, inside of lines.
  Cut widestCut(std::uint32_t spanned) const;

  /// The S that sub-tori are looked at for are the numbers below this.
  std::uint32_t endOfSpanned() const { return twisted_ ? 1 : (1u << dimensions_.size()) - 1; }

 private:
  /// Links of the machine, and nodes with their links.
  void addDamage(const Machine& machine);
  Coordinates middle() const;
  /// Nodes of a sub-torus.
  double sizeOf(std::uint32_t spanned) const;
  /// The `ports` fastest links of the node at `at` out of a sub-torus.
  double portBandwidth(std::uint32_t spanned, const Coordinates& at) const;
  /// The sub-torus spanned by `spanned` that `at` lies in, without damage.
  Cut wholeCut(std::uint32_t spanned, const Coordinates& at) const;
  /// The same with damage.
  Cut cutThrough(std::uint32_t spanned, const Coordinates& at) const;
  /// Where the sub-tori spanned by `spanned` that are to be looked at lie.
  std::vector<Coordinates> positions(std::uint32_t spanned) const;

  std::vector<NetworkDimension> dimensions_;
  std::vector<Coordinates> dead_nodes_;
  std::vector<NetworkLink> dead_links_;
  double nodes_ = 1;
  std::uint32_t ports_ = 2 * kMaxDimensions;
  bool twisted_ = false;
};

/// Most live nodes of a network that `minimumCut` searches: its time grows with their third power.
inline constexpr double kMaxMinimumCutNodes = 600;

/// Bandwidth of the narrowest cut, of all sets of nodes. `network` has 2 to kMaxMinimumCutNodes
/// live nodes.
double minimumCut(const Network& network);

}  // namespace torc::model

#endif  // TORC_MODEL_BOUNDS_NETWORK_H_
