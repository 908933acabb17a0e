// An exchange: every node sends to the peer at +i on the axes of the exchange what is for
// destinations with the peer's coordinates there, receives the like, and keeps what is for its own
// coordinates.
//
// Both directions. A message goes the shorter way round each ring. Where a ring is even, the node
// opposite is as far both ways: a part of direction + goes up there, one of direction - down
// (split-directions makes the two halves), so that both directions carry the same. The busiest link
// of an exchange along all axes then carries what the bound says (p floor(d^2 / 4) / (2 d) messages
// on a ring of d nodes, on lines twice that).
//
// Order. It waits for what brought the blocks. Receives wait for nothing: a message never waits for
// its receiver.
#include "passes/exchanges/exchange.h"

namespace torc {
namespace {

/// The shifts to all nodes that differ on `axes` alone: on rings from the farthest node one way to
/// the farthest the other way, of which `down` has the longer way down where a ring is even.
Family familyOf(const Topology& topology, std::uint32_t axes, bool down) {
  Family family;
  for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
    const bool along = axes >> axis & 1;
    const auto size = static_cast<std::int32_t>(topology.axes[axis].size);
    family.count[axis] = along ? topology.axes[axis].size : 1;
    if (along && topology.axes[axis].isRing()) {
      family.first[axis] = -(down ? size : size - 1) / 2;
    }
  }
  return family;
}

}  // namespace

void expandExchange(ExchangeSteps steps, FamilyOrder order, std::uint32_t window) {
  const Interval own = Interval::relative(0);
  const auto received = steps.blocks(Interval::ofPeer(false), own);
  const auto sent = steps.blocks(own, Interval::ofPeer(true));
  const StepPlace place = steps.newStream();
  Family family = familyOf(steps.topology(), steps.axes(), steps.part().down);
  family.order = order;
  if (window < family.size()) family.window = static_cast<std::uint16_t>(window);
  const std::uint32_t receive = steps.builder().receive(place, steps.behind(received), family, {});
  steps.builder().send(place, steps.before(sent), family, steps.after());
  steps.finish({receive, steps.keep(place)});
}

}  // namespace torc
