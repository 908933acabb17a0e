// The rounds of a reduce-scatter along an axis in which nodes exchange with farther ones, too: in a
// logarithm of its length, where a ring takes its length. An allgather is the same backwards in
// time.
//
// Swing ("Swing: Short-cutting Rings for Higher Bandwidth Allreduce", NSDI'24): in round s an even
// node exchanges with the one at x + rho(s), an odd one with x - rho(s), rho(s) = 1, -1, 3, -5, 11:
// less far than a power of two. A node sends all blocks that can still reach their owners from
// there. Where the size is no power of two some could reach them more than once: a block goes in
// the last round in which it can. Where the size is odd the last node stands aside, and exchanges
// one block with each of the others.
//
// Groups (recursive multiplying): in a round of radix f and stride s the nodes that differ in the
// digit x / s mod f alone send each other what those have to pass on.
//
// Direction - is the mirror image: x becomes size-1-x.
#ifndef TORC_PASSES_ANALYSIS_RING_ROUNDS_H_
#define TORC_PASSES_ANALYSIS_RING_ROUNDS_H_

#include <cstdint>
#include <vector>

namespace torc::passes {

/// Sums that the node `from` sends the node `to`, of the blocks of these nodes: coordinates on the
/// axis, the blocks in ascending order.
struct RingMessage {
  std::uint32_t from = 0, to = 0;
  std::int32_t moves = 0;  // to - from, on a ring the way that it goes
  std::vector<std::uint32_t> blocks;
};

/// The messages of a round, by sender. After the last round every node has what all contribute to
/// its own block.
using RingRound = std::vector<RingMessage>;

/// Of a reduce-scatter by Swing; `wraps`: the axis is a ring; `direction`: 0: +, 1: -. size >= 2.
std::vector<RingRound> swingRounds(std::uint32_t size, bool wraps, std::uint32_t direction);

/// The same in groups of up to 8 nodes, or of a prime factor of the size.
std::vector<RingRound> groupRounds(std::uint32_t size, bool wraps, std::uint32_t direction);

}  // namespace torc::passes

#endif  // TORC_PASSES_ANALYSIS_RING_ROUNDS_H_
