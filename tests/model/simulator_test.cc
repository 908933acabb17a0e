// The simulator against formulas and against schedules whose times are found by hand.
#include "model/simulator.h"

#include <gtest/gtest.h>

#include "tests/model/model_testing.h"

namespace torc {
namespace {

/// Relative closeness: sums in another order.
void expectClose(double value, double expected) {
  EXPECT_NEAR(value, expected, 1e-9 * expected);
}

/// A machine on which everything takes time.
Machine slowMachine(const Topology& topology) {
  Machine machine = unitMachine(topology);
  machine.alpha = 0.5;
  machine.overhead = 0.125;
  machine.latency = 0.25;
  machine.gamma = 0.0625;
  for (MachineDimension& dimension : machine.dimensions)
    dimension.latency = 2;
  return machine;
}

constexpr double kStep = 0.5 + 2 * 0.125 + 0.25 + 2;  // alpha + 2 o + L + a hop, of slowMachine

// Equation (1) of the bucket paper: (p-1) (alpha + n/p beta + n/p gamma), alpha in full.
TEST(Simulator, RingInOneDirectionTakesEquationOne) {
  PipelineOptions options;
  options.directions = "unidirectional";
  for (const int size : {2, 3, 8, 13}) {
    const std::string shape = std::to_string(size);
    const double block = 832.0 / size;
    const Schedule gather = compiled(Collective::kAllgather, shape, options);
    const Machine machine = slowMachine(gather.topology);
    expectClose(makespan(gather, machine, 832), (size - 1) * (kStep + block));
    const Schedule scatter = compiled(Collective::kReduceScatter, shape, options);
    expectClose(makespan(scatter, machine, 832),
                (size - 1) * (kStep + block + block * machine.gamma));
    const Schedule both = compiled(Collective::kAllreduce, shape, options);
    expectClose(makespan(both, machine, 832),
                (size - 1) * (2 * kStep + 2 * block + block * machine.gamma));
  }
}

// Equation (2) on symmetric tori, start-ups of a node's 2N messages side by side:
// N (d-1) alpha + (p-1)/p n beta/(2N).
TEST(Simulator, SymmetricToriTakeTheLowerBound) {
  for (const auto& [shape, dimensions, size] :
       {std::tuple{"5", 1, 5}, {"4x4", 2, 4}, {"3x3x3", 3, 3}, {"2x2x2x2", 4, 2}}) {
    for (const char* dependences : {"phase", "region"}) {
      PipelineOptions options;
      options.dependences = dependences;
      const Schedule schedule = compiled(Collective::kReduceScatter, shape, options);
      Machine machine = unitMachine(schedule.topology);
      machine.alpha = 3;
      const auto ranks = static_cast<double>(schedule.topology.ranks());
      expectClose(makespan(schedule, machine, 1000),
                  dimensions * (size - 1) * 3.0 + (ranks - 1) / ranks * 1000 / (2 * dimensions));
    }
  }
}

// Phase by phase, the slowest color of each phase counts: 4x8, halves of two colors each.
TEST(Simulator, PhasesTakeAsLongAsTheirSlowestColor) {
  PipelineOptions options;
  options.dependences = "phase";
  const Schedule schedule = compiled(Collective::kReduceScatter, "4x8", options);
  Machine machine = unitMachine(schedule.topology);
  machine.alpha = 0.001;
  // Per step the d-th part of a quarter of the vector, then, in phase 1, of what phase 0 has left.
  const double first = std::max(3 * (0.001 + 0.25 / 4), 7 * (0.001 + 0.25 / 8));
  const double second = std::max(7 * (0.001 + 0.25 / 4 / 8), 3 * (0.001 + 0.25 / 8 / 4));
  expectClose(makespan(schedule, machine), first + second);
}

// A line: blocks go both ways, each all the way: (d-1) (alpha + n/d beta), on every node's own
// class.
TEST(Simulator, LineTakesItsLengthOnClassesOfItsOwn) {
  const Schedule schedule = compiled(Collective::kAllgather, "5m");
  Machine machine = unitMachine(schedule.topology);
  machine.alpha = 2;
  SimulateOptions options;
  options.bytes = 100;
  const SimulateResult result = cantFail(simulate(schedule.view(), machine, options));
  expectClose(result.makespan_s, 4 * (2 + 20));
  EXPECT_EQ(result.nodes, 5u);
  EXPECT_EQ(result.steps, 4u);
}

// On a ring of two every half has a cable of its own; a line of two has one for both.
TEST(Simulator, LineOfTwoHasOneCable) {
  const Schedule ring = compiled(Collective::kAllgather, "2");
  expectClose(makespan(ring, unitMachine(ring.topology), 100), 25);
  const Schedule line = compiled(Collective::kAllgather, "2m");
  SimulateOptions options;
  options.bytes = 100;
  const SimulateResult result =
      cantFail(simulate(line.view(), unitMachine(line.topology), options));
  expectClose(result.makespan_s, 50);
  EXPECT_EQ(result.nodes, 1u);  // it wraps
  ASSERT_EQ(result.links.size(), 1u);
  expectClose(result.links[0].bytes, 50);
}

TEST(Simulator, ReportsWhatLinksDo) {
  const Schedule schedule = compiled(Collective::kAllreduce, "4x2");
  SimulateOptions options;
  options.bytes = 1000;
  const SimulateResult result =
      cantFail(simulate(schedule.view(), unitMachine(schedule.topology), options));
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
  expectClose(makespan(shared, machine, 40), 3 * 1 + 2 * 10 + 1);
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
  SimulateOptions options;
  options.bytes = 40;
  const SimulateResult result =
      cantFail(simulate(corner.view(), unitMachine(corner.topology), options));
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

// Where arithmetic is slow the core is busy from the first message on: (p-1)/p n gamma, in two
// streams whose messages come while the other's are reduced.
TEST(Simulator, SlowArithmeticKeepsTheCoreBusy) {
  const Schedule schedule = compiled(Collective::kReduceScatter, "8");
  Machine machine = unitMachine(schedule.topology);
  machine.gamma = 5;
  expectClose(makespan(schedule, machine, 160), 10 + 140 * 5);
}

constexpr char kTwoReductions[] = R"(
  color 0 weight 1/2 order X directions 1 chunks 1
  color 1 weight 1/2 order X directions 1 chunks 1
  stream 0 of p0 core 0
  stream 1 of p1 core 1
  phase 0 {
    stream 0 {
      %0 = copy out[p0, (x)] = in[p0, (x)]
    }
    stream 1 {
      %1 = copy out[p1, (x)] = in[p1, (x)]
    }
  })";

TEST(Simulator, CoresShareTheMemory) {
  const Schedule schedule = allgatherOf("X=2", kTwoReductions);
  Machine machine = unitMachine(schedule.topology);
  EXPECT_EQ(makespan(schedule, machine, 16), 0);  // no memory to wait for
  // Two copies of 4 bytes, each read and written: one after another, or side by side.
  machine.memory_bandwidth = 2;
  expectClose(makespan(schedule, machine, 16), 8);
  machine.cores = 2;
  expectClose(makespan(schedule, machine, 16), 8);
}

TEST(Simulator, StreamsOnTheirOwnCoresWorkSideBySide) {
  PipelineOptions options;
  Schedule schedule = compiled(Collective::kReduceScatter, "2", options);
  Machine machine = unitMachine(schedule.topology);
  machine.gamma = 3;
  ASSERT_EQ(schedule.streams.size(), 2u);
  // Halves of the half that the other node sends come at the same time.
  expectClose(makespan(schedule, machine, 16), 4 + 2 * 4 * 3);
  schedule.streams[1].core = 1;
  expectClose(makespan(schedule, machine, 16), 4 + 2 * 4 * 3);  // there is one core
  machine.cores = 2;
  expectClose(makespan(schedule, machine, 16), 4 + 4 * 3);
  // Three bytes moved per byte: slower than the arithmetic when both cores are at it.
  machine.memory_bandwidth = 1.5;
  expectClose(makespan(schedule, machine, 16), 4 + 2 * 4 * 3 / 1.5);
  machine.memory_bandwidth = 2;
  expectClose(makespan(schedule, machine, 16), 4 + 4 * 3);
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

// The receive waits for a copy of 4 seconds, the message takes 3.
TEST(Simulator, EagerMessagesDoNotWaitForTheirReceive) {
  const Schedule schedule = allgatherOf("X=3", R"(
  color 0 weight 1/1 order X directions 1 chunks 1
  stream 0 of p0 core 0
  phase 0 {
    stream 0 {
      %0 = send in[p0, (x)] to X+1
      %1 = copy out[p0, (x)] = in[p0, (x)]
      %2 = recv out[p0, (x-1)] from X-1 after %1
    }
  })");
  Machine machine = unitMachine(schedule.topology);
  machine.memory_bandwidth = 1.5;
  SimulateOptions options;
  options.bytes = 9;
  expectClose(cantFail(simulate(schedule.view(), machine, options)).makespan_s, 4 + 3);
  machine.eager = 3;
  expectClose(cantFail(simulate(schedule.view(), machine, options)).makespan_s, 4);
  machine.eager = 2.9;
  expectClose(cantFail(simulate(schedule.view(), machine, options)).makespan_s, 4 + 3);
}

// Node 1 copies between receiving and sending on, the others skip that: the message that they send
// on waits for the one before all the same.
TEST(Simulator, DependencesPassThroughWhatANodeSkips) {
  const std::string head = R"(
  color 0 weight 1/1 order X directions 1 chunks 1
  stream 0 of p0 core 0
  phase 0 {
    stream 0 {
      %0 = send in[p0, (x)] to X+1
      %1 = recv out[p0, (x-1)] from X-1
      %2 = copy out[p0, (x)] = in[p0, (x)] after %1 when x = 1
      %3 = send out[p0, (x-1)] to X+1 after )";
  const std::string tail = R"(
      %4 = recv out[p0, (x-2)] from X-1
    }
  })";
  const Schedule passing = allgatherOf("X=3", head + "%2" + tail);
  Machine machine = unitMachine(passing.topology);
  expectClose(makespan(passing, machine, 9), 3 + 3);
  machine.memory_bandwidth = 1.5;  // the copy takes 4
  expectClose(makespan(passing, machine, 9), 3 + 4 + 3);
}

// On a ring where everybody receives before it sends nothing ever starts.
TEST(Simulator, NamesWhereADeadlockIs) {
  const Schedule schedule = allgatherOf("X=3", R"(
  color 0 weight 1/1 order X directions 1 chunks 1
  stream 0 of p0 core 0
  phase 0 {
    stream 0 {
      %0 = copy out[p0, (x)] = in[p0, (x)]
      %1 = recv out[p0, (x-1)] from X-1 after %0
      %2 = send in[p0, (x)] to X+1 after %1
    }
  })");
  EXPECT_EQ(simulationError(schedule, unitMachine(schedule.topology)),
            "deadlock: 2 operations never complete, the first is operation 1 on rank 0");
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

TEST(Simulator, EmptyVectorsTakeTheirStartUps) {
  const Schedule schedule = compiled(Collective::kAllreduce, "4");
  Machine machine = unitMachine(schedule.topology);
  machine.alpha = 1;
  expectClose(makespan(schedule, machine, 0), 6);
  SimulateOptions options;
  options.per_rank = true;  // what is empty is not sent
  EXPECT_EQ(cantFail(simulate(schedule.view(), machine, options)).makespan_s, 0);
  const Schedule one = compiled(Collective::kAllreduce, "1");
  EXPECT_EQ(makespan(one, unitMachine(one.topology), 100), 0);
}

TEST(Simulator, NamesWhatIsWrong) {
  const Schedule schedule = compiled(Collective::kAllgather, "4x2");
  Machine machine = unitMachine(compiled(Collective::kAllgather, "4x3").topology);
  EXPECT_EQ(simulationError(schedule, machine), "the schedule is for 4x2, machine 'unit' is 4x3");
  machine = unitMachine(compiled(Collective::kAllgather, "4mx2").topology);
  EXPECT_EQ(simulationError(schedule, machine), "the schedule is for 4x2, machine 'unit' is 4mx2");
  machine = unitMachine(schedule.topology);
  machine.dimensions[1].width = 1;
  EXPECT_EQ(simulationError(schedule, machine),
            "the schedule is for 4x2, machine 'unit' has one cable along Y, which is 2m");
  const Schedule unsent = allgatherOf("X=4", R"(
  color 0 weight 1/1 order X directions 1 chunks 1
  stream 0 of p0 core 0
  phase 0 {
    stream 0 {
      %0 = recv out[p0, (x-1)] from X-1
    }
  })");
  EXPECT_EQ(simulationError(unsent, unitMachine(unsent.topology)),
            "operation 0 on rank 0 receives what no peer sends");
  const Schedule unreceived = allgatherOf("X=4", R"(
  color 0 weight 1/1 order X directions 1 chunks 1
  stream 0 of p0 core 0
  phase 0 {
    stream 0 {
      %0 = send in[p0, (x)] to X+1 when x = 2
    }
  })");
  EXPECT_EQ(simulationError(unreceived, unitMachine(unreceived.topology)),
            "operation 0 on rank 2 sends what its peer does not receive");
  std::string body = R"(
  color 0 weight 1/1 order X directions 1 chunks 1
  stream 0 of p0 core 0
  phase 0 {
    stream 0 {)";
  for (int i = 0; i < 11; ++i)
    body += "\n      %" + std::to_string(i) + " = copy out[p0, (x)] = in[p0, (x)]";
  const Schedule large = allgatherOf("X=2000000 mesh", body + "}}");
  EXPECT_EQ(simulationError(large, unitMachine(large.topology)),
            "too large to simulate: 2000000 nodes that differ, with up to 11 operations each");
  // Refused before anything is laid out.
  const Schedule vast = allgatherOf("X=2000000000", body + "}}");
  SimulateOptions options;
  options.per_rank = true;
  llvm::Expected<SimulateResult> result =
      simulate(vast.view(), unitMachine(vast.topology), options);
  ASSERT_FALSE(result);
  EXPECT_EQ(llvm::toString(result.takeError()).substr(0, 50),
            "too large to simulate: 2000000000 nodes that diffe");
}

}  // namespace
}  // namespace torc
