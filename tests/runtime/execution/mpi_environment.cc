// Initialises MPI for the tests of this folder that call it.
#include <gtest/gtest.h>
#include <mpi.h>

namespace torc::runtime {
namespace {

struct MpiEnvironment : testing::Environment {
  void SetUp() override { MPI_Init(nullptr, nullptr); }
  void TearDown() override { MPI_Finalize(); }
};
const testing::Environment* const environment =
    testing::AddGlobalTestEnvironment(new MpiEnvironment);

}  // namespace
}  // namespace torc::runtime
