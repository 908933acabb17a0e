// All-to-alls: the load of the busiest link is the bound; the size of programs does not depend on
// the torus.
#include <algorithm>
#include <map>
#include <utility>

#include <gtest/gtest.h>

#include "compiler/algorithms/alltoall/half_planes.h"
#include "compiler/algorithms/alltoall/two_phase.h"
#include "ir/verifier/verifier.h"
#include "schedules/expansion/expand.h"
#include "tests/compiler/algorithms/checks.h"

namespace torc::compiler {
namespace {

Schedule compiled(llvm::StringRef algorithm, const std::string& shape, std::uint32_t chunks = 1,
                  passes::DirectionModel directions = passes::DirectionModel::kBidirectional) {
  return compiledBy(algorithm, Collective::kAlltoall, *parseTopology(shape),
                    {.directions = directions, .chunks = chunks});
}

/// Share of a node's vector that the busiest link carries in all phases.
double busiest(const Schedule& schedule) {
  double most = 0;
  std::map<std::pair<std::uint32_t, int>, double> sums;
  for (const ir::LinkLoad& load : ir::verify(schedule.view()).loads)
    most = std::max(most, sums[{load.axis, load.sign}] += load.share);
  return most;
}

TEST(AlltoallLoads, AreTheBound) {
  for (const char* shape : {"8x8x8", "8x32x16", "9x9x9", "7x5x3", "40x32x16", "5x4mx3"}) {
    SCOPED_TRACE(shape);
    const double direct = busiest(compiled("direct", shape));
    EXPECT_NEAR(busiest(compiled("rotated-rings", shape)), direct, 1e-12);
    EXPECT_NEAR(busiest(compiled("rotated-two-phase", shape)), direct, 1e-12);
    EXPECT_NEAR(busiest(compiled("two-phase", shape)), direct, 1e-12);
  }
}

TEST(TwoPhase, LinearDimensionLeavesASymmetricPlaneOrIsTheLongest) {
  const auto of = [](const char* shape) { return linearDimension(*parseTopology(shape)); };
  EXPECT_EQ(of("16x8x8"), 0u);
  EXPECT_EQ(of("8x16x8"), 1u);
  EXPECT_EQ(of("16x8x16"), 1u);
  EXPECT_EQ(of("8x32x16"), 1u);
  EXPECT_EQ(of("40x32x16"), 0u);
  EXPECT_EQ(of("8x8x8"), 0u);
  EXPECT_EQ(of("1x4"), 1u);
  EXPECT_EQ(of("1"), kNone);
}

/// Messages that a rank sends.
std::size_t messages(const Schedule& schedule) {
  const FlatProgram program =
      *expand(schedule.view(), 0, {.count = 60, .per_rank = {}, .displacements = {}});
  return static_cast<std::size_t>(std::ranges::count_if(
      program.operations,
      [](const FlatOperation& operation) { return operation.kind == OperationKind::kSend; }));
}

TEST(HalfPlanes, AreAMeshThatIsNearlySquare) {
  const auto of = [](const char* shape) { return nearlySquare(*parseTopology(shape)); };
  // 32x16 as in the paper, 64x64, 256x256, 4x4 of one ring.
  EXPECT_EQ(messages(compiled("half-planes", "8x8x8", 1, passes::DirectionModel::kUnidirectional)),
            46u);
  EXPECT_EQ(
      messages(compiled("half-planes", "8x32x16", 1, passes::DirectionModel::kUnidirectional)),
      126u);
  EXPECT_EQ(messages(compiled("half-planes", "16", 1, passes::DirectionModel::kUnidirectional)),
            6u);
  EXPECT_EQ(of("64x32x32").columns, 0b011u);
  EXPECT_EQ(of("64x32x32").stride, 8u);
  EXPECT_EQ(of("8x8").split, kNone);
  EXPECT_EQ(of("7").columns, 0u);
  EXPECT_EQ(of("16m").columns, 0u) << "a line is not split";
  EXPECT_EQ(of("16mx4").columns, 0b01u);
}

TEST(HalfPlanes, AreProvedOnMachinesOfAnySize) {
  for (const char* shape :
       {"6", "9", "12x2", "8x8x8", "256x2", "4x4x4x4x4", "64x32x32", "8x8x8m"}) {
    const ir::VerifyResult result = ir::verify(compiled("half-planes", shape).view());
    EXPECT_TRUE(result.ok()) << shape << ": " << result.faults.front().message;
  }
}

}  // namespace
}  // namespace torc::compiler
