// The direct all-to-all: a copy of the own block, a family of sends, a family of receives.
//
// A message goes the shorter way round each ring. Where rings are even the node opposite is as far
// both ways: one half of every block goes up there, the other half down, so that both directions
// carry the same. The busiest link then carries what the bound says (p floor(d^2 / 4) /
// (2 d) messages, on lines twice that).
#include "compiler/algorithms/alltoall/direct.h"

#include "ir/step_builder.h"

namespace torc {
namespace {

/// The shifts to all nodes: on rings from the farthest node one way to the farthest the other way,
/// of which `down` has the longer way down where a ring is even.
Family everyone(const Topology& topology, bool down) {
  Family family;
  family.order = FamilyOrder::kShuffled;
  for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
    const auto size = static_cast<std::int32_t>(topology.axes[axis].size);
    family.count[axis] = topology.axes[axis].size;
    if (topology.axes[axis].isRing()) family.first[axis] = -(down ? size : size - 1) / 2;
  }
  return family;
}

bool hasEvenRing(const Topology& topology) {
  for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
    if (topology.axes[axis].isRing() && topology.axes[axis].size % 2 == 0) return true;
  }
  return false;
}

/// The executing node, or in a message the peer that it is sent to or received from.
Box node(const Topology& topology) {
  Box box;
  for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis)
    box[axis] = Interval::relative(0);
  return box;
}
Box peer(const Topology& topology, bool sent) {
  Box box;
  for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis)
    box[axis] = Interval::ofPeer(sent);
  return box;
}

}  // namespace

llvm::Expected<Program> planDirectAlltoall(const CollectiveSpec& spec) {
  const Topology& topology = spec.topology;
  if (topology.isDamaged()) {
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   "direct: messages between all nodes cannot avoid the damage");
  }
  Schedule header = scheduleHeader(spec.collective, topology);
  Color color;
  color.axis_count = topology.axis_count;
  color.directions = hasEvenRing(topology) ? 2 : 1;
  for (std::uint32_t i = 0; i < color.axis_count; ++i)
    color.order[i] = static_cast<std::uint8_t>(i);
  header.colors = {color};

  StepBuilder builder(header);
  const Box own = node(topology);
  const auto region = [&](Buffer buffer, std::uint32_t part, const Box& source,
                          const Box& destination) {
    return builder.region(buffer, {{part, 1, builder.pair(source, destination)}});
  };
  for (std::uint32_t part = 0; part < color.directions; ++part) {
    const StepPlace place{builder.addStream({part, 0}), kNone};
    if (topology.ranks() > 1) {
      const Family family = everyone(topology, part == 1);
      builder.receive(place, region(Buffer::kOut, part, peer(topology, false), own), family, {});
      builder.send(place, region(Buffer::kIn, part, own, peer(topology, true)), family, {});
    }
    builder.copy(place, region(Buffer::kOut, part, own, own), region(Buffer::kIn, part, own, own),
                 {});
  }
  Program program;
  program.schedule = builder.take();
  return program;
}

}  // namespace torc
