// Measures the gain of core threads (TORC_CORES): rounds of all ranks of a torus in one process,
// with the caller's core alone and with one more, in turns. Wall clock; medians.
//
//   bazel run -c opt //bench:core_threads_bench [-- COLLECTIVE SHAPE BYTES CORES]
//
// The caller copies the messages; the threads can take over the additions.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "bench/bench_schedule.h"
#include "runtime/execution/core_threads.h"
#include "runtime/execution/inprocess_job.h"
#include "runtime/reductions/reduction.h"

namespace torc::runtime {
namespace {

constexpr int kRuns = 15;

std::unique_ptr<InProcessJob> makeJob(const Schedule& schedule, std::uint64_t bytes,
                                      ElementKind kind, CoreThreads* cores) {
  JobOptions options;
  options.element_bytes = elementBytes(kind);
  options.reducer = {reductionKernel(kind, ReduceOp::kSum), nullptr};
  options.cores = cores;
  Counts counts;
  counts.count = bytes / options.element_bytes;
  auto job = InProcessJob::create(schedule.view(), counts, options);
  if (!job.ok()) {
    std::fprintf(stderr, "core_threads_bench: %s\n", job.status().message().c_str());
    std::exit(1);
  }
  return std::move(*job);
}

double seconds(InProcessJob& job) {
  const auto begin = std::chrono::steady_clock::now();
  (void)job.run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + kRuns / 2);
  return values[kRuns / 2];
}

void printRow(const std::string& collective, const std::string& shape, std::uint64_t bytes,
              unsigned cores, ElementKind kind = ElementKind::kDouble) {
  const Schedule schedule = compileSchedule(collective, shape, 1);
  CoreThreads threads(cores - 1);
  const std::unique_ptr<InProcessJob> alone = makeJob(schedule, bytes, kind, nullptr),
                                      shared = makeJob(schedule, bytes, kind, &threads);
  std::vector<double> one, more;
  for (int run = 0; run < kRuns; ++run) {
    one.push_back(seconds(*alone));
    more.push_back(seconds(*shared));
  }
  std::printf("| %s | %s | %s | %llu | %.0f | %.0f | %.2f |\n", collective.c_str(), shape.c_str(),
              kind == ElementKind::kDouble ? "double" : "long double",
              static_cast<unsigned long long>(bytes), median(one) * 1e6, median(more) * 1e6,
              median(more) / median(one));
  std::fflush(stdout);
}

}  // namespace
}  // namespace torc::runtime

int main(int argc, char** argv) {
  if (argc != 1 && argc != 5) {
    std::fprintf(stderr, "usage: core_threads_bench [COLLECTIVE SHAPE BYTES CORES]\n");
    return 2;
  }
  const unsigned cores = argc == 5 ? static_cast<unsigned>(std::atoi(argv[4])) : 2;
  std::printf("| collective | torus | sums of | bytes | 1 core, us | %u cores, us | ratio |\n",
              cores);
  std::printf("| --- | --- | --- | --- | --- | --- | --- |\n");
  if (argc == 5) {
    torc::runtime::printRow(argv[1], argv[2], std::strtoull(argv[3], nullptr, 10), cores);
    return 0;
  }
  for (const std::uint64_t bytes : {256 << 10, 1 << 20, 4 << 20, 16 << 20}) {
    torc::runtime::printRow("allreduce", "2", bytes, cores);
    torc::runtime::printRow("allreduce", "2x2", bytes, cores);
    torc::runtime::printRow("reduce_scatter", "4x4", bytes, cores);
    torc::runtime::printRow("allreduce", "2x2", bytes, cores,
                            torc::runtime::ElementKind::kLongDouble);
  }
}
