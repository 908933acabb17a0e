// The steps of a ring (bucket) reduce-scatter or allgather along one axis of d nodes, as offsets
// from the executing node's coordinate x.
//
// On a ring (torus axis), direction +, steps s, k = 0 .. d-2:
//   reduce-scatter  send block x-1-s to x+1, receive block x-2-s from x-1
//   allgather       send block x-k   to x+1, receive block x-1-k from x-1
// On a line (a mesh axis, or a ring that is cut) every block comes from, or goes to, both sides, on
// two lines at the same time. Line +, k = d-2-s in a reduce-scatter:
//   reduce-scatter  nodes 0 .. d-2-k send block x+1+k to x+1, nodes 1 .. d-1-k receive block x+k
//   allgather       nodes k .. d-2 send block x-k to x+1, nodes k+1 .. d-1 receive block x-1-k
// Direction and line - are the mirror images.
//
// In half the steps around a ring: whole blocks go both ways, h = floor(d/2) hops, those at
// distance d/2 half a block each way: as many bytes as in two directions. Way +, steps s, k = 0 ..
// h-1:
//   reduce-scatter  send block x+h-s to x+1, receive block x+h-1-s from x-1
//   allgather       send block x-k   to x+1, receive block x-1-k   from x-1
// Way - is the mirror image. The sums of a block meet at its owner, from both sides.
//
// A scatter from node 0 of a ring sends the block for the farthest node, h hops, first: h is d-1 in
// one direction, floor(d/2) both ways. Direction +, steps s, k = 0 .. h-1:
//   scatter         nodes 0 .. s send block x+h-s to x+1, nodes 1 .. s+1 receive block x+h-1-s
// In half the steps the block of node d/2, sent by node s in step s, goes half each way. A gather
// to node 0 is the same, reversed in time:
//   gather          nodes 1 .. h-s send block x+s to x-1, nodes 0 .. h-1-s receive block x+1+s
#ifndef TORC_PASSES_ANALYSIS_RING_STEPS_H_
#define TORC_PASSES_ANALYSIS_RING_STEPS_H_

#include <cstdint>

#include <llvm/ADT/SmallVector.h>

#include "ir/program.h"

namespace torc::passes {

/// Nodes at places first to last along the axis; empty if first > last.
struct Nodes {
  std::int32_t first = 0;
  std::int32_t last = -1;

  bool none() const { return first > last; }
  bool operator==(const Nodes&) const = default;
};

/// One message sent by a node and one received by it.
struct LineStep {
  int sign = 1;           // sends to x+sign, receives from x-sign
  std::int32_t sent = 0;  // block sent: its offset from x
  std::int32_t received = 0;
  Nodes senders, receivers;
  Nodes sources;      // senders that have not received the sent block in an earlier step
  bool half = false;  // moves half of each block: with sign + the first half, with - the second
};

/// The messages of a node in a step: one line on a ring, two on a line or in half the steps; in a
/// scatter one more for each way, for the nodes that move half a block.
using RingStep = llvm::SmallVector<LineStep, 2>;

/// Step `step` (0 to size - 2) of `kind` along an axis of `size` nodes, which is a line or a ring;
/// `direction` (0: +, 1: -) counts on rings only. Nodes of a line are counted from its begin.
RingStep ringStep(ir::PlanKind kind, std::uint32_t size, bool is_line, std::uint32_t direction,
                  std::uint32_t step);

/// Step `step` (0 to size / 2 - 1) of `kind` in half the steps around a ring of `size` nodes.
RingStep halfLatencyStep(ir::PlanKind kind, std::uint32_t size, std::uint32_t step);

/// Step `step` of a scatter from node 0 of a ring: of size - 1 steps in `direction`, or of size / 2
/// if the halves go `both_ways`. Nodes count from -(size - 1) on.
RingStep scatterStep(std::uint32_t size, bool both_ways, std::uint32_t direction,
                     std::uint32_t step);
/// The same for a gather to node 0, in the direction opposite to `direction`.
RingStep gatherStep(std::uint32_t size, bool both_ways, std::uint32_t direction,
                    std::uint32_t step);

}  // namespace torc::passes

#endif  // TORC_PASSES_ANALYSIS_RING_STEPS_H_
