// The rounds of a reduce-scatter along an axis with exchanges between distant nodes: their number
// is logarithmic in the axis's length, where a ring's is linear. An allgather is the same, reversed
// in time.
//
// Swing ("Swing: Short-cutting Rings for Higher Bandwidth Allreduce", NSDI'24): in round s an even
// node exchanges with the node at x + rho(s), an odd one with x - rho(s), rho(s) = 1, -1, 3, -5,
// 11: shorter distances than powers of two. A node sends all blocks that can still reach their
// owners from there. If the size is no power of two, some blocks could reach their owners more than
// once: a block travels in the last possible round. If the size is odd, the last node stays out of
// the rounds, and exchanges one block with each of the others.
//
// Groups (recursive multiplying): in a round of radix f and stride s the nodes that differ only in
// the digit x / s mod f send each other the blocks destined beyond them.
//
// Direction - is the mirror image: x becomes size-1-x.
#ifndef TORC_PASSES_ANALYSIS_RING_ROUNDS_H_
#define TORC_PASSES_ANALYSIS_RING_ROUNDS_H_

#include <cstdint>
#include <vector>

namespace torc::passes {

/// Sums from node `from` to node `to`, of the blocks of these nodes: coordinates on the axis,
/// ascending.
struct RingMessage {
  std::uint32_t from = 0, to = 0;
  std::int32_t moves = 0;  // to - from, on a ring in the direction of travel
  std::vector<std::uint32_t> blocks;
};

/// The messages of a round, by sender. After the last round every node has all contributions to its
/// own block.
using RingRound = std::vector<RingMessage>;

/// Rounds of a reduce-scatter by Swing; `wraps`: the axis is a ring; `direction`: 0: +, 1: -. size
/// >= 2.
std::vector<RingRound> swingRounds(std::uint32_t size, bool wraps, std::uint32_t direction);

/// The same in groups of up to 8 nodes, or of a prime factor of the size.
std::vector<RingRound> groupRounds(std::uint32_t size, bool wraps, std::uint32_t direction);

}  // namespace torc::passes

#endif  // TORC_PASSES_ANALYSIS_RING_ROUNDS_H_
