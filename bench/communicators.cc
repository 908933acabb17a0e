// Measures the interposer's cost for a program that makes communicators and calls no intercepted
// collective on them. The program does not use torc and has no nonblocking collectives;
// bench/job_start.sh runs it plain and preloaded.
//
//   communicators    a line per way of making one: nanoseconds for making and freeing it, the
//   median
//                    over batches, and its name; with few others alive, and with 500
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <vector>

#include <mpi.h>

namespace {

double nanoseconds() {
  const auto since_boot = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::nano>(since_boot).count();
}

/// Measures making a communicator by `make` and freeing it.
void timeMaking(const char* name, int alive, const std::function<void(MPI_Comm*)>& make) {
  constexpr int kBatches = 60, kCommunicators = 20;
  std::vector<double> batches;
  for (int batch = 0; batch < kBatches; ++batch) {
    const double start = nanoseconds();
    for (int i = 0; i < kCommunicators; ++i) {
      MPI_Comm made = MPI_COMM_NULL;
      make(&made);
      MPI_Comm_free(&made);
    }
    batches.push_back((nanoseconds() - start) / kCommunicators);
  }
  std::ranges::nth_element(batches, batches.begin() + kBatches / 2);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) std::printf("%.0f %s, %d alive\n", batches[kBatches / 2], name, alive);
}

void timeAll(int alive) {
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &group);
  timeMaking("MPI_Comm_dup", alive, [](MPI_Comm* made) { MPI_Comm_dup(MPI_COMM_WORLD, made); });
  timeMaking("MPI_Comm_split", alive,
             [&](MPI_Comm* made) { MPI_Comm_split(MPI_COMM_WORLD, 0, rank, made); });
  timeMaking("MPI_Comm_create", alive,
             [&](MPI_Comm* made) { MPI_Comm_create(MPI_COMM_WORLD, group, made); });
  timeMaking("MPI_Comm_create_group", alive,
             [&](MPI_Comm* made) { MPI_Comm_create_group(MPI_COMM_WORLD, group, 1, made); });
  timeMaking("MPI_Cart_create", alive, [&](MPI_Comm* made) {
    const int periodic = 1;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, made);
  });
  MPI_Group_free(&group);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  timeAll(0);
  std::vector<MPI_Comm> alive(500);
  for (MPI_Comm& comm : alive)
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  timeAll(static_cast<int>(alive.size()));
  for (MPI_Comm& comm : alive)
    MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
