// Traces by the C API: results agreed by all ranks, order of calls, sub-communicators.
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include "runtime/api/torc.h"
#include "tests/mpi/job.h"
#include "tests/runtime/trace/trace_facts.h"

namespace torc::runtime {
namespace {

/// Rank 0's scratch path, which alone counts.
std::string tracePath() {
  return testing::TempDir() + "/trace_api_" + std::to_string(worldSize()) + ".json";
}

class TraceApi : public JobTest {
 protected:
  /// Rounds of a sum over a new geometry.
  void sum(int rounds) {
    torc_geometry* geometry = nullptr;
    torc_schedule* loaded = nullptr;
    torc_collective* collective = nullptr;
    std::vector<int> in(100, 1), out(100);
    ASSERT_TORC_OK(torc_geometry_create(context_, MPI_COMM_WORLD, nullptr, nullptr, &geometry));
    ASSERT_TORC_OK(torc_schedule_load(geometry, schedulePath("allreduce").c_str(), &loaded));
    ASSERT_TORC_OK(
        torc_allreduce_init(loaded, in.data(), out.data(), 100, MPI_INT, MPI_SUM, &collective));
    runAndFree(collective, rounds);
    EXPECT_EQ(out, std::vector<int>(100, worldSize()));
    EXPECT_TORC_OK(torc_schedule_free(loaded));
    EXPECT_TORC_OK(torc_geometry_destroy(geometry));
  }
};

TEST_F(TraceApi, TwoTracesOneAfterTheOther) {
  for (int rounds : {2, 3}) {
    ASSERT_TORC_OK(torc_trace_open(context_, MPI_COMM_WORLD, tracePath().c_str(), 0));
    expectError(torc_trace_open(context_, MPI_COMM_WORLD, tracePath().c_str(), 0), TORC_ERR_BUSY,
                "torc_trace_open: the context is traced already");
    expectError(torc_context_destroy(context_), TORC_ERR_BUSY, "torc_context_destroy");
    sum(rounds);
    std::uint64_t dropped = 1;
    ASSERT_TORC_OK(torc_trace_close(context_, &dropped));
    EXPECT_EQ(dropped, 0u);
    sum(1);  // no longer traced
    if (worldRank() == 0) {
      std::stringstream text;
      text << std::ifstream(tracePath()).rdbuf();
      const TraceFacts facts = readTrace(text.str());
      EXPECT_THAT(facts.faults, testing::IsEmpty());
      EXPECT_EQ(facts.ranks.size(), static_cast<std::size_t>(worldSize()));
      EXPECT_EQ(facts.events.at("allreduce"), static_cast<std::uint64_t>(rounds * worldSize()));
      if (worldSize() > 1) {
        EXPECT_EQ(facts.flows, facts.events.at("send"));
      }
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

TEST_F(TraceApi, DroppedEventsAreCountedOnAllRanks) {
  ASSERT_TORC_OK(torc_trace_open(context_, MPI_COMM_WORLD, tracePath().c_str(), 1));
  sum(2);
  std::uint64_t dropped = 0;
  ASSERT_TORC_OK(torc_trace_close(context_, &dropped));
  // At least of each rank: the load, the init and the first round.
  EXPECT_GE(dropped, static_cast<std::uint64_t>(3 * worldSize()));
}

TEST_F(TraceApi, ErrorsAreTheSameOnAllRanks) {
  expectError(torc_trace_open(context_, MPI_COMM_WORLD, "/nowhere/t.json", 0), TORC_ERR_IO,
              "cannot write '/nowhere/t.json': No such file or directory");
  // Only rank 0's path counts.
  const bool root = worldRank() == 0;
  refused(torc_trace_open(context_, MPI_COMM_WORLD, root ? nullptr : tracePath().c_str(), 0),
          "the path is NULL or empty");
  refused(torc_trace_open(nullptr, MPI_COMM_WORLD, "t.json", 0),
          "torc_trace_open: context is NULL");
  refused(torc_trace_open(context_, MPI_COMM_NULL, "t.json", 0), "MPI_COMM_NULL");
  refused(torc_trace_close(context_, nullptr), "torc_trace_close: the context is not traced");
  // After an error the context can be traced.
  ASSERT_TORC_OK(
      torc_trace_open(context_, MPI_COMM_WORLD, root ? tracePath().c_str() : nullptr, 10));
  EXPECT_TORC_OK(torc_trace_close(context_, nullptr));
}

}  // namespace
}  // namespace torc::runtime
