// Wrong arguments, on all ranks and on one: the same code and text everywhere, and no rank hangs.
#include <algorithm>
#include <cstdint>
#include <dlfcn.h>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <mpi.h>

#include "runtime/api/torc.h"
#include "tests/mpi/job.h"

/// Of this rank.
static bool can_make_operations = true;
extern "C" int PMPI_Op_create(MPI_User_function* function, int commutes, MPI_Op* op) {
  if (!can_make_operations) return MPI_ERR_NO_MEM;
  static const auto next =
      reinterpret_cast<decltype(&PMPI_Op_create)>(dlsym(RTLD_NEXT, "PMPI_Op_create"));
  return next(function, commutes, op);
}

namespace torc::runtime {
namespace {

class Errors : public JobTest {
 protected:
  /// What the text of an error of the last rank alone begins with.
  std::string ofLastRank() const {
    return worldSize() == 1 ? "" : "rank " + std::to_string(worldSize() - 1) + ": ";
  }

  /// A sum of ten numbers, but for what is given.
  int initSum(const void* in, void* out, std::int64_t count = 10, MPI_Datatype type = MPI_INT,
              MPI_Op op = MPI_SUM) {
    return torc_allreduce_init(schedule("allreduce"), in, out, count, type, op, &collective_);
  }

