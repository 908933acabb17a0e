// The fixture of this folder's tests: each rank runs them, plain or with torc preloaded.
#ifndef TORC_TESTS_RUNTIME_PMPI_CONFORMANCE_FIXTURE_H_
#define TORC_TESTS_RUNTIME_PMPI_CONFORMANCE_FIXTURE_H_

#include <cstdlib>

#include <gtest/gtest.h>

#include "tests/mpi/world.h"
#include "tests/runtime/pmpi/mpi_calls/call.h"
#include "tests/runtime/pmpi/mpi_calls/checks.h"

namespace conformance {

using namespace mpi_calls;

/// Whether torc is absent.
inline bool isPlain() {
  return std::getenv("TORC_LIBRARY") == nullptr;
}

/// The grid of this folder's libraries for this number of ranks.
inline Grid gridOfWorld() {
  const int ranks = torc::worldSize();
  return parseGrid(ranks == 4 ? "2x2" : ranks == 6 ? "2x3" : ranks == 8 ? "2x2x2" : "2");
}

/// Fails if one of the test's checks failed, or if it made none.
class Conformance : public testing::Test {
 protected:
  void TearDown() override {
    if (IsSkipped()) return;
    EXPECT_GT(checkCount(), checks_);
    EXPECT_EQ(failureCount(), failures_);
  }

 private:
  const int64_t checks_ = checkCount(), failures_ = failureCount();
};

}  // namespace conformance

#endif  // TORC_TESTS_RUNTIME_PMPI_CONFORMANCE_FIXTURE_H_
