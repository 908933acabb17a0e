// Shared by the benchmarks of the runtime: compiled schedules, processor time.
#ifndef TORC_BENCH_BENCH_SCHEDULE_H_
#define TORC_BENCH_BENCH_SCHEDULE_H_

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <utility>

#include <llvm/Support/raw_ostream.h>

#include "compiler/compile.h"
#include "schedules/schedule.h"

namespace torc {

[[noreturn]] inline void quit(const std::string& message) {
  std::fprintf(stderr, "%s: %s\n", program_invocation_short_name, message.c_str());
  std::exit(1);
}

/// The bucket algorithm's schedule.
inline Schedule compileSchedule(const std::string& collective, const std::string& shape,
                                std::uint32_t chunks) {
  llvm::Expected<Collective> kind = compiler::parseCollective(collective);
  if (!kind) quit(llvm::toString(kind.takeError()));
  const StatusOr<Topology> topology = parseTopology(shape);
  if (!topology.ok()) quit(topology.status().message());
  llvm::Expected<const compiler::Algorithm*> algorithm = compiler::findAlgorithm("bucket");
  if (!algorithm) quit(llvm::toString(algorithm.takeError()));
  compiler::PipelineOptions options;
  options.chunks = chunks;
  llvm::Expected<ir::Program> program =
      compiler::compile({*kind, *topology}, **algorithm, compiler::pipelineOf(**algorithm, options),
                        passes::PassManagerOptions());
  if (!program) quit(llvm::toString(program.takeError()));
  return std::move(program->schedule);
}

inline double processorSeconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

/// Nanoseconds of one call of `round`: the minimum of seven samples of 20 ms or more.
template <typename Round>
double nanoseconds(Round round) {
  std::uint64_t rounds = 1;
  double least = 1e30;
  for (int sample = 0; sample < 7;) {
    const double start = processorSeconds();
    for (std::uint64_t i = 0; i < rounds; ++i)
      round();
    const double seconds = processorSeconds() - start;
    if (seconds < 0.02) {
      rounds *= 2;
      continue;
    }
    least = std::min(least, 1e9 * seconds / static_cast<double>(rounds));
    ++sample;
  }
  return least;
}

}  // namespace torc

#endif  // TORC_BENCH_BENCH_SCHEDULE_H_
