// Memory of the process, and its growth over a stress test.
#ifndef TORC_TESTS_RUNTIME_PMPI_STRESS_MEMORY_H_
#define TORC_TESTS_RUNTIME_PMPI_STRESS_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>

#include <mpi.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
// sanitizer/allocator_interface.h, which Debian's g++ lacks.
extern "C" size_t __sanitizer_get_current_allocated_bytes();
#endif

#include "tests/runtime/pmpi/mpi_calls/checks.h"

namespace mpi_calls {

/// The process's memory in KiB: its resident memory. A sanitizer keeps freed memory for a while,
/// and shadow copies; with one it is the allocated memory.
inline int64_t heldKib() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return static_cast<int64_t>(__sanitizer_get_current_allocated_bytes() / 1024);
#else
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    long long kib = 0;
    if (std::sscanf(line.c_str(), "VmRSS: %lld kB", &kib) == 1) return kib;
  }
  return 0;
#endif
}

/// Prints, on rank 0, the operations and the growth of memory, and checks on every rank that it did
/// not grow by more than `allowed` KiB. MPI itself keeps some: an occasional page is no leak.
inline void reportGrowth(const std::string& what, int64_t before, double seconds, int64_t allowed) {
  const int64_t after = heldKib();
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    std::printf("%s: %.1f s, %lld KiB held after the warm-up, %lld KiB at the end\n", what.c_str(),
                seconds, static_cast<long long>(before), static_cast<long long>(after));
    std::fflush(stdout);
  }
  check(after - before <= allowed,
        what + ": memory grew by " + std::to_string(after - before) + " KiB");
}

}  // namespace mpi_calls

#endif  // TORC_TESTS_RUNTIME_PMPI_STRESS_MEMORY_H_
