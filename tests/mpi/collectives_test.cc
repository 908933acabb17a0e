// Results of the C API's collectives: every function on ranks in any order, with each root, by
// schedules of their own and by those of their rootless forms. Refused all-to-alls of the C API,
// and buffers that must stay unchanged.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <mpi.h>

#include "runtime/api/torc.h"
#include "schedules/collective.h"
#include "tests/mpi/api_calls.h"
#include "tests/mpi/job.h"

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
  expectError(gather(in.data(), 4, MPI_INT32_T, me == 1 ? 1 : 0), TORC_ERR_MISMATCH, "root");
  expectError(gather(in.data(), me == 1 ? 5 : 4, MPI_INT32_T, 0), TORC_ERR_MISMATCH, "count");
  expectError(gather(in.data(), 4, me == 1 ? MPI_FLOAT : MPI_INT32_T, 0), TORC_ERR_MISMATCH,
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

using List = std::vector<std::int64_t>;

/// The lists of this rank, with elements for every pair, some of them none: blocks from back to
/// front, with a gap behind each.
struct Lists {
  explicit Lists(std::int64_t least) {
    for (int other = 0; other < worldSize(); ++other) {
      in_counts.push_back(countOf(worldRank(), other, least));
      out_counts.push_back(countOf(other, worldRank(), least));
    }
    placeBlocks();
  }

  /// Puts the blocks where their counts leave them room.
  void placeBlocks() {
    in_elements = place(in_counts, in_places);
    out_elements = place(out_counts, out_places);
  }

  static std::int64_t countOf(int from, int to, std::int64_t least) {
    return (from + 2 * to) % 3 == 1 ? 0 : least + 7 * from + to;
  }
  static std::int64_t place(const List& counts, List& places) {
    places.resize(counts.size());
    std::int64_t end = 0;
    for (std::size_t block = counts.size(); block-- > 0;) {
      places[block] = end;
      end += counts[block] + 2;
    }
    return end;
  }

  List in_counts, in_places, out_counts, out_places;
  std::int64_t in_elements = 0, out_elements = 0;
};

class Alltoalls : public MappedTest {
 protected:
  int initLists(const Lists& lists, const void* in, void* out,
                const char* served_by = "alltoallv") {
    return torc_alltoallv_init(schedule(served_by), in, lists.in_counts.data(),
                               lists.in_places.data(), MPI_INT32_T, out, lists.out_counts.data(),
                               lists.out_places.data(), MPI_INT32_T, &collective_);
  }

  torc_collective* collective_ = nullptr;
};

TEST_F(Alltoalls, WhatIsNotServedIsTold) {
  mapRanks({});
  std::vector<std::int32_t> data(static_cast<std::size_t>(worldSize()) * 2, 1), out = data;
  expectError(torc_alltoall_init(schedule("alltoallv"), MPI_IN_PLACE, 2, MPI_INT32_T, data.data(),
                                 2, MPI_INT32_T, &collective_),
              TORC_ERR_UNSUPPORTED, "MPI_IN_PLACE");
  EXPECT_EQ(torc_alltoall_init(schedule("alltoallv"), data.data(), 1, MPI_INT32_T, out.data(), 2,
                               MPI_INT32_T, &collective_),
            TORC_ERR_MISMATCH);
  const List counts(static_cast<std::size_t>(worldSize()), 1);
  const torc_call call{TORC_ALLTOALL, 0, counts.data(), MPI_INT32_T, MPI_OP_NULL};
  EXPECT_TORC_OK(torc_schedule_serves(schedule("alltoallv"), &call));

  Lists lists(2);
  std::vector<std::int32_t> from(static_cast<std::size_t>(lists.in_elements)),
      to(static_cast<std::size_t>(lists.out_elements));
  EXPECT_EQ(initLists(lists, MPI_IN_PLACE, to.data()), TORC_ERR_UNSUPPORTED);
  refused(initLists(lists, from.data(), from.data() + 1), "overlap");
  lists.in_counts[static_cast<std::size_t>(worldRank())] += 1;
  expectError(initLists(lists, from.data(), to.data()), TORC_ERR_MISMATCH, "the own block");
  lists.in_counts[0] = -1;
  refused(initLists(lists, from.data(), to.data()), "in_counts[0] is -1");
  lists.in_counts[0] = std::int64_t{1} << 62;
  EXPECT_EQ(initLists(lists, from.data(), to.data()), TORC_ERR_OVERFLOW);
}

// Where counts travel before the blocks, all ranks hear of it.
TEST_F(Alltoalls, AForwardedBlockThatIsAwaitedWithAnotherLengthIsRefused) {
  mapRanks({});
  if (schedule("forwarded")->view().isDirect()) GTEST_SKIP() << "a single ring";
  Lists lists(8);
  if (worldRank() == 1) lists.out_counts[0] += 5;
  lists.placeBlocks();
  const std::vector<std::int32_t> in = numbers(lists.in_elements);
  std::vector<std::int32_t> out(static_cast<std::size_t>(lists.out_elements));
  EXPECT_EQ(initLists(lists, in.data(), out.data(), "forwarded"), TORC_ERR_MISMATCH);
  EXPECT_EQ(std::string(torc_error_message()),
            "torc_alltoallv_init: rank 1: rank 0 sends " +
                std::to_string(4 * Lists::countOf(0, 1, 8)) + " bytes to rank 1, which expects " +
                std::to_string(4 * (Lists::countOf(0, 1, 8) + 5)));
  expectRight(schedule("forwarded"), {"after a refused call", geometry_->comm},
              shapeOf(apiFunction("alltoallv"), 8));
}

TEST_F(Alltoalls, AMessageThatIsTooLongIsATruncation) {
  if (worldSize() == 1) GTEST_SKIP() << "one rank sends nothing";
  mapRanks({});
  // MPI tells the handler of one of these of what MPI_Testsome finds.
  for (const MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF})
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  Lists lists(8);
  // Rank 0 sends its neighbour more than that takes.
  lists.in_counts.assign(lists.in_counts.size(), 0);
  lists.out_counts = lists.in_counts;
  if (worldRank() == 0) lists.in_counts[1] = 8;
  if (worldRank() == 1) lists.out_counts[0] = 5;
  const std::vector<std::int32_t> in = numbers(lists.in_elements + 8);
  std::vector<std::int32_t> out(static_cast<std::size_t>(lists.out_elements) + 8, -5);
  ASSERT_TORC_OK(initLists(lists, in.data(), out.data()));
  ASSERT_TORC_OK(torc_collective_start(collective_));
  const int code = torc_collective_wait(collective_);
  if (worldRank() == 1) {
    EXPECT_NE(code, TORC_OK);
    const auto end = static_cast<std::size_t>(lists.out_places[0]) + 5;
    EXPECT_EQ(out[end], -5) << "written behind the block";
  }
  EXPECT_TORC_OK(torc_collective_free(collective_));
  // A fragment that nobody awaits would reach the next communicator that has this one's number.
  sleepUntilAllCome();
  for (int found = 1; found != 0;) {
    std::byte fragment[64];
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, geometry_->comm, &found, MPI_STATUS_IGNORE);
    if (found != 0)
      MPI_Recv(fragment, 64, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, geometry_->comm,
               MPI_STATUS_IGNORE);
  }
  for (const MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF})
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
}

}  // namespace
}  // namespace torc::runtime
