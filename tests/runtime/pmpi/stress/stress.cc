// Repeated operations with constant memory. The measured quantity is VmRSS of the process after a
// warm-up of a tenth, and at the end.
//
//   stress communicators N    N communicators made (dup and split in turn), used and freed
//   stress calls N            N calls, blocking, nonblocking and persistent starts in turn
//   stress signatures N       N calls, each of another count, so that no persistent plan is found
//   again stress pending N          N times: many communicators at once, calls under way on all

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <mpi.h>

#include "tests/runtime/pmpi/mpi_calls/call.h"
#include "tests/runtime/pmpi/mpi_calls/checks.h"
#include "tests/runtime/pmpi/stress/memory.h"

namespace mpi_calls {
namespace {

#ifdef OPEN_MPI
constexpr bool kFreesUnderCalls = false;
#else
constexpr bool kFreesUnderCalls = true;
#endif

int world_rank = 0;
const Communicator kWorld{"MPI_COMM_WORLD", MPI_COMM_WORLD};

Shape sum(Form form, int64_t count) {
  return simpleShape(collectiveCalled("Allreduce"), form, count);
}

void finish(Call& call) {
  checkCall(MPI_Wait(&call.request(), MPI_STATUS_IGNORE), "MPI_Wait");
  call.verify();
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
  repeat("communicators", n, 1024, [&](long i) {
    Communicator on{"a new one"};
    if (i % 2 == 0)
      MPI_Comm_dup(MPI_COMM_WORLD, &on.handle);
    else
      MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &on.handle);
    Call call(sum(i % 3 == 0 ? Form::kNonblocking : Form::kBlocking, 8), on);
    call.start();
    MPI_Comm_free(&on.handle);
    finish(call);
  });
}

void calls(long n) {
  Call blocking(sum(Form::kBlocking, 8), kWorld), nonblocking(sum(Form::kNonblocking, 8), kWorld);
  Call persistent(sum(Form::kPersistent, 8), kWorld);
  Call gathered(simpleShape(collectiveCalled("Allgather"), Form::kBlocking, 8), kWorld);
  Call* const all[] = {&blocking, &nonblocking, &persistent, &gathered};
  repeat("calls", n, 1024, [&](long i) { all[i % 4]->run(); });
}

void signatures(long n) {
  // Counts from a cycle longer than any cache of a few calls.
  constexpr long kMost = 4096;
  repeat("calls of different counts", n, 2048,
         [&](long i) { Call(sum(Form::kBlocking, i * 1021 % kMost), kWorld).run(); });
}

void pending(long n) {
  constexpr int kAtOnce = 50;
  repeat("times 50 communicators with pending calls", n, 2048, [&](long) {
    std::vector<Communicator> on(kAtOnce);
    std::vector<std::unique_ptr<Call>> calls;
    for (Communicator& one : on) {
      MPI_Comm_dup(MPI_COMM_WORLD, &one.handle);
      calls.push_back(std::make_unique<Call>(sum(Form::kNonblocking, 100), one));
    }
    // Each rank its own order.
    for (int i = 0; i < kAtOnce; ++i)
      calls[(i * 7 + world_rank * 13) % kAtOnce]->start();
    // Open MPI 4.1 crashes by itself where a communicator is freed under a nonblocking collective,
    // and torc hands it the calls for which it has no communicator left.
    if (kFreesUnderCalls) freeCommunicators(on);
    for (const auto& call : calls)
      finish(*call);
    freeCommunicators(on);
  });
}

int run(const std::string& what, long n) {
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
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
}  // namespace mpi_calls

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int status = argc == 3 ? mpi_calls::run(argv[1], std::atol(argv[2])) : 2;
  MPI_Finalize();
  return status;
}
