// Routes of breadth-first broadcast (BFB): the links over which a node receives the block of every
// other node (Zhao, Pal, Chugh, Wang, Fantl, Basu, Khoury and Krishnamurthy, "Efficient
// Direct-Connect Topologies for Collective Communications", NSDI 2025).
//
// All nodes broadcast at the same time. In step t a node receives the blocks of the nodes at
// distance t. The block at offset x arrives in fractions f_i(x), sum 1, from the neighbour one hop
// nearer along axis i, where x_i is not 0; if |x_i| = d_i / 2, from either side. f minimises the
// largest load of a link over its capacity in that step. Its variables are the reflection classes
// |x| = (|x_1|, ..., |x_N|), because mirror images may have equal fractions. Classes are moved,
// whole if possible, from one axis to another until all axes that they can move to are equally
// busy.
//
// Blocks are cut into K parts, so that fractions become multiples of 1 / K: each part of an offset
// in a divided class goes to the least loaded link. K is the smallest number that keeps the sum of
// the steps' largest loads within kRoundingGoal of the fractional optimum. The parts of a block are
// assigned to links so that each part on its own loads the links evenly: with chunks, consecutive
// parts are separate messages.
#ifndef TORC_COMPILER_ALGORITHMS_BFB_BFB_ROUTES_H_
#define TORC_COMPILER_ALGORITHMS_BFB_BFB_ROUTES_H_

#include <cstdint>
#include <vector>

#include <llvm/ADT/SmallVector.h>
#include <llvm/Support/Error.h>

#include "schedules/topology/topology.h"

namespace torc::compiler {

inline constexpr double kRoundingGoal = 1.002;
inline constexpr std::uint32_t kMostBfbParts = 48;
/// Bound of the nodes: more would make the block list of a message too long.
inline constexpr std::uint64_t kMaxBfbNodes = 1u << 15;

/// A link into a node: from the neighbour at `sign` along `axis`.
struct BfbLink {
  std::uint32_t axis = 0;
  int sign = 1;
};

/// Parts [first, first + count) of a block come over a link.
struct BfbShare {
  std::uint32_t link = 0;  // index in BfbRoutes::links
  std::uint32_t first = 0, count = 0;
};

/// The links that bring the block at an offset.
struct BfbRoute {
  Coordinates offset{};  // from the receiver to the block's owner; |offset_i| <= d_i / 2
  llvm::SmallVector<BfbShare, 4> shares;  // of all parts, ascending; a link may occur twice
};

struct BfbRoutes {
  std::uint32_t parts = 1;                   // K, of a block
  std::vector<BfbLink> links;                // into a node
  std::vector<std::vector<BfbRoute>> steps;  // step t - 1: the offsets at distance t
  /// Sum over the steps of the largest load over capacity (`Topology::capacity`) of a link, in
  /// blocks: with fractions, and with whole parts.
  double divided_load = 0, load = 0;
};

/// Routes in at most `most_parts` parts (at least 1). Errors: a line (mesh axis of more than two
/// nodes), cores, damage, more than kMaxBfbNodes nodes.
llvm::Expected<BfbRoutes> bfbRoutes(const Topology& topology,
                                    std::uint32_t most_parts = kMostBfbParts);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_BFB_BFB_ROUTES_H_
