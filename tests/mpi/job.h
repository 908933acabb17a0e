// Shared by the MPI tests: every rank runs the same GoogleTest program under mpiexec, on the
// schedules that tests/mpi/BUILD compiles for its number of ranks.
#ifndef TORC_TESTS_MPI_JOB_H_
#define TORC_TESTS_MPI_JOB_H_

#include <cstdint>
#include <map>
#include <memory>
#include <source_location>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/api/torc.h"
#include "runtime/job/bound_schedule.h"
#include "runtime/job/geometry.h"
#include "runtime/job/rank_map.h"
#include "tests/mpi/world.h"

namespace torc::runtime {

/// The torus for this number of ranks: "1", "2", "2x2", "3x2".
std::string shapeOfWorld();

/// Path of the compiled schedule for `collective` on that torus.
std::string schedulePath(const std::string& collective);

/// The input numbers of a rank: all differ.
std::int32_t numberOf(int rank, std::int64_t element);
std::vector<std::int32_t> numbers(std::int64_t count);

/// Runs the collective `rounds` times and frees it.
void runAndFree(torc_collective* collective, int rounds = 1);

/// Number of allocations by this rank's C++ code: torc is C++, MPICH is C.
std::uint64_t allocations();

bool isLastRank();

/// The text of the last error equals that of rank 0.
void expectSameTextEverywhere();

/// The bytes of a file.
std::string contentsOf(const std::string& path);

/// Placement of ranks on the torus of the tests' schedules.
struct Mapping {
  std::string name;
  bool turned = false;                    // the order of axes reversed
  std::vector<std::int32_t> to_schedule;  // empty: the identity
};

/// The identity, axes reversed, ranks reversed, and some random ones, equal on all ranks.
std::vector<Mapping> allMappings();

/// Geometries like the interposer's: over a given communicator, with an order of ranks of their
/// own, and schedules bound to them, all without agreement.
class MappedTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  /// Makes the geometry anew.
  void mapRanks(const Mapping& mapping);
  /// Frees the geometry and its schedules.
  void clear();

  /// Binds, once per geometry, the schedule of that name.
  torc_schedule* schedule(const std::string& collective);

  torc_context* context_ = nullptr;
  std::unique_ptr<torc_geometry> geometry_;
  std::map<std::string, std::unique_ptr<torc_schedule>> schedules_;
};

/// With ranks in their own order.
class JobTest : public MappedTest {
 protected:
  void SetUp() override {
    MappedTest::SetUp();
    mapRanks({});
  }
};

/// Expects that a call succeeded, and shows the error text otherwise.
#define EXPECT_TORC_OK(call) EXPECT_EQ(call, TORC_OK) << torc_error_message()
#define ASSERT_TORC_OK(call) ASSERT_EQ(call, TORC_OK) << torc_error_message()

/// Expects the code of an error, and a message that contains `text`.
void expectError(int status, int code, const std::string& text,
                 std::source_location place = std::source_location::current());
/// Of an argument.
inline void refused(int status, const std::string& text,
                    std::source_location place = std::source_location::current()) {
  expectError(status, TORC_ERR_ARGUMENT, text, place);
}

}  // namespace torc::runtime

#endif  // TORC_TESTS_MPI_JOB_H_
