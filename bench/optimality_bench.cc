// Compares schedules with the lower bound, as predicted by the simulator: the load of the busiest
// link and the time of a large vector, over the bound. It does so for equal weights, phase after
// phase (the bucket paper), and for the weighted schedules that `torc compile --bytes` chooses.
//
//   bazel run -c opt //bench:optimality_bench [-- BYTES [SHAPE...]]
//
// BYTES: default 1G. A shape may end in "/D=f": dimension D has f times the bandwidth.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "compiler/choice/choice.h"
#include "compiler/sizes.h"
#include "compiler/target.h"
#include "model/bounds/bounds.h"
#include "passes/analysis/color_shares.h"

namespace torc {
namespace {

template <typename T>
T orQuit(llvm::Expected<T> value) {
  if (value) return std::move(*value);
  std::fprintf(stderr, "optimality_bench: %s\n", llvm::toString(value.takeError()).c_str());
  std::exit(1);
}

/// "4x4x4/Z=0.5".
compiler::Target targetOf(const std::string& text) {
  const std::size_t slash = text.find('/');
  compiler::Target target = orQuit(compiler::readTarget(text.substr(0, slash), "", ""));
  if (slash == std::string::npos) return target;
  const std::size_t axis = kAxisNames.find(text.at(slash + 1));
  if (axis >= target.machine.dimensions.size()) {
    std::fprintf(stderr, "optimality_bench: %s: which dimension?\n", text.c_str());
    std::exit(2);
  }
  target.machine.dimensions[axis].bandwidth *= std::atof(text.c_str() + slash + 3);
  target.topology = orQuit(model::topologyOf(target.machine));
  return target;
}

/// The best candidate for the collective on the target within limits.
compiler::Candidate best(Collective collective, const compiler::Target& target, double bytes,
                         const compiler::ChoiceLimits& limits) {
  return orQuit(compiler::choose({collective, target.topology}, target.machine, bytes, limits))
      .best();
}

void row(const std::string& shape, double bytes) {
  const compiler::Target target = targetOf(shape);
  compiler::ChoiceLimits paper, weighted;
  paper.algorithm = weighted.algorithm = orQuit(compiler::findAlgorithm("bucket"));
  paper.weights = passes::ColorWeights::kEqual;
  paper.directions = weighted.directions = passes::DirectionModel::kBidirectional;
  paper.dependences = passes::DependenceKind::kPhase;
  weighted.weights = passes::ColorWeights::kBalanced;
  weighted.dependences = passes::DependenceKind::kRegion;

  // T* in units of n beta / 2, beta being the seconds per byte of the fastest link.
  double fastest = 0;
  for (std::uint32_t i = 0; i < target.machine.dimensions.size(); ++i) {
    if (target.machine.dimensions[i].size > 1)
      fastest = std::max(fastest, target.machine.linkBandwidth(i));
  }
  const double optimum =
      2 * fastest *
      model::lowerBound(target.machine, {rowOf(Collective::kAllgather), 1}).bandwidth_s;
  const double equal_load = passes::largestLoad(target.topology, passes::Halves::kApart,
                                                passes::equalShares(target.topology)) /
                            optimum;
  const double balanced_load =
      passes::largestLoad(target.topology, passes::Halves::kApart,
                          passes::balancedShares(target.topology, passes::Halves::kApart)) /
      optimum;
  std::printf("| %s | %llu | %.3f | %.6f |", shape.c_str(),
              static_cast<unsigned long long>(target.topology.ranks()), equal_load, balanced_load);
  for (int c = 0; c < kCollectiveCount; ++c) {
    const auto collective = static_cast<Collective>(c);
    if (!paper.algorithm->serves(rowOf(collective))) continue;
    model::BoundRequest request;
    request.collective = rowOf(collective);
    request.bytes = bytes;
    const double bound = model::lowerBound(target.machine, request).bound_s;
    const compiler::Candidate equal = best(collective, target, bytes, paper);
    const compiler::Candidate chosen = best(collective, target, bytes, weighted);
    std::printf(" %.3f | %.3f (%u x %u, %u) |", equal.predicted_s / bound,
                chosen.predicted_s / bound, chosen.options.chunks, chosen.options.segments,
                chosen.options.in_flight);
  }
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace
}  // namespace torc

int main(int argc, char** argv) {
  std::vector<std::string> shapes(argv + 1, argv + argc);
  double bytes = 1 << 30;
  if (!shapes.empty()) {
    bytes = static_cast<double>(torc::orQuit(torc::compiler::parseSize(shapes.front(), "BYTES")));
    shapes.erase(shapes.begin());
  }
  if (shapes.empty()) {
    shapes = {"8x8x8",  "16x8x8", "8x32x16", "40x32x16",    "64x32x32",
              "4x4x2",  "2x3x5",  "8x2",     "16x4",        "12x10x3x2",
              "2x2x32", "4x4x64", "4x4x4",   "4x4x4/Z=0.5", "8x4x2m"};
  }
  std::printf(
      "Over the lower bound, %.0f bytes; load: of the busiest link; time: simulated; in brackets "
      "chunks x segments, and how many of these are in flight\n\n"
      "| torus | nodes | load, equal weights | load, balanced | allreduce, equal, phases | "
      "balanced | reduce_scatter, equal, phases | balanced | allgather, equal, phases | balanced "
      "|\n"
      "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
      bytes);
  for (const std::string& shape : shapes)
    torc::row(shape, bytes);
  return 0;
}
