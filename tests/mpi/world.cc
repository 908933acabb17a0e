#include "tests/mpi/world.h"

#include <csignal>
#include <cstdio>
#include <cstring>
#include <unistd.h>

#include <gtest/gtest.h>
#include <mpi.h>

namespace torc {
namespace {

/// The slowest test, Conformance.Forms, takes up to 28 s on two cores beside another one.
constexpr unsigned kMostSeconds = 120;

char g_test[256];  // what runs, for the handler

void endHangingTest(int /*signal*/) {
  const char text[] = " still runs after 120 seconds\n";
  (void)!write(STDERR_FILENO, g_test, std::strlen(g_test));
  (void)!write(STDERR_FILENO, text, sizeof(text) - 1);
  _exit(3);
}

struct Watch : testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo& test) override {
    std::snprintf(g_test, sizeof(g_test), "%s.%s", test.test_suite_name(), test.name());
    alarm(kMostSeconds);
  }
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed() || worldRank() == 0) return;
    std::fprintf(stderr, "rank %d: %s: %s:%d: %s\n", worldRank(), g_test, result.file_name(),
                 result.line_number(), result.summary());
  }
  void OnTestEnd(const testing::TestInfo& /*test*/) override {
    sleepUntilAllCome();
    int found = 0;
    PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    EXPECT_EQ(found, 0) << "the test leaves a message that nobody has received";
    sleepUntilAllCome();  // no message of the next test is found here
    alarm(0);
  }
};

struct World : testing::Environment {
  void SetUp() override {
    int provided = MPI_THREAD_SINGLE;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
    testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
    if (worldRank() != 0) delete listeners.Release(listeners.default_result_printer());
    std::signal(SIGALRM, endHangingTest);
    listeners.Append(new Watch);
  }
  void TearDown() override { MPI_Finalize(); }
};
const testing::Environment* const world = testing::AddGlobalTestEnvironment(new World);

}  // namespace

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

void sleepUntilAllCome() {
  MPI_Request request = MPI_REQUEST_NULL;
  PMPI_Ibarrier(MPI_COMM_WORLD, &request);
  for (int done = 0; done == 0; PMPI_Test(&request, &done, MPI_STATUS_IGNORE))
    usleep(1000);
}

}  // namespace torc
