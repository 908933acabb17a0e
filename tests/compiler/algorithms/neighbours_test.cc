// Neighbourhood collectives: proved and run on grids of one to seven axes, rings of one and two and
// lines among them; as many operations on any size; what is no grid is refused.
#include "compiler/algorithms/neighbours/neighbours.h"

#include <gtest/gtest.h>
#include <llvm/Support/Error.h>

#include "compiler/compile.h"
#include "ir/counted/counted_proof.h"
#include "ir/verifier/verifier.h"
#include "schedules/neighbours.h"
#include "tests/runtime/execution/checked_job.h"

namespace torc::compiler {
namespace {

constexpr Collective kOfNeighbours[] = {Collective::kNeighborAllgather,
                                        Collective::kNeighborAlltoall};

Schedule onGrid(Collective collective, const char* shape) {
  const CollectiveSpec spec{collective, *parseTopology(shape)};
  return cantFail(planNeighbours(spec)).schedule;
}

class Neighbours : public testing::TestWithParam<const char*> {};

TEST_P(Neighbours, AreProvedAndRun) {
  for (const Collective collective : kOfNeighbours) {
    const Schedule schedule = onGrid(collective, GetParam());
    for (const bool per_rank : {false, true})
      EXPECT_TRUE(ir::verify(schedule.view(), {.per_rank = per_rank}).ok()) << per_rank;
    for (const std::uint64_t count : {0, 1, 5}) {
      const StatusOr<ir::CountedResult> counted = ir::proveCounted(schedule.view(), count);
      ASSERT_TRUE(counted.ok()) << counted.status().message();
      EXPECT_EQ(counted->fault, "");
      CheckedCall call;
      call.count = count;
      call.delivery = runtime::Delivery::kAdversarial;
      EXPECT_EQ(runChecked(schedule.view(), call), "");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Neighbours,
                         testing::Values("1", "1m", "2", "2m", "3", "3m", "5x1x2", "4x3m", "2mx2",
                                         "3x4x5", "2x2mx3x3m", "3x2x2x2x2", "2x1x2x2x1x2x3"));

TEST(NeighboursOfAnyGrid, AreAsManyOperations) {
  for (const Collective collective : kOfNeighbours) {
    for (const char* shape : {"8x8x8", "1000x3x3", "64x32x32", "65536x32x64m"}) {
      const Schedule schedule = onGrid(collective, shape);
      EXPECT_EQ(schedule.operations.size(), 12u) << shape;
      EXPECT_TRUE(ir::verify(schedule.view()).ok()) << shape;
    }
  }
}

// MPI's order of neighbours: the axis that varies slowest with the rank first, in each the one
// below before the one above.
TEST(NeighboursOfAnyGrid, LieInMpisOrder) {
  const Topology topology = *parseTopology("4x3x2", "YXZ");
  EXPECT_EQ(neighbourPlace(topology, {2, -1}), 0u);
  EXPECT_EQ(neighbourPlace(topology, {2, 1}), 1u);
  EXPECT_EQ(neighbourPlace(topology, {0, 1}), 3u);
  EXPECT_EQ(neighbourPlace(topology, {1, -1}), 4u);
}

TEST(NeighboursOfAnyGrid, AreOfSoundGridsWithoutCores) {
  Topology broken = *parseTopology("4x4");
  ASSERT_TRUE(broken.addDeadNode({1, 1}).ok());
  for (const Topology& topology : {broken, *parseTopology("4x4+2")}) {
    const CollectiveSpec spec{Collective::kNeighborAlltoall, topology};
    EXPECT_FALSE(isServed(spec));
    EXPECT_NE(llvm::toString(planNeighbours(spec).takeError()), "");
  }
}

}  // namespace
}  // namespace torc::compiler
