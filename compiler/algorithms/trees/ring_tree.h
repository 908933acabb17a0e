// Trees on one axis: who sends to whom in which round, so that in about log2(d) rounds d nodes have
// heard of the first.
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

/// Edges by rounds, the first round first; in each a node sends at most one message.
using RingTree = std::vector<std::vector<RingTreeEdge>>;

/// The binomial tree on `size` >= 1 nodes, as MPI libraries have it: in ceil(log2(size)) rounds,
/// the longest messages first, a node that is a multiple of 2^(k+1) sends to the one 2^k above.
RingTree binomialTree(std::uint32_t size);

/// The Bine tree ("Bine Trees: Enhancing Collective Operations by Optimizing Communication
/// Locality", De Sensi et al., SC 2025): messages go (1 - (-2)^k) / 3 nodes up from even nodes,
/// down from odd ones, for k = ceil(log2(size)), ..., 1, about a third of the ring at first and not
/// half of it. Nodes that have been reached are left out; with an odd size it is that of one node
/// less, and the root sends to the last node in a round of its own.
RingTree bineTree(std::uint32_t size);

/// A binomial tree in two arms: the first sends to its neighbour above, which stands for the half
/// of the ring above it, and is itself the end of the other half; both are binomial trees, whose
/// messages lead away from the first. So nobody is reached by more than the shorter way, in
/// ceil(log2(size)) rounds; and what is behind a node lies beside it.
RingTree twoArmTree(std::uint32_t size);

/// The flat tree: the root sends to everybody, to the farthest first, in a round each.
RingTree flatTree(std::uint32_t size);

/// How far an edge leads, the shorter way round. Half way round is down: from even rings' roots the
/// shorter messages of a binomial tree go up. The only other node of a ring is up.
std::int32_t distanceOf(const RingTreeEdge& edge, std::uint32_t size);

/// `count` nodes from `first` on, around.
struct RingArc {
  std::uint32_t first = 0, count = 1;
  bool operator==(const RingArc&) const = default;
};

/// Every node with those behind it, in a tree in which these are an arc.
std::vector<RingArc> arcsOf(const RingTree& tree, std::uint32_t size);

/// An error in the algorithm's name where the coordinates of some axis do not count from the root.
llvm::Error checkRings(const Topology& topology, const char* name);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_TREES_RING_TREE_H_
