// Schedules in segments: the time of a pipeline follows its formula, and extrapolated segments take
// as long as simulated ones.
#include "ir/segments/segments.h"

#include <gtest/gtest.h>

#include "model/simulator/simulator.h"
#include "tests/model/model_testing.h"

namespace torc::model {
namespace {

using enum Collective;

// (A + S) (alpha + n beta / (2 N S)), A = sum of d_i - 1; one less on one axis, where no tree goes
// round it.
TEST(SimulateSegments, TakeTheTimeOfAPipeline) {
  for (const auto& [shape, trees, hops] :
       {std::tuple{"5", 2, 3}, {"4x3", 4, 5}, {"3x3x3", 6, 6}, {"2x2x4", 6, 5}}) {
    for (const std::uint32_t segments : {1u, 10u}) {
      const Schedule schedule = compiled(kBroadcast, shape, {.chunks = segments}, "rectangular");
      Machine machine = unitMachine(schedule.topology);
      machine.alpha = 0.5;
      expectClose(makespan(schedule, machine, 1200),
                  (hops + segments) * (0.5 + 1200.0 / (trees * segments)));
    }
  }
}

/// Beside the bandwidth of links, which is 1.
struct Costs {
  double alpha = 0.5, overhead = 0, gamma = 0, buffered = 0;
};

/// `close` and `close_links`: relative, of the makespan and of the time that links are busy.
/// `least_saved` to `most_saved`: how many times the operations of all segments are those that are
/// simulated. `preset`: in place of the unit machine with costs.
void expectAsWrittenOut(Collective collective, const Topology& topology, const char* algorithm,
                        std::uint32_t segments, std::uint32_t in_flight,
                        const SimulateOptions& simulated, const Costs& costs = {},
                        double close = 1e-9, double close_links = 1e-9, double least_saved = 1,
                        double most_saved = 1, const char* preset = nullptr,
                        bool synchronous_sends = false) {
  SCOPED_TRACE(std::string(algorithm) + " on " + topology.shape() + ", " +
               std::to_string(simulated.bytes));
  compiler::PipelineOptions options{.in_flight = in_flight, .synchronous_sends = synchronous_sends};
  (llvm::StringRef(algorithm) == "bucket" ? options.segments : options.chunks) = segments;
  const Schedule schedule = compiled(collective, topology, options, algorithm);
  Machine machine = unitMachine(schedule.topology);
  if (preset != nullptr) {
    machine = cantFail(partitionOf(cantFail(findMachine(preset)), topology.shape()));
  } else {
    machine.alpha = costs.alpha;
    machine.overhead = costs.overhead;
    machine.gamma = costs.gamma;
    machine.buffered = costs.buffered;
  }
  const SimulateResult some = cantFail(simulate(schedule.view(), machine, simulated));
  const Schedule unrolled = ir::unrollSegments(schedule.view(), schedule.segments);
  const SimulateResult all = cantFail(simulate(unrolled.view(), machine, simulated));
  EXPECT_GT(all.makespan_s, 0);
  EXPECT_NEAR(some.makespan_s, all.makespan_s, close * all.makespan_s);
  EXPECT_EQ(some.messages, all.messages);
  const double saved = static_cast<double>(all.operations) / static_cast<double>(some.operations);
  EXPECT_GE(saved, least_saved);
  EXPECT_LE(saved, most_saved);
  if (most_saved == 1) {
    EXPECT_EQ(some.critical_path.size(), all.critical_path.size());
  }
  ASSERT_EQ(some.links.size(), all.links.size());
  for (std::size_t i = 0; i < some.links.size(); ++i) {
    EXPECT_NEAR(some.links[i].bytes, all.links[i].bytes, 1e-6 + 1e-9 * all.links[i].bytes);
    EXPECT_NEAR(some.links[i].busy_s, all.links[i].busy_s, close_links * all.links[i].busy_s);
    EXPECT_DOUBLE_EQ(some.links[i].idle_s, some.makespan_s - some.links[i].busy_s);
  }
}

// Events and critical path go to the end of what was predicted, without a gap but the segments that
// were continued; the last events are those of all segments.
TEST(SimulateSegments, EventsGoToTheEnd) {
  for (const auto& [collective, shape, algorithm, segments] :
       {std::tuple{kBroadcast, "8x8x8", "rectangular", 2700},
        {kReduce, "4x4x4", "rectangular", 900},
        {kAllreduce, "4x3x2", "bucket", 600},
        {kAllreduce, "1000x2", "bucket", 50},
        {kBroadcast, "8x4m", "product-trees", 1000},
        {kScatter, "5x4", "scatter-trees", 800}}) {
    SCOPED_TRACE(std::string(shape) + " " + algorithm);
    compiler::PipelineOptions options;
    (llvm::StringRef(algorithm) == "bucket" ? options.segments : options.chunks) = segments;
    const Topology topology = *parseTopology(shape);
    const Schedule schedule = compiled(collective, topology, options, algorithm);
    const Machine machine = cantFail(partitionOf(cantFail(findMachine("bgp")), shape));
    for (const bool per_rank : {false, true}) {
      if (per_rank && topology.ranks() > 100) continue;
      const SimulateResult result = cantFail(
          simulate(schedule.view(), machine,
                   {.bytes = 6.4e7, .per_rank = per_rank, .critical_path = true, .events = true}));
      const ContinuedSegments& continued = result.continued;
      EXPECT_GT(continued.count, 0U);
      double end_s = 0;
      std::uint32_t last = 0;
      for (const SimulatedEvent& event : result.events) {
        end_s = std::max(end_s, event.end_s);
        last = std::max(last, event.segment);
        EXPECT_TRUE(event.segment < continued.first ||
                    event.segment >= continued.first + continued.count);
      }
      EXPECT_NEAR(end_s, result.makespan_s, 1e-9 * result.makespan_s);
      EXPECT_EQ(last + 1, schedule.segments);
      double before_s = 0;
      for (const CriticalStep& step : result.critical_path) {
        EXPECT_NEAR(step.start_s, before_s, 1e-9 * result.makespan_s);
        before_s = step.end_s;
      }
      EXPECT_NEAR(before_s, result.makespan_s, 1e-9 * result.makespan_s);
      EXPECT_EQ(llvm::count_if(result.critical_path,
                               [](const CriticalStep& step) { return step.operation == kNone; }),
                1);
    }
  }
}

Topology withDeadNode(std::string_view shape) {
  Topology topology = *parseTopology(shape);
  EXPECT_TRUE(topology.addDeadNode({1, 2, 1}).ok());
  return topology;
}

// Links are shared, nodes differ, and segments wait for earlier ones. Shares of the
// vector are rounded in another order.
TEST(SimulateSegments, FewAreSimulatedAsTheyAreWrittenOut) {
  for (const auto& [collective, shape, algorithm] :
       {std::tuple{kBroadcast, "4x3m", "product-trees"},
        {kReduce, "3x2x2", "rectangular"},
        {kAllreduce, "4x4", "bucket"},
        {kAllreduce, "5mx2", "bucket"},
        {kReduceScatter, "8x2", "bucket"},
        {kAllgather, "3x4", "bucket"}})
    expectAsWrittenOut(collective, *parseTopology(shape), algorithm, 7, 0,
                       {.bytes = 1300, .critical_path = true}, {.overhead = 0.125});
}

// Each rank's messages have the elements that its flat program has, which differ by segment: of
// short vectors some have none.
TEST(SimulateSegments, RanksHaveTheElementsOfTheirPrograms) {
  for (const auto& [collective, topology, algorithm] :
       {std::tuple{kBroadcast, *parseTopology("4x3m"), "product-trees"},
        {kReduce, *parseTopology("3x2x2"), "rectangular"},
        {kScan, *parseTopology("4x3"), "line-scan"},
        {kScatter, *parseTopology("3x3"), "scatter-trees"},
        {kAllreduce, *parseTopology("5mx2"), "bucket"},
        {kAllreduce, withDeadNode("4x3x2"), "closed-trees"}}) {
    for (const double elements : {60.0, 997.0, 4321.0})
      expectAsWrittenOut(collective, topology, algorithm, 7, 0,
                         {.bytes = 4 * elements, .per_rank = true, .critical_path = true},
                         {.gamma = 0.25});
  }
  expectAsWrittenOut(kBroadcast, *parseTopology("4x4"), "rectangular", 500, 0,
                     {.bytes = 40, .per_rank = true, .critical_path = true});
}

TEST(SimulateSegments, ManyTakeAsLongAsTheyDoOneByOne) {
  for (const Collective collective : {kBroadcast, kReduce})
    expectAsWrittenOut(collective, *parseTopology("5x5x5"), "rectangular", 240, 0, {.bytes = 36000},
                       {.overhead = 0.125}, 0.001, 0.01, 1.01, 240);
  // Segments that go up the trees share links with those that come down, but for the first.
  expectAsWrittenOut(kAllreduce, withDeadNode("5x4x3"), "closed-trees", 300, 0, {.bytes = 36000},
                     {}, 0.01, 0.02, 4, 300);
}

// A few of those that follow one another in even time stand for all, but only where the first of
// them is through while later ones begin, and none are buffered ahead.
TEST(SimulateSegments, InEvenTimeAFewStandForAll) {
  for (const auto& [collective, shape, algorithm, in_flight] :
       {std::tuple{kBroadcast, "5x5x5", "rectangular", 0u},
        {kReduce, "4x4", "rectangular", 2u},
        {kScan, "4x4", "line-scan", 0u},
        {kScan, "4x3x2", "line-scan", 2u}})
    expectAsWrittenOut(collective, *parseTopology(shape), algorithm, 300, in_flight,
                       {.bytes = 3600}, {}, 1e-9, 0.02, 7, 300);
  expectAsWrittenOut(kScan, *parseTopology("4x4"), "line-scan", 300, 2, {.bytes = 3600},
                     {.buffered = 1e6}, 0.01, 1, 1.01, 6.9);
}

// On a long ring the first segments follow in even time until there are as many as fill it. Where
// rings have no window but for one message on a link, the beginnings of all segments come first. On
// a line the window makes itself felt late. Buffered
// messages go ahead until no more is posted. A scatter's later segments begin before the first
// ends. The first of trees with a window follow faster than links carry them.
TEST(SimulateSegments, EvenTimeAtFirstIsNotEnough) {
  for (const auto& [collective, shape, algorithm, segments, in_flight, bytes, close, preset] :
       {std::tuple{kBroadcast, "64", "rectangular", 342u, 0u, 1 << 20, 1e-4, "bgp"},
        {kAllgather, "8x8", "bucket", 100u, 1u, 64 << 20, 1e-3, "bgl"},
        {kScan, "8", "line-scan", 300u, 0u, 64 << 20, 1e-4, "bgp"},
        {kBroadcast, "3x3x3", "rectangular", 373u, 2u, 1 << 20, 0.03, "smpi"},
        {kScatter, "4x4", "scatter-trees", 100u, 2u, 9000 << 10, 0.01, "bgl"},
        {kBroadcast, "8x8", "rectangular", 354u, 2u, 8 << 20, 0.03, "bgp"},
        {kBroadcast, "8x8x4", "rectangular", 39u, 2u, 1 << 20, 0.03, "bgp"}})
    expectAsWrittenOut(collective, *parseTopology(shape), algorithm, segments, in_flight,
                       {.bytes = static_cast<double>(bytes)}, {}, close, 1, 1,
                       static_cast<double>(segments), preset, llvm::StringRef(preset) == "smpi");
}

// A window of rings goes on in turns: what is taken as the time of one more segment is that of a
// whole number of windows.
TEST(SimulateSegments, OfRingsTheyGoOnInWindows) {
  for (const auto& [shape, in_flight] : {std::pair("8", 4u), {"8", 20u}, {"10m", 4u}, {"4x4", 8u}})
    expectAsWrittenOut(kReduceScatter, *parseTopology(shape), "bucket", 300, in_flight,
                       {.bytes = 300000}, {.alpha = 3}, 0.002, 1, 1.01, 300);
}

// One rank has nothing to do in an exscan.
TEST(SimulateSegments, NothingTakesNoTime) {
  const Schedule schedule = compiled(kExscan, "1", {.chunks = 4}, "line-scan");
  const SimulateResult result =
      cantFail(simulate(schedule.view(), unitMachine(schedule.topology), {}));
  EXPECT_EQ(result.makespan_s, 0);
  EXPECT_EQ(result.messages, 0u);
}

}  // namespace
}  // namespace torc::model
