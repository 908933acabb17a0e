// Much of the same, with memory flat. What is measured is the process: VmRSS after a warm-up of a
// tenth, and at the end.
//
//   stress communicators N    N communicators made (dup and split in turn), used and freed
//   stress calls N            N calls, blocking, nonblocking and persistent starts in turn
//   stress signatures N       N calls, each of another count, so that no persistent plan is found
//   again stress pending N          N times: many communicators at once, calls under way on all

#include <cstdlib>
#include <string>
#include <vector>

#include <mpi.h>

#include "tests/runtime/pmpi/conformance/checks.h"
#include "tests/runtime/pmpi/mpi4_names.h"
#include "tests/runtime/pmpi/stress/memory.h"

namespace conformance {
namespace {

#ifdef OPEN_MPI
constexpr bool kFreesUnderCalls = false;
#else
constexpr bool kFreesUnderCalls = true;
#endif

int world_rank = 0;
int world_size = 1;

/// Sum of one rank's contribution `rank + i` over the ranks of `comm` with world ranks 0 .. size-1.
void checkSums(const std::vector<double>& sums, size_t count, const char* what) {
  const double ranks = world_size * (world_size - 1) / 2.0;
  bool good = true;
  for (size_t i = 0; i < count; ++i)
    good = good && sums[i] == ranks + static_cast<double>(world_size * i);
  check(good, what);
}

std::vector<double> contribution(size_t count) {
  std::vector<double> in(count);
  for (size_t i = 0; i < count; ++i)
    in[i] = world_rank + static_cast<double>(i);
  return in;
}

/// Runs step(0 .. n-1), and compares memory after the first tenth and at the end.
template <typename Step>
void repeat(const std::string& what, long n, int64_t allowed, Step step) {
  const long warm_up = n / 10 + 1;
  for (long i = 0; i < warm_up; ++i)
    step(i);
  const int64_t before = heldKib();
  const double start = MPI_Wtime();
  for (long i = warm_up; i < n; ++i)
    step(i);
  reportGrowth(std::to_string(n) + " " + what, before, MPI_Wtime() - start, allowed);
}

void communicators(long n) {
  const std::vector<double> in = contribution(8);
  std::vector<double> out(8);
  repeat("communicators", n, 1024, [&](long i) {
    MPI_Comm comm;
    if (i % 2 == 0)
      MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    else
      MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &comm);
    if (i % 3 == 0) {
      MPI_Request request;
      MPI_Iallreduce(in.data(), out.data(), 8, MPI_DOUBLE, MPI_SUM, comm, &request);
      MPI_Comm_free(&comm);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
      MPI_Allreduce(in.data(), out.data(), 8, MPI_DOUBLE, MPI_SUM, comm);
      MPI_Comm_free(&comm);
    }
    checkSums(out, 8, "a sum on a new communicator");
  });
}

void calls(long n) {
  const std::vector<double> in = contribution(8);
  std::vector<double> out(8), started(8), gathered(8 * world_size);
  MPI_Request persistent;
  MPI_Allreduce_init(in.data(), started.data(), 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD,
                     MPI_INFO_NULL, &persistent);
  repeat("calls", n, 1024, [&](long i) {
    out.assign(8, -1);
    MPI_Request request;
    switch (i % 4) {
      case 0:
        MPI_Allreduce(in.data(), out.data(), 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        return checkSums(out, 8, "MPI_Allreduce");
      case 1:
        MPI_Iallreduce(in.data(), out.data(), 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        return checkSums(out, 8, "MPI_Iallreduce");
      case 2:
        MPI_Start(&persistent);
        MPI_Wait(&persistent, MPI_STATUS_IGNORE);
        return checkSums(started, 8, "MPI_Allreduce_init");
      default:
        MPI_Allgather(in.data(), 8, MPI_DOUBLE, gathered.data(), 8, MPI_DOUBLE, MPI_COMM_WORLD);
        check(gathered[8 * (world_size - 1)] == world_size - 1, "MPI_Allgather");
    }
  });
  MPI_Request_free(&persistent);
}

void signatures(long n) {
  // Counts from a cycle longer than any cache of a few calls.
  constexpr long kMost = 4096;
  const std::vector<double> in = contribution(kMost);
  std::vector<double> out(kMost);
  repeat("calls of different counts", n, 2048, [&](long i) {
    const int count = static_cast<int>(i * 1021 % kMost);
    MPI_Allreduce(in.data(), out.data(), count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    checkSums(out, static_cast<size_t>(count), "a sum of another count");
  });
}

void pending(long n) {
  constexpr int kAtOnce = 50;
  const std::vector<double> in = contribution(100);
  std::vector<std::vector<double>> out(kAtOnce, std::vector<double>(100));
  repeat("times 50 communicators with pending calls", n, 2048, [&](long) {
    std::vector<MPI_Comm> comms(kAtOnce);
    std::vector<MPI_Request> requests(kAtOnce);
    for (MPI_Comm& comm : comms)
      MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < kAtOnce; ++i) {
      // Each rank its own order.
      const int which = (i * 7 + world_rank * 13) % kAtOnce;
      MPI_Iallreduce(in.data(), out[which].data(), 100, MPI_DOUBLE, MPI_SUM, comms[which],
                     &requests[which]);
    }
    // Open MPI 4.1 crashes by itself where a communicator is freed under a nonblocking collective,
    // and torc hands it the calls for which it has no communicator left.
    const auto free_all = [&] {
      for (MPI_Comm& comm : comms)
        MPI_Comm_free(&comm);
    };
    if (kFreesUnderCalls) free_all();
    MPI_Waitall(kAtOnce, requests.data(), MPI_STATUSES_IGNORE);
    if (!kFreesUnderCalls) free_all();
    for (const std::vector<double>& sums : out)
      checkSums(sums, 100, "a pending sum");
  });
}

int run(const std::string& what, long n) {
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  if (what == "communicators") {
    communicators(n);
  } else if (what == "calls") {
    calls(n);
  } else if (what == "signatures") {
    signatures(n);
  } else if (what == "pending") {
    pending(n);
  } else {
    return 2;
  }
  return summarize("stress");
}

}  // namespace
}  // namespace conformance

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int status = argc == 3 ? conformance::run(argv[1], std::atol(argv[2])) : 2;
  MPI_Finalize();
  return status;
}
