// Geometries as the interposer makes them: over a given communicator, with an order of
// ranks of their own, and schedules bound to them, all without agreement.
#ifndef TORC_TESTS_MPI_MAPPED_JOB_H_
#define TORC_TESTS_MPI_MAPPED_JOB_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/job/bound_schedule.h"
#include "runtime/job/geometry.h"
#include "runtime/job/rank_map.h"
#include "tests/mpi/job.h"

namespace torc::runtime {

/// How ranks lie on the torus of the tests' schedules.
struct Mapping {
  std::string name;
  bool turned = false;                    // the order of axes reversed
  std::vector<std::int32_t> to_schedule;  // empty: the identity
};

/// As they come, axes reversed, ranks reversed, and some at random, alike on all ranks.
std::vector<Mapping> allMappings();

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

}  // namespace torc::runtime

#endif  // TORC_TESTS_MPI_MAPPED_JOB_H_
