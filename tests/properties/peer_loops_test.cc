// Loops over peers: the proof of a loop over peers as a whole agrees with the proof of its messages
// one by one, for right and faulty schedules; accepted schedules give the right result on numbers;
// and the loads of links are equal either way.
#include "ir/peer_loops/peer_loops.h"

#include <algorithm>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "ir/counted/counted_proof.h"
#include "ir/step_builder.h"
#include "ir/text/text.h"
#include "ir/verifier/verifier.h"

namespace torc {
namespace {

int draw(int least, int most) {
  return *rc::gen::inRange(least, most + 1);
}

Topology randomTopology() {
  Topology topology;
  topology.axis_count = static_cast<std::uint32_t>(draw(1, 3));
  static constexpr char kNames[] = "XYZ";
  for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
    topology.axes[axis].name = kNames[axis];
    topology.axes[axis].size = static_cast<std::uint32_t>(draw(1, 4));
    topology.axes[axis].kind = draw(0, 2) == 0 ? AxisKind::kMesh : AxisKind::kTorus;
    topology.order[axis] = static_cast<std::uint8_t>(axis);
  }
  return topology;
}

/// An all-to-all, or an allgather, in which everyone sends to everyone, by several loops over
/// peers: the shifts are cut along some axes.
class Exchange {
 public:
  Exchange(Collective collective, const Topology& topology)
      : pairs_(rowOf(collective).blocks == BlockSpace::kPair),
        topology_(topology),
        builder_(ir::scheduleHeader(collective, topology, 1)) {}

  Schedule make() {
    const std::uint32_t copies = builder_.addStream({0, 0});
    builder_.copy({copies, kNone}, region(Buffer::kOut, own(), own()),
                  region(Buffer::kIn, own(), own()), {});
    PeerLoop all;
    for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
      const auto size = static_cast<int>(topology_.axes[axis].size);
      all.count[axis] = topology_.axes[axis].size;
      all.first[axis] = -draw(0, size - 1);
    }
    cut(all, 0);
    return builder_.take();
  }

 private:
  Box own() const {
    Box box;
    for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis)
      box[axis] = Interval::relative(0);
    return box;
  }
  Box peer(bool sent) const {
    Box box;
    for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis)
      box[axis] = Interval::ofPeer(sent);
    return box;
  }
  Region region(Buffer buffer, const Box& source, const Box& destination) {
    const std::uint32_t box = pairs_ ? builder_.pair(source, destination) : builder_.box(source);
    return builder_.region(buffer, {{0, 1, box}});
  }

  void cut(const PeerLoop& peers, std::uint32_t axis) {
    if (axis == topology_.axis_count) return add(peers);
    if (peers.count[axis] < 2 || draw(0, 2) > 0) return cut(peers, axis + 1);
    PeerLoop low = peers, high = peers;
    low.count[axis] = static_cast<std::uint32_t>(draw(1, static_cast<int>(peers.count[axis]) - 1));
    high.first[axis] += static_cast<std::int32_t>(low.count[axis]);
    high.count[axis] -= low.count[axis];
    cut(low, axis + 1);
    cut(high, axis + 1);
  }

  void add(PeerLoop peers) {
    if (peers.size() == 0) return;
    peers.order = draw(0, 1) == 0 ? PeerOrder::kFixed : PeerOrder::kShuffled;
    const ir::StepPlace place{builder_.addStream({0, 0}), kNone};
    builder_.send(place, region(Buffer::kIn, own(), peer(true)), peers, {});
    builder_.receive(place, region(Buffer::kOut, peer(false), own()), peers, {});
  }

  const bool pairs_;
  const Topology topology_;
  ir::StepBuilder builder_;
};

Schedule randomExchange() {
  const Collective collective = draw(0, 2) == 0 ? Collective::kAllgather : Collective::kAlltoall;
  return Exchange(collective, randomTopology()).make();
}

