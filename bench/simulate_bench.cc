// Measures the cost of simulations: balanced allreduces in 16 chunks, two at a time on a link, from
// 8 to 65,536 nodes, and their makespan of 64 MiB over the bound. Processor time, the best of five.
//
//   bazel run -c opt //bench:simulate_bench [-- SHAPE...]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "compiler/compile.h"
#include "compiler/target.h"
#include "model/bounds/bounds.h"
#include "model/simulator/simulator.h"

namespace torc {
namespace {

/// Processor time, which other work on the machine does not lengthen; all this is one thread.
double processorSeconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

template <typename T>
T orQuit(llvm::Expected<T> value) {
  if (value) return std::move(*value);
  std::fprintf(stderr, "simulate_bench: %s\n", llvm::toString(value.takeError()).c_str());
  std::exit(1);
}

void row(const std::string& shape) {
  const compiler::Target target = orQuit(compiler::readTarget(shape, "", ""));
  const compiler::Algorithm* algorithm = orQuit(compiler::findAlgorithm("bucket"));
  compiler::PipelineOptions pipeline;
  pipeline.weights = passes::ColorWeights::kBalanced;
  pipeline.chunks = 16;
  pipeline.in_flight = 2;
  passes::PassManagerOptions manager;
  manager.verify_each = false;
  const ir::Program program =
      orQuit(compiler::compile({Collective::kAllreduce, target.topology}, *algorithm,
                               compiler::pipelineOf(*algorithm, pipeline), manager));
  model::SimulateOptions options;
  options.bytes = 64 << 20;
  model::SimulateResult result;
  double best = 1e9;
  for (int i = 0; i < 5; ++i) {
    const double start = processorSeconds();
    result = orQuit(model::simulate(program.schedule.view(), target.machine, options));
    best = std::min(best, processorSeconds() - start);
  }
  const double bound =
      model::lowerBound(target.machine, {rowOf(Collective::kAllreduce), options.bytes}).bound_s;
  std::printf("| %s | %llu | %llu | %llu | %.1f | %.4f |\n", shape.c_str(),
              static_cast<unsigned long long>(target.topology.ranks()),
              static_cast<unsigned long long>(result.nodes),
              static_cast<unsigned long long>(result.operations), 1e3 * best,
              result.makespan_s / bound);
  std::fflush(stdout);
}

}  // namespace
}  // namespace torc

int main(int argc, char** argv) {
  std::vector<std::string> shapes(argv + 1, argv + argc);
  if (shapes.empty()) {
    shapes = {"2x2x2",    "4x4x4",    "8x8x8",     "16x8x8", "8x32x16",
              "40x32x16", "64x32x32", "12x10x3x2", "8x8x8m", "16x16m"};
  }
  std::printf(
      "| torus | nodes | simulated | operations | CPU ms | makespan / bound, 64 MiB |\n"
      "| --- | --- | --- | --- | --- | --- |\n");
  for (const std::string& shape : shapes)
    torc::row(shape);
  return 0;
}
