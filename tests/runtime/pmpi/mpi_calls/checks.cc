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

void sumOnRank0(std::vector<uint64_t>& numbers) {
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  constexpr int kTag = 32101;
  const int count = static_cast<int>(numbers.size());
  if (rank != 0) MPI_Send(numbers.data(), count, MPI_UINT64_T, 0, kTag, MPI_COMM_WORLD);
  std::vector<uint64_t> theirs(numbers.size());
  for (int other = 1; other < size && rank == 0; ++other) {
    MPI_Recv(theirs.data(), count, MPI_UINT64_T, other, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (size_t i = 0; i < numbers.size(); ++i)
      numbers[i] += theirs[i];
  }
}

int summarize(const char* name) {
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::vector<uint64_t> totals = {static_cast<uint64_t>(checks), static_cast<uint64_t>(failures)};
  sumOnRank0(totals);
  if (rank == 0) {
    std::printf("%s: %llu checks on %d ranks, %llu failed\n", name,
                static_cast<unsigned long long>(totals[0]), size,
                static_cast<unsigned long long>(totals[1]));
    std::fflush(stdout);
  }
  return totals[1] == 0 && totals[0] > 0 ? 0 : 1;
}

}  // namespace mpi_calls
