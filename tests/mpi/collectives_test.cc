// Results of the C API's collectives: every function on ranks in any order, with each root, by
// schedules of their own and by those of their rootless forms.
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <mpi.h>

#include "runtime/api/torc.h"
#include "schedules/collective.h"
#include "tests/mpi/api_calls.h"
#include "tests/mpi/mapped_job.h"

namespace torc::runtime {
namespace {

using Collectives = MappedTest;

/// Schedules of tests/mpi/BUILD that serve a function.
std::vector<std::string> schedulesFor(const mpi_calls::Collective& function) {
  if (function.isExchange() && function.uneven) return {"alltoallv", "forwarded"};
  std::vector<std::string> names = {std::string(function.row->name)};
  if (function.row->rootless) names.emplace_back(rowOf(*function.row->rootless).name);
  return names;
}

TEST_F(Collectives, EveryFunctionOnRanksInAnyOrder) {
  int turn = 0;
  for (const Mapping& mapping : allMappings()) {
    mapRanks(mapping);
    ++turn;
    for (const mpi_calls::Collective& function : apiFunctions()) {
      for (const std::string& name : schedulesFor(function)) {
        const mpi_calls::Communicator on{mapping.name + " by " + name, geometry_->comm};
        for (const std::int64_t count : {0, 1, 57, 12001}) {
          for (const bool in_place : {false, true}) {
            if (in_place && (!function.hasInPlace() || function.isExchange())) continue;
            mpi_calls::Shape shape = shapeOf(function, count, ++turn);
            shape.in_place = in_place;
            expectRight(schedule(name), on, shape);
          }
        }
      }
    }
  }
}

TEST_F(Collectives, AllgatherBetweenDifferentDatatypesOfTheSameData) {
  mapRanks({});
  MPI_Datatype four;
  MPI_Type_contiguous(4, MPI_INT32_T, &four);
  MPI_Type_commit(&four);
  const std::vector<std::int32_t> in = numbers(12);
  std::vector<std::int32_t> out(in.size() * worldSize()), expected(out.size());
  MPI_Allgather(in.data(), 12, MPI_INT32_T, expected.data(), 12, MPI_INT32_T, MPI_COMM_WORLD);
  torc_collective* collective = nullptr;
  ASSERT_TORC_OK(torc_allgather_init(schedule("allgather"), in.data(), 12, MPI_INT32_T, out.data(),
                                     3, four, &collective));
  runAndFree(collective);
  EXPECT_EQ(out, expected);
  MPI_Type_free(&four);
}

TEST_F(Collectives, RanksMustAgreeOnRootCountAndDatatype) {
  if (worldSize() == 1) return;
  mapRanks({});
  const std::vector<std::int32_t> in = numbers(8 * worldSize());
  std::vector<std::int32_t> out(in.size());
  const int me = worldRank();
  const auto gather = [&](const void* from, int count, MPI_Datatype type, int root) {
    torc_collective* collective = nullptr;
    return torc_gather_init(schedule("gather"), from, count, type, out.data(), 4, MPI_INT32_T, root,
                            &collective);
  };
  EXPECT_TORC_ERROR(gather(in.data(), 4, MPI_INT32_T, me == 1 ? 1 : 0), TORC_ERR_MISMATCH, "root");
  EXPECT_TORC_ERROR(gather(in.data(), me == 1 ? 5 : 4, MPI_INT32_T, 0), TORC_ERR_MISMATCH, "count");
  EXPECT_TORC_ERROR(gather(in.data(), 4, me == 1 ? MPI_FLOAT : MPI_INT32_T, 0), TORC_ERR_MISMATCH,
                    "datatype");
  // The root's own block, and a rank that says it is in place without being the root.
  EXPECT_EQ(gather(in.data(), me == 0 ? 3 : 4, MPI_INT32_T, 0), TORC_ERR_MISMATCH);
  EXPECT_EQ(gather(me == 1 ? MPI_IN_PLACE : in.data(), 4, MPI_INT32_T, 0), TORC_ERR_ARGUMENT);
  EXPECT_EQ(gather(in.data(), 4, MPI_INT32_T, worldSize()), TORC_ERR_ARGUMENT);
}

TEST(RootlessForms, HaveTheLayoutOfTheRootedOnes) {
  for (const CollectiveRow& row : collectiveRows()) {
    if (!row.rootless) continue;
    const CollectiveRow& rootless = rowOf(*row.rootless);
    EXPECT_TRUE(row.isRooted());
    EXPECT_FALSE(rootless.isRooted());
    EXPECT_EQ(row.layout, rootless.layout) << "blocks of messages must not depend on the root";
    EXPECT_EQ(row.counts, rootless.counts);
  }
}

}  // namespace
}  // namespace torc::runtime
