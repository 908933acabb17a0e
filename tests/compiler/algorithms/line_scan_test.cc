// The line scan: link loads and hops; around damage proved, run and in the order of ranks.
#include "compiler/algorithms/scan/line_scan.h"

#include <map>
#include <string>

#include <gtest/gtest.h>

#include "schedules/expansion/expand.h"
#include "tests/compiler/algorithms/checks.h"

namespace torc::compiler {
namespace {

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
  std::vector<std::string_view> nodes, links;
};

class DamagedLineScan : public testing::TestWithParam<Damage> {};

TEST_P(DamagedLineScan, IsProvedAndAddsRanksInTheirOrder) {
  const Topology topology = damaged(GetParam().shape, GetParam().nodes, GetParam().links);
  for (const std::uint32_t segments : {1u, 5u}) {
    for (const Collective collective : {Collective::kScan, Collective::kExscan}) {
      const Schedule schedule = compiledInSegments("line-scan", collective, topology, segments);
      expectProofAndRuns(schedule.view());
      expectRanksInOrder(schedule);
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

}  // namespace
}  // namespace torc::compiler
