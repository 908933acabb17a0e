#include "tests/runtime/pmpi/mpi_calls/checks.h"

#include <atomic>
#include <cstdio>

#include <mpi.h>

namespace mpi_calls {
namespace {

std::atomic<int64_t> checks{0};
std::atomic<int64_t> failures{0};

constexpr int kMostReports = 10;

}  // namespace

void (*on_failure)(const std::string& text) = nullptr;

void check(bool holds, const std::string& text) {
  ++checks;
  if (holds) return;
  if (on_failure != nullptr) return on_failure(text);
  const int64_t failure = ++failures;
  if (failure > kMostReports) return;
  int rank = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::fprintf(stderr, "rank %d: %s%s\n", rank, text.c_str(),
               failure == kMostReports ? " (further failures are only counted)" : "");
}

void checkCall(int code, const std::string& text) {
  if (code == MPI_SUCCESS) return check(true, text);
  char message[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, message, &length);
  for (char& character : message)
    if (character == '\n') character = ' ';
  check(false, text + ": " + message);
}

int64_t checkCount() {
  return checks;
}

int64_t failureCount() {
  return failures;
}

int summarize(const char* name) {
  // Rank 0 collects by point-to-point messages: the collectives are what is on trial.
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  constexpr int kTag = 32101;
  int64_t totals[2] = {checks, failures};
  if (rank != 0) {
    MPI_Send(totals, 2, MPI_INT64_T, 0, kTag, MPI_COMM_WORLD);
    MPI_Recv(totals, 2, MPI_INT64_T, 0, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    for (int other = 1; other < size; ++other) {
      int64_t theirs[2];
      MPI_Recv(theirs, 2, MPI_INT64_T, other, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      totals[0] += theirs[0];
      totals[1] += theirs[1];
    }
    for (int other = 1; other < size; ++other)
      MPI_Send(totals, 2, MPI_INT64_T, other, kTag, MPI_COMM_WORLD);
    std::printf("%s: %lld checks on %d ranks, %lld failed\n", name,
                static_cast<long long>(totals[0]), size, static_cast<long long>(totals[1]));
    std::fflush(stdout);
  }
  return totals[1] == 0 && totals[0] > 0 ? 0 : 1;
}

}  // namespace mpi_calls
