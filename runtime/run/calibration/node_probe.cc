#include "runtime/run/calibration/node_probe.h"

#include <vector>

#include <mpi.h>

#include "runtime/reductions/reduction.h"
#include "runtime/run/calibration/repeated_samples.h"

namespace torc::runtime {
namespace {

constexpr int kTimings = 7;
constexpr double kTimingSeconds = 0.01;

}  // namespace

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

}  // namespace torc::runtime
