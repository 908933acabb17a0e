// Links in the simulator: sharing, routes, ports, single cables, cores of a node, damage.
#include <gtest/gtest.h>

#include "model/simulator/simulator.h"
#include "tests/model/model_testing.h"

namespace torc::model {
namespace {

// On a ring of two every half has a cable of its own; a line of two has one for both.
TEST(Simulator, LineOfTwoHasOneCable) {
  const Schedule ring = compiled(Collective::kAllgather, "2");
  expectClose(makespan(ring, unitMachine(ring.topology), 100), 25);
  const Schedule line = compiled(Collective::kAllgather, "2m");
  const SimulateResult result =
      cantFail(simulate(line.view(), unitMachine(line.topology), {.bytes = 100}));
  expectClose(result.makespan_s, 50);
  EXPECT_EQ(result.nodes, 1u);  // it wraps
  ASSERT_EQ(result.links.size(), 1u);
  expectClose(result.links[0].bytes, 50);
}

TEST(Simulator, ReportsWhatLinksDo) {
  const Schedule schedule = compiled(Collective::kAllreduce, "4x2");
  const SimulateResult result =
      cantFail(simulate(schedule.view(), unitMachine(schedule.topology), {.bytes = 1000}));
  ASSERT_EQ(result.links.size(), 4u);
  EXPECT_EQ(result.links[0].link_class, (LinkClass{0, 1}));
  EXPECT_EQ(result.links[3].link_class, (LinkClass{1, -1}));
  // Color XY: 3/4 of a quarter over X, then half of a quarter of it over Y; YX the other way round;
  // both twice.
  expectClose(result.links[0].bytes, 2 * 1000 * (0.25 * 3 / 4 + 0.25 * 3 / 8));
  expectClose(result.links[2].bytes, 2 * 1000 * (0.25 / 2 + 0.25 / 8));
  for (const LinkUse& use : result.links) {
    expectClose(use.busy_s, use.bytes);  // never shared, never slowed
    expectClose(use.busy_s + use.idle_s, result.makespan_s);
  }
  EXPECT_EQ(result.steps, 2u * (3 + 1));
  EXPECT_EQ(result.messages, 2u * 4 * (3 + 1));
  EXPECT_EQ(result.nodes, 1u);
  EXPECT_EQ(result.operations, schedule.operations.size());
}

// Parts of 2/5 and 3/5 of a node's block share X+; the smaller then goes on over Y+.
TEST(Simulator, MessagesShareALink) {
  const Schedule schedule = allgatherOf("X=3, Y=3", R"(
  color 0 weight 2/5 order XY directions 1 chunks 1
  color 1 weight 3/5 order XY directions 1 chunks 1
  stream 0 of p0 core 0
  stream 1 of p1 core 0
  phase 0 {
    stream 0 {
      %0 = send in[p0, (x, y)] to X+1
      %1 = recv out[p0, (x-1, y)] from X-1
      %2 = send out[p0, (x-1, y)] to Y+1 after %1
      %3 = recv out[p0, (x-1, y-1)] from Y-1
    }
    stream 1 {
      %4 = send in[p1, (x, y)] to X+1
      %5 = recv out[p1, (x-1, y)] from X-1
    }
  })");
  // 0.4 at half speed until 0.8; then alone over Y.
  expectClose(makespan(schedule, unitMachine(schedule.topology), 9), 0.8 + 0.4);
}

// A message over two links of a ring takes two of the shares that its link has for every node.
TEST(Simulator, LongMessagesTakeEveryLinkOnTheirWay) {
  const std::string head = R"(
  color 0 weight 1/2 order XY directions 1 chunks 1
  color 1 weight 1/2 order XY directions 1 chunks 1
  stream 0 of p0 core 0
  stream 1 of p1 core 0
  phase 0 {
    stream 0 {
      %0 = send in[p0, (x, y)] to X+2
      %1 = recv out[p0, (x-2, y)] from X-2
    })";
  const Schedule alone = allgatherOf("X=5, Y=4", head + "}\n");
  Machine machine = unitMachine(alone.topology);
  machine.dimensions[0].latency = 10;
  machine.latency = 1;
  expectClose(makespan(alone, machine, 40), 2 * 1 + 2 * 10 + 1);
  const Schedule shared = allgatherOf("X=5, Y=4", head + R"(
    stream 1 {
      %2 = send in[p1, (x, y)] to X+1
      %3 = recv out[p1, (x-1, y)] from X-1
    }
  })");
  // What has a shorter way is through before the bytes of the other are on the link.
  expectClose(makespan(shared, machine, 40), 2 * 1 + 2 * 10 + 1);
  Machine without_hops = machine;
  without_hops.dimensions[0].latency = 0;
  expectClose(makespan(shared, without_hops, 40), 3 * 1 + 1);
  // Round a corner: X first, then Y; the other message shares only Y.
  const Schedule corner = allgatherOf("X=5, Y=4", R"(
  color 0 weight 1/2 order XY directions 1 chunks 1
  color 1 weight 1/2 order XY directions 1 chunks 1
  stream 0 of p0 core 0
  stream 1 of p1 core 0
  phase 0 {
    stream 0 {
      %0 = send in[p0, (x, y)] to X+1 Y-1
      %1 = recv out[p0, (x-1, y+1)] from X-1 Y+1
    }
    stream 1 {
      %2 = send in[p1, (x, y)] to Y-1
      %3 = recv out[p1, (x, y+1)] from Y+1
    }
  })");
  const SimulateResult result =
      cantFail(simulate(corner.view(), unitMachine(corner.topology), {.bytes = 40}));
  expectClose(result.makespan_s, 2);
  ASSERT_EQ(result.links.size(), 2u);
  expectClose(result.links[0].bytes, 1);
  expectClose(result.links[1].bytes, 2);
}

TEST(Simulator, PortsLimitTheLinksInUse) {
  const Schedule schedule = compiled(Collective::kAllgather, "3x3");
  // Two colors, two directions: four messages at a time of a quarter of a block, then the phase
  // after with three times as much.
  Machine machine = unitMachine(schedule.topology);
  const double all = makespan(schedule, machine, 36);
  expectClose(all, 2 * 1 + 2 * 3);
  machine.ports = 4;
  expectClose(makespan(schedule, machine, 36), all);
  machine.ports = 2;
  expectClose(makespan(schedule, machine, 36), 2 * all);
  machine.ports = 1;
  expectClose(makespan(schedule, machine, 36), 4 * all);
}

// The cores of a node share its links: as much goes out as from a node of one core, and what goes
// from core to core takes none of them.
TEST(Simulator, CoresOfANodeShareItsLinks) {
  const Schedule nodes = compiled(Collective::kAllgather, "4x4");
  const Schedule cores = compiled(Collective::kAllgather, "4x4+3");
  const Machine machine = unitMachine(cores.topology);
  expectClose(makespan(cores, machine, 96), makespan(nodes, unitMachine(nodes.topology), 96));
  // Memory is in the way of what goes from core to core: two bytes per byte.
  const Schedule inside = compiled(Collective::kAllgather, "1+3");
  Machine slow = unitMachine(inside.topology);
  EXPECT_EQ(makespan(inside, slow, 9), 0);
  slow.memory_bandwidth = 1;
  // Of nine bytes every core copies its three and gets the other six: 3 (3 + 6) twice.
  expectClose(makespan(inside, slow, 9), 54);
}

/// Nodes at X = `from` send their block to those at X = from + 1.
Schedule oneStep(int from) {
  return allgatherOf("X=4, Y=3", R"(
  color 0 weight 1/1 order XY directions 1 chunks 1
  stream 0 of p0 core 0
  phase 0 {
    stream 0 {
      %0 = send in[p0, (x, y)] to X+1 when x = )" +
                                     std::to_string(from) + R"(
      %1 = recv out[p0, (x-1, y)] from X-1 when x = )" +
                                     std::to_string(from + 1) + "}}");
}

// Y looks the same everywhere: the node at Y = 0 stands for the one whose link is dead.
TEST(Simulator, KnowsWhatIsDead) {
  const DeadLink dead{{1, 2}, 0};
  Machine machine = unitMachine(oneStep(1).topology);
  expectClose(makespan(oneStep(1), machine, 12), 1);
  machine.dead_links.push_back(dead);
  EXPECT_EQ(simulationError(oneStep(1), machine), "operation 0 on rank 1 sends over what is dead");
  expectClose(makespan(oneStep(2), machine, 12), 1);

  machine.dead_links.clear();
  Schedule schedule = oneStep(1);
  ASSERT_TRUE(schedule.topology.addDeadLink(dead).ok());
  EXPECT_EQ(simulationError(schedule, machine), "operation 0 on rank 1 sends over what is dead");
  schedule = oneStep(1);
  ASSERT_TRUE(schedule.topology.addDeadNode({2, 2}).ok());
  EXPECT_EQ(simulationError(schedule, machine), "operation 0 on rank 9 sends over what is dead");
  machine.dead_nodes.push_back({2, 1});
  EXPECT_EQ(simulationError(schedule, machine),
            "the schedule is for 4x3, machine 'unit' has dead nodes that it does not know of");
}

}  // namespace
}  // namespace torc::model
