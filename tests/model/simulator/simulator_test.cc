// The simulator against formulas and against schedules with times computed by hand.
#include "model/simulator/simulator.h"

#include <gtest/gtest.h>

#include "tests/model/model_testing.h"

namespace torc::model {
namespace {

/// The operations of a single stream.
Schedule oneStream(const std::string& torus, const std::string& operations) {
  return allgatherOf(torus,
                     "color 0 weight 1/1 order X directions 1 chunks 1\nstream 0 of p0 core 0\n"
                     "phase 0 {\nstream 0 {\n" +
                         operations + "}\n}\n");
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
  compiler::PipelineOptions options;
  options.directions = passes::DirectionModel::kUnidirectional;
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
    for (const passes::DependenceKind dependences :
         {passes::DependenceKind::kPhase, passes::DependenceKind::kRegion}) {
      compiler::PipelineOptions options;
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
  compiler::PipelineOptions options;
  options.dependences = passes::DependenceKind::kPhase;
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
  const SimulateResult result = cantFail(simulate(schedule.view(), machine, {.bytes = 100}));
  expectClose(result.makespan_s, 4 * (2 + 20));
  EXPECT_EQ(result.nodes, 5u);
  EXPECT_EQ(result.steps, 4u);
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
  compiler::PipelineOptions options;
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

// The receive waits for a copy of 4 seconds, the message takes 3.
TEST(Simulator, EagerMessagesDoNotWaitForTheirReceive) {
  const Schedule schedule = oneStream("X=3", R"(
      %0 = send in[p0, (x)] to X+1
      %1 = copy out[p0, (x)] = in[p0, (x)]
      %2 = recv out[p0, (x-1)] from X-1 after %1
      )");
  Machine machine = unitMachine(schedule.topology);
  machine.memory_bandwidth = 1.5;
  expectClose(makespan(schedule, machine, 9), 4 + 3);
  machine.eager = 3;
  expectClose(makespan(schedule, machine, 9), 4);
  machine.eager = 2.9;
  expectClose(makespan(schedule, machine, 9), 4 + 3);
}

/// No node receives before what it sends is over.
Schedule sendsBeforeReceiving() {
  return oneStream("X=3", R"(
      %0 = send in[p0, (x)] to X+1
      %1 = copy out[p0, (x)] = in[p0, (x)] after %0
      %2 = recv out[p0, (x-1)] from X-1 after %1
      )");
}

// The receive is ready after the copy of 4 seconds, which waits for the send; the message takes 3.
TEST(Simulator, BufferedSendsAreOverBeforeTheirDataGo) {
  const Schedule schedule = sendsBeforeReceiving();
  Machine machine = unitMachine(schedule.topology);
  machine.memory_bandwidth = 1.5;
  EXPECT_EQ(simulationError(schedule, machine).substr(0, 8), "deadlock");
  machine.buffered = 3;
  const SimulateResult buffered =
      cantFail(simulate(schedule.view(), machine, {.bytes = 9, .critical_path = true}));
  expectClose(buffered.makespan_s, 4 + 3);
  ASSERT_EQ(buffered.critical_path.size(), 3U);
  EXPECT_EQ(buffered.critical_path.back().waited_for, WaitedFor::kDependence);
  expectClose(buffered.critical_path.back().start_s, 4);
  machine.eager = 3;
  expectClose(makespan(schedule, machine, 9), 4);
}

// The same send is waited for: synchronous, it is not over before its receive, which never comes.
TEST(Simulator, SynchronousSendsWaitForTheirReceive) {
  Schedule schedule = sendsBeforeReceiving();
  schedule.flags |= kSynchronousSends;
  Machine machine = unitMachine(schedule.topology);
  machine.eager = machine.buffered = 3;
  EXPECT_EQ(simulationError(schedule, machine).substr(0, 8), "deadlock");
}

// The root's segments leave one after the other. Buffered they all share its links, and arrive
// together; synchronous they follow one another as if nothing were buffered.
TEST(Simulator, SynchronousSendsKeepTheirOrderOnALink) {
  Schedule schedule = compiled(Collective::kBroadcast, "5x5", {.chunks = 16}, "rectangular");
  Machine machine = unitMachine(schedule.topology);
  const double rendezvous = makespan(schedule, machine, 1000);
  machine.buffered = 1000;
  const double buffered = makespan(schedule, machine, 1000);
  EXPECT_GT(buffered, 1.3 * rendezvous);
  schedule.flags |= kSynchronousSends;
  EXPECT_NEAR(makespan(schedule, machine, 1000), rendezvous, 0.02 * rendezvous);
}

// Both cores of a node send a message of half the vector to their like on the other one, over a
// link each way.
TEST(Simulator, MessagesOfANodeGoThroughItsInterfaceOneByOne) {
  const Schedule schedule = allgatherOf("X=2 mesh, T=2 cores", R"(
    color 0 weight 1/1 order XT directions 1 chunks 1
    stream 0 of p0
    phase 0 {
      stream 0 {
        %0 = send in[p0, (0, 0)] to X+1 when x = 0, t = 0
        %1 = recv out[p0, (0, 0)] from X-1 when x = 1, t = 0
        %2 = send in[p0, (0, 1)] to X+1 when x = 0, t = 1
        %3 = recv out[p0, (0, 1)] from X-1 when x = 1, t = 1
      }
    })");
  Machine machine = unitMachine(schedule.topology);
  expectClose(makespan(schedule, machine, 400), 200);  // they share the link
  // The second one begins when the first one has been under way for 30, and the link is never idle.
  machine.message_gap = 30;
  expectClose(makespan(schedule, machine, 400), 30 + 200);
  machine.message_gap = 150;
  expectClose(makespan(schedule, machine, 400), 2 * 150 + 100);
  // A core copies 100 bytes, then its node's interface sends.
  machine.injection = 0.5;
  expectClose(makespan(schedule, machine, 400), 200 + 2 * 150 + 100);
  const SimulateResult result =
      cantFail(simulate(schedule.view(), machine, {.bytes = 400, .critical_path = true}));
  ASSERT_EQ(result.critical_path.size(), 2u);
  EXPECT_EQ(result.critical_path[0].end_s, 200 + 150);
  EXPECT_EQ(result.critical_path[1].waited_for, WaitedFor::kInterface);
  EXPECT_EQ(result.critical_path[1].start_s, 200 + 150);
}

// Messages between the cores of a node take neither.
TEST(Simulator, NoInterfaceInsideANode) {
  const Schedule schedule = compiled(Collective::kAllgather, "1+4");
  Machine machine = unitMachine(schedule.topology);
  const double time = makespan(schedule, machine, 400);
  machine.message_gap = 30;
  machine.injection = 0.5;
  expectClose(makespan(schedule, machine, 400), time);
}

// Node 1 copies between receiving and sending on, the others skip that: the message that they send
// on waits for the one before all the same.
TEST(Simulator, DependencesPassThroughWhatANodeSkips) {
  const Schedule passing = oneStream("X=3", R"(
      %0 = send in[p0, (x)] to X+1
      %1 = recv out[p0, (x-1)] from X-1
      %2 = copy out[p0, (x)] = in[p0, (x)] after %1 when x = 1
      %3 = send out[p0, (x-1)] to X+1 after %2
      %4 = recv out[p0, (x-2)] from X-1
      )");
  Machine machine = unitMachine(passing.topology);
  expectClose(makespan(passing, machine, 9), 3 + 3);
  machine.memory_bandwidth = 1.5;  // the copy takes 4
  expectClose(makespan(passing, machine, 9), 3 + 4 + 3);
}

// On a ring where everybody receives before it sends nothing ever starts.
TEST(Simulator, NamesWhereADeadlockIs) {
  const Schedule schedule = oneStream("X=3", R"(
      %0 = copy out[p0, (x)] = in[p0, (x)]
      %1 = recv out[p0, (x-1)] from X-1 after %0
      %2 = send in[p0, (x)] to X+1 after %1
      )");
  EXPECT_EQ(simulationError(schedule, unitMachine(schedule.topology)),
            "deadlock: 2 operations never complete, the first is operation 1 on rank 0");
}

TEST(Simulator, EmptyVectorsTakeTheirStartUps) {
  const Schedule schedule = compiled(Collective::kAllreduce, "4");
  Machine machine = unitMachine(schedule.topology);
  machine.alpha = 1;
  expectClose(makespan(schedule, machine, 0), 6);
  // Empty blocks are not sent.
  EXPECT_EQ(cantFail(simulate(schedule.view(), machine, {.per_rank = true})).makespan_s, 0);
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
  const Schedule unsent = oneStream("X=4", R"(
      %0 = recv out[p0, (x-1)] from X-1
      )");
  EXPECT_EQ(simulationError(unsent, unitMachine(unsent.topology)),
            "operation 0 on rank 0 receives what no peer sends");
  const Schedule unreceived = oneStream("X=4", R"(
      %0 = send in[p0, (x)] to X+1 when x = 2
      )");
  EXPECT_EQ(simulationError(unreceived, unitMachine(unreceived.topology)),
            "operation 0 on rank 2 sends what its peer does not receive");
  std::string body;
  for (int i = 0; i < 11; ++i)
    body += "\n      %" + std::to_string(i) + " = copy out[p0, (x)] = in[p0, (x)]";
  const Schedule large = oneStream("X=2000000 mesh", body + " when x = 0\n");
  EXPECT_EQ(simulationError(large, unitMachine(large.topology)),
            "too large to simulate: 2000000 nodes that differ, with up to 11 operations each");
  // Refused before anything is laid out.
  const Schedule vast = oneStream("X=2000000000", body + "\n");
  llvm::Expected<SimulateResult> result =
      simulate(vast.view(), unitMachine(vast.topology), {.per_rank = true});
  ASSERT_FALSE(result);
  EXPECT_EQ(llvm::toString(result.takeError()).substr(0, 50),
            "too large to simulate: 2000000000 nodes that diffe");
}

}  // namespace
}  // namespace torc::model
