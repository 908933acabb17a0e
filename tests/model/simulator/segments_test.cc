// Schedules in segments: a pipeline takes what its formula says, and what is not simulated takes as
// long as what is.
#include "ir/segments/segments.h"

#include <gtest/gtest.h>

#include "compiler/algorithms/algorithm.h"
#include "compiler/compile.h"
#include "model/simulator/simulator.h"
#include "tests/model/model_testing.h"

namespace torc::model {
namespace {

Schedule segmented(Collective collective, const std::string& shape, std::uint32_t segments) {
  compiler::PipelineOptions options;
  options.chunks = segments;
  return compiled(collective, shape, options, "rectangular");
}

// (A + S) (alpha + n beta / (2 N S)), A = sum of d_i - 1; one less on one axis, where no tree goes
// round it.
TEST(SimulateSegments, TakeTheTimeOfAPipeline) {
  for (const auto& [shape, trees, hops] :
       {std::tuple{"5", 2, 3}, {"4x3", 4, 5}, {"3x3x3", 6, 6}, {"2x2x4", 6, 5}}) {
    for (const std::uint32_t segments : {1u, 10u}) {
      const Schedule schedule = segmented(Collective::kBroadcast, shape, segments);
      Machine machine = unitMachine(schedule.topology);
      machine.alpha = 0.5;
      expectClose(makespan(schedule, machine, 1200),
                  (hops + segments) * (0.5 + 1200.0 / (trees * segments)));
    }
  }
}

// Links are shared, nodes differ, and segments wait for earlier ones. Shares of the
// vector are rounded in another order.
TEST(SimulateSegments, FewAreSimulatedAsTheyAreWrittenOut) {
  using enum Collective;
  for (const auto& [collective, shape, algorithm] :
       {std::tuple{kBroadcast, "4x3m", "product-trees"},
        {kReduce, "3x2x2", "rectangular"},
        {kAllreduce, "4x4", "bucket"},
        {kAllreduce, "5mx2", "bucket"},
        {kReduceScatter, "8x2", "bucket"},
        {kAllgather, "3x4", "bucket"}}) {
    SCOPED_TRACE(std::string(algorithm) + " on " + shape);
    compiler::PipelineOptions options;
    const bool rings = llvm::StringRef(algorithm) == "bucket";
    (rings ? options.segments : options.chunks) = 7;
    const Schedule schedule = compiled(collective, shape, options, algorithm);
    ASSERT_EQ(schedule.segments, 7u);
    Machine machine = unitMachine(schedule.topology);
    machine.alpha = 0.5;
    machine.overhead = 0.125;
    SimulateOptions simulated;
    simulated.bytes = 1300;
    simulated.critical_path = true;
    const SimulateResult one = cantFail(simulate(schedule.view(), machine, simulated));
    const Schedule unrolled = ir::unrollSegments(schedule.view(), 7);
    const SimulateResult other = cantFail(simulate(unrolled.view(), machine, simulated));
    EXPECT_NEAR(one.makespan_s, other.makespan_s, 1e-12 * other.makespan_s);
    EXPECT_EQ(one.operations, other.operations);
    EXPECT_EQ(one.messages, other.messages);
    EXPECT_EQ(one.critical_path.size(), other.critical_path.size());
    ASSERT_EQ(one.links.size(), other.links.size());
    for (std::size_t i = 0; i < one.links.size(); ++i)
      EXPECT_NEAR(one.links[i].busy_s, other.links[i].busy_s, 1e-12 * other.links[i].busy_s);
  }
}

// Each rank's messages have the elements that its flat program has, which differ by segment.
TEST(SimulateSegments, RanksHaveTheElementsOfTheirPrograms) {
  using enum Collective;
  Topology damaged = *parseTopology("4x3x2");
  ASSERT_TRUE(damaged.addDeadNode({1, 2, 1}).ok());
  for (const auto& [collective, topology, algorithm] :
       {std::tuple{kBroadcast, *parseTopology("4x3m"), "product-trees"},
        {kReduce, *parseTopology("3x2x2"), "rectangular"},
        {kScan, *parseTopology("4x3"), "line-scan"},
        {kScatter, *parseTopology("3x3"), "scatter-trees"},
        {kAllreduce, *parseTopology("5mx2"), "bucket"},
        {kAllreduce, damaged, "closed-trees"}}) {
    SCOPED_TRACE(std::string(algorithm) + " on " + topology.shape());
    compiler::PipelineOptions options;
    const bool rings = llvm::StringRef(algorithm) == "bucket";
    (rings ? options.segments : options.chunks) = 7;
    const compiler::Algorithm& found = *cantFail(compiler::findAlgorithm(algorithm));
    const Schedule schedule = cantFail(compiler::compile({collective, topology}, found,
                                                         compiler::pipelineOf(found, options),
                                                         passes::PassManagerOptions()))
                                  .schedule;
    ASSERT_EQ(schedule.segments, 7u);
    Machine machine = unitMachine(topology);
    machine.alpha = 0.5;
    machine.gamma = 0.25;
    SimulateOptions simulated;
    simulated.per_rank = true;
    simulated.critical_path = true;
    for (const double elements : {60.0, 997.0, 4321.0}) {  // of the first some messages have none
      simulated.bytes = 4 * elements;
      const SimulateResult one = cantFail(simulate(schedule.view(), machine, simulated));
      const Schedule unrolled = ir::unrollSegments(schedule.view(), 7);
      const SimulateResult other = cantFail(simulate(unrolled.view(), machine, simulated));
      EXPECT_NEAR(one.makespan_s, other.makespan_s, 1e-9 * other.makespan_s) << elements;
      EXPECT_EQ(one.messages, other.messages) << elements;
      ASSERT_EQ(one.links.size(), other.links.size());
      for (std::size_t i = 0; i < one.links.size(); ++i)
        EXPECT_NEAR(one.links[i].bytes, other.links[i].bytes, 1e-6) << elements;
    }
  }
}

TEST(SimulateSegments, ManyTakeAsLongAsTheyDoOneByOne) {
  constexpr std::uint32_t kSegments = 240;
  for (const Collective collective : {Collective::kBroadcast, Collective::kReduce}) {
    const Schedule schedule = segmented(collective, "5x5x5", kSegments);
    Machine machine = unitMachine(schedule.topology);
    machine.alpha = 0.5;
    machine.overhead = 0.125;
    SimulateOptions options;
    options.bytes = 36000;
    const SimulateResult some = cantFail(simulate(schedule.view(), machine, options));
    const SimulateResult all =
        cantFail(simulate(ir::unrollSegments(schedule.view(), kSegments).view(), machine, options));
    EXPECT_LT(some.operations, all.operations);
    EXPECT_NEAR(some.makespan_s, all.makespan_s, 0.001 * all.makespan_s);
    EXPECT_EQ(some.messages, all.messages);
    ASSERT_EQ(some.links.size(), all.links.size());
    for (std::size_t i = 0; i < some.links.size(); ++i) {
      EXPECT_NEAR(some.links[i].bytes, all.links[i].bytes, 1e-6);
      EXPECT_NEAR(some.links[i].busy_s, all.links[i].busy_s, 0.01 * all.links[i].busy_s);
    }
  }
}

// A few of those that follow one another in even time stand for all, but only where the first of
// them is through while later ones begin, and none are buffered ahead.
TEST(SimulateSegments, InEvenTimeAFewStandForAll) {
  struct Case {
    Collective collective;
    const char* shape;
    const char* algorithm;
    std::uint32_t in_flight;
    double buffered;
    bool is_even;
  };
  using enum Collective;
  for (const auto& [collective, shape, algorithm, in_flight, buffered, is_even] :
       {Case{kBroadcast, "5x5x5", "rectangular", 1, 0, true},
        Case{kReduce, "4x4", "rectangular", 2, 0, true},
        Case{kScan, "4x4", "line-scan", 1, 0, true}, Case{kScan, "4x3x2", "line-scan", 2, 0, true},
        Case{kScan, "4x4", "line-scan", 2, 1e6, false}}) {
    SCOPED_TRACE(std::string(algorithm) + " on " + shape);
    compiler::PipelineOptions pipeline;
    pipeline.chunks = 300;
    pipeline.in_flight = in_flight > 1 ? in_flight : 0;
    const Schedule schedule = compiled(collective, shape, pipeline, algorithm);
    Machine machine = unitMachine(schedule.topology);
    machine.alpha = 0.5;
    machine.buffered = buffered;
    SimulateOptions options;
    options.bytes = 3600;
    const SimulateResult some = cantFail(simulate(schedule.view(), machine, options));
    const Schedule unrolled = ir::unrollSegments(schedule.view(), schedule.segments);
    const SimulateResult all = cantFail(simulate(unrolled.view(), machine, options));
    EXPECT_EQ(all.operations / some.operations >= 7, is_even) << some.operations;
    EXPECT_NEAR(some.makespan_s, all.makespan_s, (is_even ? 1e-9 : 0.01) * all.makespan_s);
    EXPECT_EQ(some.messages, all.messages);
    if (!is_even) continue;
    EXPECT_EQ(some.steps, all.steps);
    ASSERT_EQ(some.links.size(), all.links.size());
    for (std::size_t i = 0; i < some.links.size(); ++i) {
      EXPECT_NEAR(some.links[i].bytes, all.links[i].bytes, 1e-6);
      EXPECT_NEAR(some.links[i].busy_s, all.links[i].busy_s, 0.02 * all.links[i].busy_s);
    }
  }
}

// On a long ring the first segments follow in even time until there are as many as fill it. Where
// rings have no window but for one message on a link, the beginnings of all segments come first. On
// a line the window makes itself felt late. What is buffered goes ahead until no more is posted.
TEST(SimulateSegments, EvenTimeAtFirstIsNotEnough) {
  using enum Collective;
  struct Case {
    const char* machine;
    Collective collective;
    const char* shape;
    const char* algorithm;
    std::uint32_t segments, in_flight;
    double bytes;
    bool synchronous;
    double close;
  };
  for (const Case& one :
       {Case{"bgp", kBroadcast, "64", "rectangular", 342, 0, 1 << 20, false, 1e-4},
        Case{"bgl", kAllgather, "8x8", "bucket", 100, 1, 64 << 20, false, 1e-3},
        Case{"bgp", kScan, "8", "line-scan", 300, 0, 64 << 20, false, 1e-4},
        Case{"smpi", kBroadcast, "3x3x3", "rectangular", 373, 2, 1 << 20, true, 0.03}}) {
    SCOPED_TRACE(std::string(one.machine) + " " + one.shape);
    const Machine machine = cantFail(partitionOf(cantFail(findMachine(one.machine)), one.shape));
    compiler::PipelineOptions pipeline;
    (one.collective == kAllgather ? pipeline.segments : pipeline.chunks) = one.segments;
    pipeline.in_flight = one.in_flight;
    pipeline.synchronous_sends = one.synchronous;
    const Schedule schedule = compiled(one.collective, one.shape, pipeline, one.algorithm);
    SimulateOptions options;
    options.bytes = one.bytes;
    const SimulateResult some = cantFail(simulate(schedule.view(), machine, options));
    const Schedule unrolled = ir::unrollSegments(schedule.view(), schedule.segments);
    const SimulateResult all = cantFail(simulate(unrolled.view(), machine, options));
    EXPECT_NEAR(some.makespan_s, all.makespan_s, one.close * all.makespan_s);
  }
}

// A window of rings goes on in turns: what is taken as the time of one more segment is that of a
// whole number of windows.
TEST(SimulateSegments, OfRingsTheyGoOnInWindows) {
  for (const auto& [shape, in_flight] :
       {std::pair("8", 4u), {"8", 20u}, {"10m", 4u}, {"4x4", 8u}}) {
    SCOPED_TRACE(shape);
    compiler::PipelineOptions options;
    options.segments = 300;
    options.in_flight = in_flight;
    const Schedule schedule = compiled(Collective::kReduceScatter, shape, options, "bucket");
    Machine machine = unitMachine(schedule.topology);
    machine.alpha = 3;
    SimulateOptions simulated;
    simulated.bytes = 300000;
    const SimulateResult some = cantFail(simulate(schedule.view(), machine, simulated));
    const Schedule unrolled = ir::unrollSegments(schedule.view(), 300);
    const SimulateResult all = cantFail(simulate(unrolled.view(), machine, simulated));
    EXPECT_LT(some.operations, all.operations);
    EXPECT_NEAR(some.makespan_s, all.makespan_s, 0.002 * all.makespan_s);
  }
}

// Of a vector with fewer elements than segments some segments have none.
TEST(SimulateSegments, RanksOfAShortVectorAreAllSimulated) {
  const Schedule schedule = segmented(Collective::kBroadcast, "4x4", 500);
  Machine machine = unitMachine(schedule.topology);
  machine.alpha = 1;
  SimulateOptions options;
  options.per_rank = true;
  options.bytes = 40;
  const SimulateResult one = cantFail(simulate(schedule.view(), machine, options));
  const SimulateResult other =
      cantFail(simulate(ir::unrollSegments(schedule.view(), 500).view(), machine, options));
  EXPECT_GT(other.makespan_s, 0);
  EXPECT_EQ(one.makespan_s, other.makespan_s);
}

// What goes up the trees shares links with what comes down them, but for the first segments.
TEST(SimulateSegments, APipelineOfTwoPhasesIsFilledFirst) {
  Topology topology = *parseTopology("5x4x3");
  ASSERT_TRUE(topology.addDeadNode({1, 2, 1}).ok());
  const compiler::Algorithm& algorithm = *cantFail(compiler::findAlgorithm("closed-trees"));
  compiler::PipelineOptions options;
  options.chunks = 300;
  const Schedule schedule =
      cantFail(compiler::compile({Collective::kAllreduce, topology}, algorithm,
                                 compiler::pipelineOf(algorithm, options),
                                 passes::PassManagerOptions()))
          .schedule;
  Machine machine = unitMachine(topology);
  machine.alpha = 0.5;
  SimulateOptions simulated;
  simulated.bytes = 36000;
  const SimulateResult some = cantFail(simulate(schedule.view(), machine, simulated));
  const SimulateResult all =
      cantFail(simulate(ir::unrollSegments(schedule.view(), 300).view(), machine, simulated));
  EXPECT_LT(some.operations, all.operations / 4);
  EXPECT_NEAR(some.makespan_s, all.makespan_s, 0.01 * all.makespan_s);
}

// One rank has nothing to do in an exscan.
TEST(SimulateSegments, NothingTakesNoTime) {
  const Topology topology = *parseTopology("1");
  const compiler::Algorithm& algorithm = *cantFail(compiler::findAlgorithm("line-scan"));
  compiler::PipelineOptions options;
  options.chunks = 4;
  const Schedule schedule = cantFail(compiler::compile({Collective::kExscan, topology}, algorithm,
                                                       compiler::pipelineOf(algorithm, options),
                                                       passes::PassManagerOptions()))
                                .schedule;
  const SimulateResult result = cantFail(simulate(schedule.view(), unitMachine(topology), {}));
  EXPECT_EQ(result.makespan_s, 0);
  EXPECT_EQ(result.messages, 0u);
}

}  // namespace
}  // namespace torc::model
