// What the MPI tests share: every rank runs the same GoogleTest program under mpiexec, on the
// schedules that tests/mpi/BUILD compiles for its number of ranks.
#ifndef TORC_TESTS_MPI_JOB_H_
#define TORC_TESTS_MPI_JOB_H_

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/api/torc.h"
#include "tests/mpi/world.h"

namespace torc::runtime {

/// The torus for this number of ranks: "1", "2", "2x2", "3x2".
std::string shapeOfWorld();

/// Path of the compiled schedule for `collective` on that torus.
std::string schedulePath(const std::string& collective);

/// The numbers that a rank brings in: all differ.
std::int32_t numberOf(int rank, std::int64_t element);
std::vector<std::int32_t> numbers(std::int64_t count);

/// Runs so many rounds and frees the collective.
void runAndFree(torc_collective* collective, int rounds = 1);

/// How often this rank's C++ code has allocated: torc is C++, MPICH is C.
std::uint64_t allocations();

bool isLastRank();

/// The text of the last error is that of rank 0.
void expectSameTextEverywhere();

/// The bytes of a file.
std::string contentsOf(const std::string& path);

/// A context and a geometry over all ranks, and schedules on demand.
class JobTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  /// Loads, once per test, the schedule for "allreduce", "reduce_scatter" or "allgather".
  torc_schedule* schedule(const std::string& collective);

  torc_context* context_ = nullptr;
  torc_geometry* geometry_ = nullptr;
  torc_schedule* schedules_[3] = {};
};

/// Expects that a call succeeded, and shows the error text where not.
#define EXPECT_TORC_OK(call) EXPECT_EQ(call, TORC_OK) << torc_error_message()
#define ASSERT_TORC_OK(call) ASSERT_EQ(call, TORC_OK) << torc_error_message()

/// Expects code and text of an error. The message contains `text`.
#define EXPECT_TORC_ERROR(call, code, text)                                    \
  do {                                                                         \
    EXPECT_EQ(call, code) << torc_error_message();                             \
    EXPECT_NE(std::string(torc_error_message()).find(text), std::string::npos) \
        << torc_error_message();                                               \
  } while (false)

}  // namespace torc::runtime

#endif  // TORC_TESTS_MPI_JOB_H_
