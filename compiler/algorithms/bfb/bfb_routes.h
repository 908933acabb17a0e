// Routes of breadth-first broadcast (BFB): over which links the block of every other node comes in
// (Zhao, Pal, Chugh, Wang, Fantl, Basu, Khoury and Krishnamurthy, "Efficient Direct-Connect
// Topologies for Collective Communications", NSDI 2025).
//
// All nodes broadcast at the same time. In step t a node receives the blocks of the nodes at
// distance t; the block at offset x comes in fractions f_i(x), sum 1, from the neighbour one hop
// nearer along axis i, where x_i is not 0; if |x_i| = d_i / 2, from either side. f minimises the
// largest load of a link over its capacity in that step. Its variables are the reflection classes
// |x| = (|x_1|, ..., |x_N|), because mirror images may share alike: classes are moved, whole where
// that is possible, from one axis to another until all axes that they can move to are as busy.
//
// Blocks are cut into K parts, so that fractions become multiples of 1 / K: the offsets of a
// divided class one by one go, part by part, to the link that has least. K is the smallest that
// keeps the sum of the steps' largest loads within kRoundingGoal of the fractions'. Which parts of
// a block a link has is such that every part by itself loads the links evenly: parts that follow
// one another are messages of their own where chunks are wanted.
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
/// More nodes than this make lists of blocks longer than a message's should be.
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

/// Where the block at an offset comes from.
struct BfbRoute {
  Coordinates offset{};  // from the receiver to the block's owner; |offset_i| <= d_i / 2
  llvm::SmallVector<BfbShare, 4> shares;  // of all parts, ascending; a link may have two
};

struct BfbRoutes {
  std::uint32_t parts = 1;                   // K, of a block
  std::vector<BfbLink> links;                // into a node
  std::vector<std::vector<BfbRoute>> steps;  // step t - 1: the offsets at distance t
  /// Sum over the steps of the largest load over capacity (`Topology::capacity`) of a link, in
  /// blocks: of the fractions, and with whole parts.
  double divided_load = 0, load = 0;
};

/// Routes in at most `most_parts` parts (at least 1). Errors: a line (mesh axis of more than two
/// nodes), cores, damage, more than kMaxBfbNodes nodes.
llvm::Expected<BfbRoutes> bfbRoutes(const Topology& topology,
                                    std::uint32_t most_parts = kMostBfbParts);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_BFB_BFB_ROUTES_H_