  std::vector<int> in_ = std::vector<int>(100), out_ = std::vector<int>(100);
  torc_collective* collective_ = nullptr;
};

TEST_F(Errors, AMissingFileIsReportedByRankZeroToAll) {
  torc_schedule* loaded = nullptr;
  expectError(torc_schedule_load(geometry_.get(), "/nowhere/x.torc", &loaded), TORC_ERR_IO,
              "'/nowhere/x.torc': No such file or directory");
  EXPECT_EQ(loaded, nullptr);
  expectSameTextEverywhere();
}

TEST_F(Errors, ATornOrAlteredFileIsRefused) {
  const std::string good = contentsOf(schedulePath("allreduce"));
  torc_schedule* loaded = nullptr;
  for (const std::size_t length : {std::size_t{0}, std::size_t{7}, good.size() / 2}) {
    expectError(torc_schedule_load_memory(geometry_.get(), good.data(), length, "torn", &loaded),
                TORC_ERR_MALFORMED, "torn: ");
    EXPECT_EQ(loaded, nullptr);
    expectSameTextEverywhere();
  }
  std::string altered = good;
  altered[altered.size() / 2] ^= 4;
  expectError(torc_schedule_load_memory(geometry_.get(), altered.data(), altered.size(), "altered",
                                        &loaded),
              TORC_ERR_MALFORMED, "altered: ");
  // What other ranks pass does not count.
  const bool root = worldRank() == 0;
  EXPECT_TORC_OK(torc_schedule_load_memory(geometry_.get(), root ? good.data() : nullptr,
                                           root ? good.size() : 0, "good", &loaded));
  EXPECT_TORC_OK(torc_schedule_free(loaded));
}

TEST_F(Errors, AGeometryMustFitItsCommunicator) {
  torc_geometry* other = nullptr;
  const struct {
    torc_context* context;
    MPI_Comm comm;
    const char *shape, *order;
    int code;
    std::string text;
  } rows[] = {{context_, MPI_COMM_WORLD, "5x3", nullptr, TORC_ERR_MISMATCH,
               "torus 5x3 has 15 nodes, the communicator has "},
              {context_, MPI_COMM_WORLD, "0x4", nullptr, TORC_ERR_ARGUMENT, "0x4"},
              {context_, MPI_COMM_WORLD, nullptr, "XY", TORC_ERR_ARGUMENT,
               "an order is given without a shape"},
              {context_, MPI_COMM_NULL, "2", nullptr, TORC_ERR_ARGUMENT, "MPI_COMM_NULL"},
              {nullptr, MPI_COMM_WORLD, "2", nullptr, TORC_ERR_ARGUMENT, "context is NULL"},
              {context_, MPI_COMM_WORLD, isLastRank() ? "nonsense" : nullptr, nullptr,
               TORC_ERR_ARGUMENT, "torc_geometry_create: " + ofLastRank() + "torus 'nonsense'"}};
  for (const auto& row : rows) {
    expectError(torc_geometry_create(row.context, row.comm, row.shape, row.order, &other), row.code,
                row.text);
    EXPECT_EQ(other, nullptr);
  }
  expectSameTextEverywhere();
}

TEST_F(Errors, AScheduleMustFitItsGeometry) {
  torc_geometry* alone = nullptr;
  ASSERT_TORC_OK(torc_geometry_create(context_, MPI_COMM_SELF, nullptr, nullptr, &alone));
  torc_geometry_info info;
  ASSERT_TORC_OK(torc_geometry_query(alone, &info));
  EXPECT_STREQ(info.shape, "");
  torc_schedule* loaded = nullptr;
  if (worldSize() > 1) {
    expectError(torc_schedule_load(alone, schedulePath("allreduce").c_str(), &loaded),
                TORC_ERR_MISMATCH, "the communicator has 1 ranks");
  }
  // The first schedule gives the geometry its shape, the next must have the same.
  ASSERT_TORC_OK(torc_schedule_load(alone, "tests/mpi/allreduce_1.torc", &loaded));
  ASSERT_TORC_OK(torc_geometry_query(alone, &info));
  EXPECT_STREQ(info.shape, "1");
  torc_schedule* second = nullptr;
  expectError(torc_schedule_load(alone, "tests/mpi/allreduce_2x2.torc", &second), TORC_ERR_MISMATCH,
              "torus 2x2 (order XY), the geometry is 1 (order X)");
  expectError(torc_geometry_destroy(alone), TORC_ERR_BUSY, "still has 1 schedules");
  EXPECT_TORC_OK(torc_schedule_free(loaded));
  EXPECT_TORC_OK(torc_geometry_destroy(alone));
}

TEST_F(Errors, WhatDiffersBetweenRanksIsDetected) {
  if (worldSize() == 1) GTEST_SKIP();
  expectError(initSum(in_.data(), out_.data(), isLastRank() ? 12 : 10), TORC_ERR_MISMATCH,
              "torc_allreduce_init: the count differs between ranks: 10 on rank 0, 12 on rank " +
                  std::to_string(worldSize() - 1));
  EXPECT_EQ(collective_, nullptr);
  expectSameTextEverywhere();
  expectError(initSum(in_.data(), out_.data(), 10, isLastRank() ? MPI_FLOAT : MPI_INT),
              TORC_ERR_MISMATCH, "the datatype differs between rank ");
  expectError(initSum(in_.data(), out_.data(), 10, MPI_INT, isLastRank() ? MPI_MAX : MPI_SUM),
              TORC_ERR_MISMATCH, "the operation differs between rank ");

  std::vector<std::int64_t> counts(static_cast<std::size_t>(worldSize()), 3);
  counts[0] = isLastRank() ? 4 : 3;
  expectError(torc_reduce_scatter_init(schedule("reduce_scatter"), in_.data(), out_.data(),
                                       counts.data(), MPI_INT, MPI_SUM, &collective_),
              TORC_ERR_MISMATCH, "the list of counts differs between rank ");
}

TEST_F(Errors, AnArgumentThatIsWrongOnOneRankFailsOnAll) {
  int* const in = in_.data();
  int* const out = out_.data();
  const bool is_wrong = isLastRank();
  refused(initSum(is_wrong ? nullptr : in, out),
          "torc_allreduce_init: " + ofLastRank() + "in is NULL");
  expectSameTextEverywhere();
  refused(initSum(in, is_wrong ? nullptr : out), ofLastRank() + "out is NULL");
  refused(initSum(in, out, is_wrong ? -1 : 10), ofLastRank() + "count is -1");
  refused(initSum(in, is_wrong ? in + 3 : out), ofLastRank() + "in and out overlap");
  refused(initSum(in, out, 10, is_wrong ? MPI_DATATYPE_NULL : MPI_INT), "MPI_DATATYPE_NULL");
  refused(torc_allreduce_init(schedule("allreduce"), in, out, 10, MPI_INT, MPI_SUM,
                              is_wrong ? nullptr : &collective_),
          ofLastRank() + "collective is NULL");
  expectSameTextEverywhere();
  // The geometry is none the worse for it.
  ASSERT_TORC_OK(initSum(in, out));
  runAndFree(collective_);
}

void ignore(void*, void*, int*, MPI_Datatype*) {}

TEST_F(Errors, WhatIsNotServedIsSaidToBe) {
  MPI_Op op;
  MPI_Op_create(ignore, 0, &op);
  expectError(initSum(in_.data(), out_.data(), 10, MPI_INT, op), TORC_ERR_UNSUPPORTED,
              "the operation does not commute");
  MPI_Op_free(&op);

  MPI_Datatype gaps;
  MPI_Type_vector(2, 1, 2, MPI_INT, &gaps);
  MPI_Type_commit(&gaps);
  expectError(torc_allgather_init(schedule("allgather"), in_.data(), 1, gaps, out_.data(), 1, gaps,
                                  &collective_),
              TORC_ERR_UNSUPPORTED, "has gaps or an offset");
  MPI_Type_free(&gaps);
  expectError(initSum(in_.data(), out_.data(), 10, MPI_FLOAT, MPI_BAND), TORC_ERR_UNSUPPORTED,
              "MPI_BAND is not defined on datatype MPI_FLOAT");
  expectError(initSum(in_.data(), out_.data(), std::int64_t{1} << 62), TORC_ERR_OVERFLOW,
              "exceeds the address space");
}

TEST_F(Errors, AScheduleServesItsOwnCollectiveOnly) {
  expectError(torc_allreduce_init(schedule("allgather"), in_.data(), out_.data(), 10, MPI_INT,
                                  MPI_SUM, &collective_),
              TORC_ERR_MISMATCH, "is one for allgather");
  torc_call call = {TORC_ALLREDUCE, 10, nullptr, MPI_INT, MPI_SUM};
  expectError(torc_schedule_serves(schedule("allgather"), &call), TORC_ERR_MISMATCH,
              "is one for allgather");
  EXPECT_TORC_OK(torc_schedule_serves(schedule("allreduce"), &call));
  call.op = MPI_MAXLOC;
  expectError(torc_schedule_serves(schedule("allreduce"), &call), TORC_ERR_UNSUPPORTED,
              "MPI_MAXLOC is not defined on datatype MPI_INT");
  call = {TORC_ALLGATHER, 10, nullptr, MPI_INT, MPI_OP_NULL};
  EXPECT_TORC_OK(torc_schedule_serves(schedule("allgather"), &call));
}

TEST_F(Errors, RanksAgreeWithoutMakingAnythingThatOneMayFailToMake) {
  can_make_operations = !isLastRank();
  torc_geometry* another = nullptr;
  EXPECT_TORC_OK(torc_geometry_create(context_, MPI_COMM_WORLD, nullptr, nullptr, &another));
  can_make_operations = true;
  EXPECT_TORC_OK(torc_geometry_destroy(another));
}

TEST_F(Errors, ObjectsInUseAreNotFreed) {
  torc_schedule* allreduce = schedule("allreduce");
  ASSERT_TORC_OK(initSum(in_.data(), out_.data()));
  expectError(torc_schedule_free(allreduce), TORC_ERR_BUSY, "still has 1 collectives");
  expectError(torc_context_destroy(context_), TORC_ERR_BUSY, "still has 1 geometries");
  EXPECT_TORC_OK(torc_collective_start(collective_));
  expectError(torc_collective_start(collective_), TORC_ERR_BUSY, "a round is under way");
  expectError(torc_collective_free(collective_), TORC_ERR_BUSY, "a round is under way");
  EXPECT_TORC_OK(torc_collective_wait(collective_));
  EXPECT_TORC_OK(torc_collective_free(collective_));
}

TEST_F(Errors, NullHandlesAreArgumentsLikeOthers) {
  refused(torc_allreduce_init(nullptr, in_.data(), out_.data(), 1, MPI_INT, MPI_SUM, &collective_),
          "torc_allreduce_init: schedule is NULL");
  refused(torc_collective_start(nullptr), "collective is NULL");
  refused(torc_schedule_load(nullptr, "x", nullptr), "geometry is NULL");
  EXPECT_TORC_OK(torc_collective_free(nullptr));
  EXPECT_TORC_OK(torc_schedule_free(nullptr));
  EXPECT_TORC_OK(torc_geometry_destroy(nullptr));
  EXPECT_TORC_OK(torc_context_destroy(nullptr));
  EXPECT_STREQ(torc_result_name(TORC_ERR_BUSY), "TORC_ERR_BUSY");
  EXPECT_STREQ(torc_result_name(77), "unknown result");
}

}  // namespace
}  // namespace torc::runtime
