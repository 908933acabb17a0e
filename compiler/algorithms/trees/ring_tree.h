// Trees on one axis: senders and receivers in each round, so that about log2(d) rounds bring the
// data of the first node to d nodes.
#ifndef TORC_COMPILER_ALGORITHMS_TREES_RING_TREE_H_
#define TORC_COMPILER_ALGORITHMS_TREES_RING_TREE_H_

#include <cstdint>
#include <vector>

#include <llvm/Support/Error.h>

#include "schedules/topology/topology.h"

namespace torc::compiler {

/// A message from `parent` to `child`, coordinates on an axis that count from the root.
struct RingTreeEdge {
  std::uint32_t parent = 0, child = 0;
  bool operator==(const RingTreeEdge&) const = default;
};

/// Edges by rounds, the first round first; a node sends at most one message per round.
using RingTree = std::vector<std::vector<RingTreeEdge>>;

/// The binomial tree on `size` >= 1 nodes, as in MPI libraries: in ceil(log2(size)) rounds, the
/// longest messages first, a node that is a multiple of 2^(k+1) sends to the node 2^k above.
RingTree binomialTree(std::uint32_t size);

/// The Bine tree ("Bine Trees: Enhancing Collective Operations by Optimizing Communication
/// Locality", De Sensi et al., SC 2025): messages go (1 - (-2)^k) / 3 nodes up from even nodes,
/// down from odd ones, for k = ceil(log2(size)), ..., 1, at first about a third of the ring instead
/// of half. Nodes already reached are skipped. An odd size has the tree of one node less, and the
/// root sends to the last node in a separate round.
RingTree bineTree(std::uint32_t size);

/// A binomial tree with two arms. The first node sends to its neighbour above, which represents the
/// half of the ring above it; the first node is the end of the other half. Both halves are binomial
/// trees, whose messages lead away from the first node. So every path to a node is a shortest one,
/// in ceil(log2(size)) rounds, and the subtree of a node is adjacent to it.
RingTree twoArmTree(std::uint32_t size);

/// Two arms of half the ring each, binomial trees of the first node with the farthest child of a
/// node first, in one round. No message goes half of the ring: networks may route it in the other
/// direction.
RingTree splitTree(std::uint32_t size);

/// The flat tree: the root sends to every node, the farthest first, one per round.
RingTree flatTree(std::uint32_t size);

/// Signed distance of an edge in the shorter direction. Half of the ring is down: from the roots of
/// even rings the shorter messages of a binomial tree go up. The only other node of a ring of two
/// is up.
std::int32_t distanceOf(const RingTreeEdge& edge, std::uint32_t size);

/// `count` nodes from `first` on, cyclically.
struct RingArc {
  std::uint32_t first = 0, count = 1;
  bool operator==(const RingArc&) const = default;
};

/// Every node with its subtree, in a tree whose subtrees are contiguous.
std::vector<RingArc> arcsOf(const RingTree& tree, std::uint32_t size);

/// An error with the algorithm's name if the coordinates of some axis do not count from the root.
llvm::Error checkRings(const Topology& topology, const char* name);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_TREES_RING_TREE_H_
