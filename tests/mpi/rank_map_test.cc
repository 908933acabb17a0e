// Ranks in any order on a torus: results are MPI's, and messages go between neighbours.
#include "runtime/job/rank_map.h"

#include <cstdint>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>
#include <mpi.h>

#include "runtime/collectives/persistent_plan.h"
#include "tests/mpi/mapped_job.h"

namespace torc::runtime {
namespace {

using RankMaps = MappedTest;

TEST_F(RankMaps, Allreduce) {
  for (const Mapping& mapping : allMappings()) {
    mapRanks(mapping);
    for (const std::int64_t count : {0, 1, 5, 30011}) {
      const std::vector<std::int32_t> in = numbers(count);
      std::vector<std::int32_t> out(in.size(), -1), expected(in.size());
      MPI_Allreduce(in.data(), expected.data(), static_cast<int>(count), MPI_INT32_T, MPI_SUM,
                    MPI_COMM_WORLD);
      torc_collective* collective = nullptr;
      ASSERT_TORC_OK(torc_allreduce_init(schedule("allreduce"), in.data(), out.data(), count,
                                         MPI_INT32_T, MPI_SUM, &collective));
      runAndFree(collective);
      EXPECT_EQ(out, expected) << mapping.name << ", count " << count;
    }
  }
}

TEST_F(RankMaps, ReduceScatter) {
  for (const Mapping& mapping : allMappings()) {
    mapRanks(mapping);
    for (const std::int64_t least : {0, 3, 9000}) {
      std::vector<std::int64_t> counts(static_cast<std::size_t>(worldSize()));
      for (int r = 0; r < worldSize(); ++r)
        counts[r] = r % 3 == 1 ? 0 : least + 7 * r;
      const std::vector<int> mpi_counts(counts.begin(), counts.end());
      const std::int64_t total = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
      std::vector<std::int32_t> in = numbers(total);
      std::vector<std::int32_t> out(static_cast<std::size_t>(counts[worldRank()]), -1);
      std::vector<std::int32_t> expected(out.size());
      MPI_Reduce_scatter(in.data(), expected.data(), mpi_counts.data(), MPI_INT32_T, MPI_SUM,
                         MPI_COMM_WORLD);
      torc_collective* collective = nullptr;
      ASSERT_TORC_OK(torc_reduce_scatter_init(schedule("reduce_scatter"), in.data(), out.data(),
                                              counts.data(), MPI_INT32_T, MPI_SUM, &collective));
      runAndFree(collective);
      EXPECT_EQ(out, expected) << mapping.name << ", least " << least;
      ASSERT_TORC_OK(torc_reduce_scatter_init(schedule("reduce_scatter"), MPI_IN_PLACE, in.data(),
                                              counts.data(), MPI_INT32_T, MPI_SUM, &collective));
      runAndFree(collective);
      in.resize(out.size());
      EXPECT_EQ(in, expected) << mapping.name << ", in place, least " << least;

      const std::vector<std::int32_t> even = numbers(least * worldSize());
      out.assign(static_cast<std::size_t>(least), -1);
      expected.assign(out.size(), 0);
      MPI_Reduce_scatter_block(even.data(), expected.data(), static_cast<int>(least), MPI_INT32_T,
                               MPI_SUM, MPI_COMM_WORLD);
      ASSERT_TORC_OK(torc_reduce_scatter_block_init(schedule("reduce_scatter"), even.data(),
                                                    out.data(), least, MPI_INT32_T, MPI_SUM,
                                                    &collective));
      runAndFree(collective);
      EXPECT_EQ(out, expected) << mapping.name << ", equal blocks of " << least;
    }
  }
}

TEST_F(RankMaps, Allgather) {
  for (const Mapping& mapping : allMappings()) {
    mapRanks(mapping);
    for (const std::int64_t count : {0, 1, 500, 20000}) {
      const std::vector<std::int32_t> in = numbers(count);
      std::vector<std::int32_t> out(in.size() * worldSize(), -1), expected;
      for (int r = 0; r < worldSize(); ++r) {
        for (std::int64_t i = 0; i < count; ++i)
          expected.push_back(numberOf(r, i));
      }
      torc_collective* collective = nullptr;
      ASSERT_TORC_OK(torc_allgather_init(schedule("allgather"), in.data(), count, MPI_INT32_T,
                                         out.data(), count, MPI_INT32_T, &collective));
      runAndFree(collective);
      EXPECT_EQ(out, expected) << mapping.name << ", count " << count;

      std::vector<std::int32_t> both(out.size(), -1);
      std::copy(in.begin(), in.end(), both.begin() + worldRank() * count);
      ASSERT_TORC_OK(torc_allgather_init(schedule("allgather"), MPI_IN_PLACE, 0, MPI_DATATYPE_NULL,
                                         both.data(), count, MPI_INT32_T, &collective));
      runAndFree(collective);
      EXPECT_EQ(both, expected) << mapping.name << ", in place, count " << count;
    }
  }
}

TEST_F(RankMaps, AllgathervWithGaps) {
  for (const Mapping& mapping : allMappings()) {
    mapRanks(mapping);
    std::vector<std::int64_t> counts, displacements;
    std::int64_t end = 3;
    for (int r = 0; r < worldSize(); ++r) {
      counts.push_back(r % 3 == 1 ? 0 : 11 + 900 * r);
      displacements.push_back(end);
      end += counts.back() + 2;
    }
    const std::vector<std::int32_t> in = numbers(counts[worldRank()]);
    std::vector<std::int32_t> out(static_cast<std::size_t>(end), -5), expected = out;
    for (int r = 0; r < worldSize(); ++r) {
      for (std::int64_t i = 0; i < counts[r]; ++i)
        expected[static_cast<std::size_t>(displacements[r] + i)] = numberOf(r, i);
    }
    torc_collective* collective = nullptr;
    ASSERT_TORC_OK(torc_allgatherv_init(schedule("allgather"), in.data(), counts[worldRank()],
                                        MPI_INT32_T, out.data(), counts.data(),
                                        displacements.data(), MPI_INT32_T, &collective));
    runAndFree(collective);
    EXPECT_EQ(out, expected) << mapping.name;
  }
}

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
