#include "runtime/run/calibration/node_probe.h"

#include <vector>

#include <mpi.h>

#include "runtime/reductions/reduction.h"
#include "runtime/run/calibration/repeated_samples.h"

namespace torc::runtime {
namespace {

constexpr std::size_t kCachedBytes = 8192;  // of each array: three fit into 32 KiB
constexpr int kTimings = 7;
constexpr double kTimingSeconds = 0.01;

/// Seconds per byte of the sum of two arrays into a third, the median of several timings.
double secondsPerByte(std::size_t array_bytes) {
  const ReduceFunction sum = reductionKernel(ElementKind::kFloat, ReduceOp::kSum);
  const std::size_t count = array_bytes / sizeof(float);
  std::vector<float> result(count, 0.0F), a(count, 1.0F), b(count, 2.0F);
  Samples seconds;
  int sums = 1;
  for (int timing = 0; timing < kTimings;) {
    const double start = MPI_Wtime();
    for (int i = 0; i < sums; ++i)
      sum(result.data(), a.data(), b.data(), count, nullptr);
    const double taken = MPI_Wtime() - start;
    if (taken < kTimingSeconds) {
      sums *= 2;  // too short to time
      continue;
    }
    seconds.add(taken / sums / static_cast<double>(array_bytes));
    ++timing;
  }
  return seconds.median();
}

}  // namespace

double measureReduction() {
  return secondsPerByte(kCachedBytes);
}

double measureMemory(std::size_t array_bytes) {
  return 3 / secondsPerByte(array_bytes);
}

}  // namespace torc::runtime
