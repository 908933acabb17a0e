// Measures the interposer's cost: the program does not use torc; bench/job_start.sh runs it plain
// and preloaded.
//
//   job_start init     one line: microseconds from the moment at which the last rank entered
//   MPI_Init
//                      to that at which the last one left it, and the mean and largest processor
//                      time of a rank in it. All ranks on one host.
//   job_start calls    a line per kind of call that torc does not serve: nanoseconds per call, and
//   its
//                      name. On two ranks.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <numeric>
#include <string_view>
#include <sys/resource.h>
#include <vector>

#include <mpi.h>

namespace {

double wallMicroseconds() {
  const auto since_boot = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::micro>(since_boot).count();
}

double processorMicroseconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto microseconds = [](const timeval& time) {
    return 1e6 * static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec);
  };
  return microseconds(usage.ru_utime) + microseconds(usage.ru_stime);
}

/// Every rank's value, on rank 0.
std::vector<double> gather(double mine) {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::vector<double> all(static_cast<std::size_t>(size));
  MPI_Gather(&mine, 1, MPI_DOUBLE, all.data(), 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  return all;
}

void printInit(double entered, double left, double used) {
  const std::vector<double> all_entered = gather(entered), all_left = gather(left),
                            all_used = gather(used);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0) return;
  std::printf(
      "%.0f %.0f %.0f\n", std::ranges::max(all_left) - std::ranges::max(all_entered),
      std::accumulate(all_used.begin(), all_used.end(), 0.0) / static_cast<double>(all_used.size()),
      std::ranges::max(all_used));
}

/// The median over batches, on rank 0. `calls` in a batch: few if ranks wait for each other, which
/// takes milliseconds whenever one of them has lost its core.
void timeCall(const char* name, int calls, const std::function<void()>& call) {
  constexpr int kBatches = 100;
  std::vector<double> batches;
  for (int batch = 0; batch < kBatches; ++batch) {
    const double start = wallMicroseconds();
    for (int i = 0; i < calls; ++i)
      call();
    batches.push_back(1000 * (wallMicroseconds() - start) / calls);
  }
  std::ranges::nth_element(batches, batches.begin() + kBatches / 2);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) std::printf("%.1f %s\n", batches[kBatches / 2], name);
}

void leftOperand(void*, void*, int*, MPI_Datatype*) {}

void timeCalls() {
  constexpr int kAlone = 1000, kTogether = 20;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char in[8] = {}, out[8] = {};
  timeCall("MPI_Allreduce of 1 byte on MPI_COMM_SELF", kAlone,
           [&] { MPI_Allreduce(in, out, 1, MPI_BYTE, MPI_BOR, MPI_COMM_SELF); });
  timeCall("MPI_Bcast of 1 byte on MPI_COMM_SELF", kAlone,
           [&] { MPI_Bcast(in, 1, MPI_BYTE, 0, MPI_COMM_SELF); });
  timeCall("MPI_Iallreduce of 1 byte on MPI_COMM_SELF, MPI_Wait", kAlone, [&] {
    MPI_Request request;
    MPI_Iallreduce(in, out, 1, MPI_BYTE, MPI_BOR, MPI_COMM_SELF, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  });
  timeCall("MPI_Sendrecv of 1 byte with itself", kAlone, [&] {
    MPI_Sendrecv(in, 1, MPI_BYTE, 0, 0, out, 1, MPI_BYTE, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  });
  const int peer = 1 - rank;
  timeCall("MPI_Sendrecv of 1 byte", kTogether, [&] {
    MPI_Sendrecv(in, 1, MPI_BYTE, peer, 0, out, 1, MPI_BYTE, peer, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  });
  const int counts[] = {1, 1}, displacements[] = {0, 1};
  timeCall("MPI_Scatterv of 1 byte", kTogether, [&] {
    MPI_Scatterv(in, counts, displacements, MPI_BYTE, out, 1, MPI_BYTE, 0, MPI_COMM_WORLD);
  });
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(leftOperand, 0, &op);
  timeCall("MPI_Reduce_scatter_block of 1 byte, an operation that does not commute", kTogether,
           [&] { MPI_Reduce_scatter_block(in, out, 1, MPI_BYTE, op, MPI_COMM_WORLD); });
  MPI_Op_free(&op);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc == 2 ? argv[1] : "";
  if (what != "init" && what != "calls") {
    std::fprintf(stderr, "usage: job_start init|calls\n");
    return 2;
  }
  const double used_before = processorMicroseconds(), entered = wallMicroseconds();
  MPI_Init(&argc, &argv);
  const double left = wallMicroseconds(), used = processorMicroseconds() - used_before;
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (what == "calls" && size != 2) {
    std::fprintf(stderr, "job_start calls: on 2 ranks\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  if (what == "init") {
    printInit(entered, left, used);
  } else {
    timeCalls();
  }
  MPI_Finalize();
  return 0;
}
