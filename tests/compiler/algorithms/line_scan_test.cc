// The line scan: proved and run on shapes of one to five axes, in one segment and in many; every
// rank's prefix is that of the ranks before it, in their order; as many operations on any length.
#include "compiler/algorithms/scan/line_scan.h"

#include <algorithm>
#include <map>
#include <string>

#include <gtest/gtest.h>
#include <llvm/Support/Error.h>

#include "ir/counted/counted_proof.h"
#include "ir/verifier/verifier.h"
#include "schedules/expansion/expand.h"
#include "tests/compiler/algorithms/damaged_topology.h"
#include "tests/compiler/algorithms/ordered_checks.h"
#include "tests/compiler/algorithms/rooted_checks.h"

namespace torc::compiler {
namespace {

class LineScan : public testing::TestWithParam<const char*> {
 protected:
  static Schedule compiled(Collective collective, std::uint32_t segments,
                           const std::string& order = "") {
    return compiledInSegments("line-scan", collective, *parseTopology(GetParam(), order), segments);
  }
};

TEST_P(LineScan, IsProvedAndRuns) {
  for (const Collective collective : {Collective::kScan, Collective::kExscan}) {
    for (const std::uint32_t segments : {1u, 3u, 20u})
      expectProofAndRuns(compiled(collective, segments).view());
  }
}

TEST_P(LineScan, IsProvedForACount) {
  for (const Collective collective : {Collective::kScan, Collective::kExscan}) {
    const Schedule schedule = compiled(collective, 4);
    const StatusOr<ir::CountedResult> result = ir::proveCounted(schedule.view(), 13);
    ASSERT_TRUE(result.ok()) << result.status().message();
    EXPECT_EQ(result->fault, "");
  }
}

TEST_P(LineScan, AddsRanksInTheirOrder) {
  std::string names(parseTopology(GetParam())->orderString());
  for (int turn = 0; turn < 2; ++turn, std::ranges::reverse(names)) {
    for (const std::uint32_t segments : {1u, 3u}) {
      expectRanksInOrder(compiled(Collective::kScan, segments, names),
                         [](std::int32_t rank) { return rank + 1; });
      expectRanksInOrder(compiled(Collective::kExscan, segments, names),
                         [](std::int32_t rank) { return rank; });
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, LineScan,
                         testing::Values("1", "2", "3", "7m", "2x2", "4x3", "2mx5+3", "3x1x4",
                                         "4x2mx3", "3x2x2x2x2"));

// A link carries the vector once each way at most, whatever the number of segments.
TEST(LineScans, PutTheVectorOnALinkOnce) {
  const Topology topology = *parseTopology("5x4x3");
  for (const Collective collective : {Collective::kScan, Collective::kExscan}) {
    const Schedule schedule = compiledInSegments("line-scan", collective, topology, 6);
    for (std::int32_t rank = 0; rank < 60; ++rank) {
      const FlatProgram program = *expand(schedule.view(), rank, {6, {}, {}});
      std::map<std::int32_t, std::uint64_t> to;  // elements by peer
      for (const FlatOperation& operation : program.operations) {
        if (sends(operation.kind)) to[operation.peer] += operation.a.elements;
      }
      for (const auto& [peer, elements] : to)
        EXPECT_EQ(elements, 6u) << rank << " to " << peer;
    }
  }
}

TEST(LineScans, AreAsLongOnAnyLengthAndProvedAsQuickly) {
  for (const Collective collective : {Collective::kScan, Collective::kExscan}) {
    const Schedule small = compiledInSegments("line-scan", collective, *parseTopology("4x4x4"), 16);
    const Schedule large =
        compiledInSegments("line-scan", collective, *parseTopology("64x32x32"), 16);
    EXPECT_EQ(small.operations.size(), large.operations.size());
    EXPECT_LE(large.operations.size(), 27u);
    const ir::VerifyResult result = ir::verify(large.view());
    EXPECT_TRUE(result.ok());
    EXPECT_LT(result.work, 1'000'000u);
  }
}

// Latencies alone: up 7 + 7 + 7 hops and down 7 + 7.
TEST(LineScans, TakeTheWayUpAndDown) {
  const Topology topology = *parseTopology("8x8x8");
  const TreePipeline pipeline = lineScanPipeline(topology);
  EXPECT_EQ(pipeline.hops, 35);
  EXPECT_EQ(pipeline.share, 1);
  EXPECT_EQ(lineScanPipeline(*parseTopology("1")).hops, 1);
  EXPECT_EQ(lineScanPipeline(*parseTopology("16")).hops, 15);
}

struct Damage {
  const char* shape;
  std::vector<std::string> nodes, links;
};

class DamagedLineScan : public testing::TestWithParam<Damage> {};

TEST_P(DamagedLineScan, IsProvedAndAddsRanksInTheirOrder) {
  const Topology topology = damaged(GetParam().shape, GetParam().nodes, GetParam().links);
  for (const std::uint32_t segments : {1u, 5u}) {
    for (const bool includes_own : {true, false}) {
      const Collective collective = includes_own ? Collective::kScan : Collective::kExscan;
      const Schedule schedule = compiledInSegments("line-scan", collective, topology, segments);
      expectProofAndRuns(schedule.view());
      expectRanksInOrder(schedule, [&](std::int32_t rank) { return rank + includes_own; });
    }
  }
}

// First, last and middle nodes of lines and planes, whole lines and planes but one, links between
// lines, and both.
INSTANTIATE_TEST_SUITE_P(
    Shapes, DamagedLineScan,
    testing::Values(Damage{"4x3", {"0,0"}, {}}, Damage{"4x3", {"3,2"}, {}},
                    Damage{"4x3x3", {"1,1,1"}, {}}, Damage{"4x3x3", {"3,2,1", "2,2,1"}, {}},
                    Damage{"3x3x3", {"0,0,0", "1,0,0"}, {}},
                    Damage{"3x3x3", {"0,1,1", "1,1,1", "2,1,1"}, {}},
                    Damage{"3x2x3", {"0,0,1", "1,0,1", "2,0,1", "1,1,1", "2,1,1"}, {}},
                    Damage{"4mx4", {"1,2"}, {"3,0:Y"}}, Damage{"4x4", {}, {"1,1:X", "3,2:Y"}},
                    Damage{"7", {"3"}, {}}, Damage{"3x3+2", {"2,1"}, {"1,1:Y"}},
                    Damage{"3x2x2x2x2", {"2,1,1,1,1", "1,0,1,0,1"}, {}}));

TEST(LineScans, GrowWithTheDamageAlone) {
  const auto operations = [](const char* shape) {
    const Topology topology = damaged(shape, {"1,2,1"});
    return compiledInSegments("line-scan", Collective::kScan, topology, 16).operations.size();
  };
  EXPECT_EQ(operations("32x32x32"), operations("8x8x8"));
  EXPECT_LE(operations("8x8x8"), 80u);
}

}  // namespace
}  // namespace torc::compiler
