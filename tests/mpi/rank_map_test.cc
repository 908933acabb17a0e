// Ranks in any order on a torus: messages go between neighbours.
#include "runtime/job/rank_map.h"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>
#include <mpi.h>

#include "runtime/collectives/persistent_plan.h"
#include "tests/mpi/mapped_job.h"

namespace torc::runtime {
namespace {

using RankMaps = MappedTest;

/// Links between two ranks of the communicator.
int distance(const torc_geometry& geometry, int a, int b) {
  const Topology& topology = *geometry.topology;
  const Coordinates from = topology.coordinatesOf(geometry.map.toSchedule(a));
  const Coordinates to = topology.coordinatesOf(geometry.map.toSchedule(b));
  int links = 0;
  for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
    const auto size = static_cast<int>(topology.axes[axis].size);
    const int apart = std::abs(from[axis] - to[axis]);
    links += std::min(apart, size - apart);
  }
  return links;
}

// A permutation that is ignored, or taken the wrong way round, gives right sums all the same.
TEST_F(RankMaps, MessagesGoToNeighboursOnTheTorus) {
  for (const Mapping& mapping : allMappings()) {
    mapRanks(mapping);
    const std::vector<std::int32_t> in = numbers(5000);
    std::vector<std::int32_t> out(in.size());
    CallArguments arguments;
    arguments.in = in.data();
    arguments.out = out.data();
    arguments.count = 5000;
    arguments.type = MPI_INT32_T;
    arguments.op = MPI_SUM;
    Call call;
    ASSERT_TRUE(check(arguments, worldRank(), worldSize(), call).ok());
    PersistentPlan plan(schedule("allreduce"));
    const Status prepared = plan.prepare(call);
    ASSERT_TRUE(prepared.ok()) << prepared.message();
    std::size_t messages = 0;
    for (const FlatOperation& operation : plan.program().operations) {
      if (operation.peer < 0) continue;
      ++messages;
      ASSERT_EQ(distance(*geometry_, worldRank(), operation.peer), 1)
          << mapping.name << ": rank " << operation.peer;
    }
    EXPECT_EQ(messages > 0, worldSize() > 1);

    torc_geometry_info info;
    ASSERT_TORC_OK(torc_geometry_query(geometry_.get(), &info));
    EXPECT_EQ(info.rank, worldRank());
    const std::int32_t mine =
        mapping.to_schedule.empty() ? worldRank() : mapping.to_schedule[worldRank()];
    const StatusOr<Topology> compiled = parseTopology(shapeOfWorld());
    const int x = static_cast<int>(compiled->axes[0].size);
    const int y = static_cast<int>(worldSize()) / x;
    EXPECT_EQ(info.coordinates[0], mapping.turned ? mine / y : mine % x) << mapping.name;
  }
}

TEST(RankMap, KeepsATableOnlyWhereItMatters) {
  const StatusOr<RankMap> same = RankMap::fromTable({0, 1, 2, 3});
  ASSERT_TRUE(same.ok());
  EXPECT_TRUE(same->isIdentity());
  EXPECT_EQ(same->bytes(), 0u);
  const StatusOr<RankMap> turned = RankMap::fromTable({1, 2, 0});
  ASSERT_TRUE(turned.ok());
  EXPECT_EQ(turned->bytes(), 24u);
  for (std::int32_t rank = 0; rank < 3; ++rank)
    EXPECT_EQ(turned->toCommunicator(turned->toSchedule(rank)), rank);
  EXPECT_EQ(turned->toSchedule(1), 2);
}

TEST(RankMap, RefusesWhatIsNoPermutation) {
  EXPECT_EQ(RankMap::fromTable({0, 3, 1}).status().message(),
            "rank map: rank 1 is mapped to 3, of 3 ranks");
  EXPECT_EQ(RankMap::fromTable({0, -1}).status().message(),
            "rank map: rank 1 is mapped to -1, of 2 ranks");
  EXPECT_EQ(RankMap::fromTable({1, 0, 1}).status().message(),
            "rank map: ranks 0 and 2 are both mapped to 1");
}

}  // namespace
}  // namespace torc::runtime