/// Changes something that may matter.
void mutate(Schedule& schedule) {
  const auto some = [](auto& table) -> auto& {
    return table[static_cast<std::size_t>(draw(0, static_cast<int>(table.size()) - 1))];
  };
  const auto axis =
      static_cast<std::uint32_t>(draw(0, static_cast<int>(schedule.topology.axis_count) - 1));
  switch (draw(0, 4)) {
    case 0:
      if (!schedule.peer_loops.empty()) --some(schedule.peer_loops).count[axis];
      break;
    case 1:
      if (!schedule.peer_loops.empty()) some(schedule.peer_loops).first[axis] += draw(0, 1) * 2 - 1;
      break;
    case 2:
      some(schedule.boxes)[axis] = Interval::relative(draw(-1, 1));
      break;
    case 3:
      some(schedule.boxes)[axis].start += draw(0, 1) * 2 - 1;
      break;
    default: {
      Operation& operation = some(schedule.operations);
      const Operation& other = some(schedule.operations);
      if (operation.kind == OperationKind::kRecv) operation.dst.box = other.dst.box;
      if (operation.kind == OperationKind::kSend) operation.a.box = other.a.box;
    }
  }
}

std::string textOf(const Schedule& schedule) {
  return ir::programText({schedule, {}});
}

TEST(PeerLoops, AreProvedAsTheirMessagesAre) {
  int right = 0, wrong = 0;
  EXPECT_TRUE(rc::check([&] {
    Schedule schedule = randomExchange();
    const bool broken = draw(0, 1) == 1;
    if (broken) mutate(schedule);
    const ir::VerifyResult whole = ir::verify(schedule.view());
    if (!whole.ok() && whole.faults.front().rule == ir::Rule::kBounds) return;  // malformed
    ir::VerifyOptions each;
    each.per_rank = true;
    const ir::VerifyResult one_by_one = ir::verify(schedule.view(), each);
    if (whole.ok() != one_by_one.ok()) {
      RC_FAIL(textOf(schedule) + (whole.ok()
                                      ? "accepted as a whole: " + one_by_one.faults.front().message
                                      : "refused as a whole: " + whole.faults.front().message));
    }
    RC_ASSERT(broken || whole.ok());
    ++(whole.ok() ? right : wrong);
    if (!whole.ok()) return;
    for (const std::uint64_t count : {1, 3}) {
      const StatusOr<ir::CountedResult> counted = ir::proveCounted(schedule.view(), count);
      RC_ASSERT(counted.ok());
      RC_ASSERT(counted->fault == "");
    }
    // One by one, a message of several hops loads the links of a class as if it took one of them
    // all the time: where nodes differ, on lines, that is too much.
    const bool wraps = std::ranges::all_of(schedule.topology.axes, &Axis::wraps);
    RC_ASSERT(whole.loads.size() == one_by_one.loads.size());
    for (std::size_t i = 0; i < whole.loads.size(); ++i) {
      const double more = one_by_one.loads[i].share - whole.loads[i].share;
      RC_ASSERT(more > -1e-9);
      RC_ASSERT(!wraps || more < 1e-9);
    }
  }));
  EXPECT_GT(20 * right, wrong);
  EXPECT_GT(20 * wrong, right);
}

TEST(PeerLoops, LoadsOfLinesInAnyOrderOfCounting) {
  // Every pair of nodes: the middle of a line of d nodes carries floor(d^2 / 4) messages each way.
  for (const std::uint32_t size : {3u, 4u, 5u, 8u, 65536u}) {
    Topology line = *parseTopology(std::to_string(size) + "m");
    PeerLoop peers;
    peers.count[0] = size;
    const ir::PeerLoopLoad load = ir::loadOf(line, peers, 0);
    EXPECT_EQ(load.up, std::uint64_t{size} * size / 4);
    EXPECT_EQ(load.down, std::uint64_t{size} * size / 4);
  }
}

TEST(PeerLoops, WaysGoRoundAsTheShiftSays) {
  const Topology topology = *parseTopology("8x4m");
  PeerLoop peers;
  peers.first = {-3, 0};
  peers.count = {8, 4};
  EXPECT_EQ(ir::wayOf(topology, peers, {1, 3}, {5, 0}), (Shift{4, -3}));
  EXPECT_EQ(ir::wayOf(topology, peers, {5, 0}, {1, 2}), (Shift{4, 2}));
  EXPECT_EQ(ir::wayOf(topology, peers, {1, 1}, {6, 1}), (Shift{-3, 0}));
}

}  // namespace
}  // namespace torc
