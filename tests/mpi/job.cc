// MPI around GoogleTest, and the fixture.
#include "tests/mpi/job.h"

#include <fstream>
#include <iterator>

#include <mpi.h>

namespace torc::runtime {
namespace {

struct MpiEnvironment : testing::Environment {
  void SetUp() override {
    int provided = MPI_THREAD_SINGLE;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
    // One rank tells of progress; failures are told by all.
    if (worldRank() != 0) {
      testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
      delete listeners.Release(listeners.default_result_printer());
      listeners.Append(new FailurePrinter);
    }
  }
  void TearDown() override { MPI_Finalize(); }

  struct FailurePrinter : testing::EmptyTestEventListener {
    void OnTestPartResult(const testing::TestPartResult& result) override {
      if (!result.failed()) return;
      std::fprintf(stderr, "rank %d: %s:%d: %s\n", worldRank(), result.file_name(),
                   result.line_number(), result.summary());
    }
  };
};
const testing::Environment* const environment =
    testing::AddGlobalTestEnvironment(new MpiEnvironment);

}  // namespace

std::string shapeOfWorld() {
  switch (worldSize()) {
    case 4:
      return "2x2";
    case 6:
      return "3x2";
    default:
      return std::to_string(worldSize());
  }
}

std::string schedulePath(const std::string& collective) {
  return "tests/mpi/" + collective + "_" + shapeOfWorld() + ".torc";
}

int worldRank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int worldSize() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

std::string contentsOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void JobTest::SetUp() {
  ASSERT_TORC_OK(torc_context_create(&context_));
  ASSERT_TORC_OK(
      torc_geometry_create(context_, MPI_COMM_WORLD, shapeOfWorld().c_str(), nullptr, &geometry_));
}

void JobTest::TearDown() {
  for (torc_schedule* schedule : schedules_)
    EXPECT_TORC_OK(torc_schedule_free(schedule));
  EXPECT_TORC_OK(torc_geometry_destroy(geometry_));
  EXPECT_TORC_OK(torc_context_destroy(context_));
}

torc_schedule* JobTest::schedule(const std::string& collective) {
  const int kind = collective == "allreduce" ? 0 : collective == "reduce_scatter" ? 1 : 2;
  if (schedules_[kind] == nullptr) {
    EXPECT_TORC_OK(
        torc_schedule_load(geometry_, schedulePath(collective).c_str(), &schedules_[kind]));
  }
  return schedules_[kind];
}

}  // namespace torc::runtime
