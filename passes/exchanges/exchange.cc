// An exchange: every node sends to the peer at +i on the axes of the exchange the blocks for
// destinations with the peer's coordinates there. It receives likewise, and keeps the blocks for
// its own coordinates.
//
// Both directions. A message goes the shorter way around each ring. On an even ring, the opposite
// node is equally far both ways: a part of direction + goes up there, one of direction - down
// (split-directions makes the two halves), so that both directions carry the same. The busiest link
// of an exchange along all axes then carries the bound (p floor(d^2 / 4) / (2 d) messages on a ring
// of d nodes, on lines twice that).
//
// Order. A send waits for the operations that brought its blocks. Receives wait for nothing: a
// message never waits for its receiver.
#include "passes/exchanges/exchange.h"

#include <utility>

namespace torc::passes {
namespace {

/// The shifts to all nodes that differ only on the axes of the exchange: on rings from the farthest
/// node one way to the farthest the other way.
PeerLoop peerLoopOf(const ExchangeSteps& steps) {
  const Topology& topology = steps.topology();
  PeerLoop peers;
  for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
    const bool along = steps.axes() >> axis & 1;
    peers.count[axis] = along ? topology.axes[axis].size : 1;
    if (along && topology.axes[axis].isRing())
      peers.first[axis] = steps.firstOf(topology.axes[axis].size);
  }
  return peers;
}

/// A message to each peer of a loop, or to the node at a shift, and one from each; returns the
/// index of the receive.
template <typename Peers>
std::uint32_t addMessages(ExchangeSteps& steps, const ir::StepPlace& place, const Peers& peers,
                          const BlockList& received, const BlockList& sent) {
  const std::uint32_t receive = steps.builder().receive(place, steps.behind(received), peers, {});
  steps.builder().send(place, steps.before(sent), peers, steps.after());
  return receive;
}

/// The same for the peers of a loop at `shift` along the split axis, in a stream of their own;
/// nothing if the only peer is the node itself.
void addAlongSplit(ExchangeSteps& steps, PeerLoop peers, std::int32_t shift,
                   const BlockList& received, const BlockList& sent,
                   ir::OperationIndices& brought) {
  const std::uint32_t axis = steps.splitAxis();
  peers.first[axis] = shift;
  peers.count[axis] = 1;
  if (peers.size() == 0) return;
  const ir::StepPlace place = steps.newStream();
  brought.push_back(steps.axes() == 1u << axis
                        ? addMessages(steps, place, ir::hop(axis, shift), received, sent)
                        : addMessages(steps, place, peers, received, sent));
}

/// Messages to the nodes at multiples of the stride along the split axis: a loop over peers, and so
/// a stream, for each multiple, so that regions there can count from the node.
ir::OperationIndices addMultiples(ExchangeSteps& steps, const PeerLoop& peers) {
  const Interval own = Interval::relative(0);
  const std::int32_t around = steps.firstOf(steps.stride());
  ir::OperationIndices brought;
  for (const Interval& source : steps.multipleSources()) {
    const std::uint32_t received = steps.blocks(Interval::ofPeer(false), own, source,
                                                Interval::relative(around, steps.stride()));
    const std::uint32_t sent =
        steps.blocks(own, Interval::ofPeer(true), own,
                     Interval::relative(around - source.start, steps.stride()));
    addAlongSplit(steps, peers, -source.start, {received}, {sent}, brought);
  }
  return brought;
}

/// Messages to the nodes around along the split axis, with blocks from the multiples of the stride;
/// likewise.
ir::OperationIndices addAround(ExchangeSteps& steps, const PeerLoop& peers) {
  const Interval own = Interval::relative(0);
  ir::OperationIndices brought;
  for (std::uint32_t i = 0; i < steps.stride(); ++i) {
    const std::int32_t shift = steps.firstOf(steps.stride()) + static_cast<std::int32_t>(i);
    BlockList received, sent;
    for (const Interval& source : steps.multipleSources()) {
      received.push_back(steps.blocks(Interval::ofPeer(false), own,
                                      Interval::relative(source.start - shift), own));
      sent.push_back(steps.blocks(own, Interval::ofPeer(true), source, Interval::relative(shift)));
    }
    addAlongSplit(steps, peers, shift, received, sent, brought);
  }
  return brought;
}

}  // namespace

void expandExchange(ExchangeSteps steps, PeerOrder order, std::uint32_t window) {
  const Interval own = Interval::relative(0);
  const ir::StepPlace place = steps.newStream();
  PeerLoop peers = peerLoopOf(steps);
  peers.order = order;
  if (window < peers.size()) peers.window = static_cast<std::uint16_t>(window);
  ir::OperationIndices brought;
  if (steps.isStrided()) {
    brought = addMultiples(steps, peers);
  } else if (steps.splitAxis() != kNone) {
    brought = addAround(steps, peers);
  } else {
    brought = {addMessages(steps, place, peers, {steps.blocks(Interval::ofPeer(false), own)},
                           {steps.blocks(own, Interval::ofPeer(true))})};
  }
  brought.push_back(steps.keep(place));
  steps.finish(std::move(brought));
}

}  // namespace torc::passes
