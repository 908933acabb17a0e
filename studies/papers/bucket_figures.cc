// Figure 6 of "Optimal Bucket Algorithms for Large MPI Collectives on Torus Interconnects" (Jain
// and Sabharwal, ICS 2010), section 5.2, from the BG/P preset and the simulator: the same axes,
// torc's schedules. Writes FOLDER/a.csv to f.csv and prints the tables.
//
//   (a) reduce_scatter, (b) allgather, (c) allreduce on 4096 nodes over sizes
//   (d) allreduce with a delay in every reduction, so that computation is the limit on any number
//       of cores
//   (e) allgather, (f) allreduce over numbers of nodes, 32 KiB of vector per node
//
// and its figure 2, theorems 3.1 to 3.3 and equations 1 to 5 beside `torc bounds` and schedules.
//
//   bazel run -c opt //studies/papers:bucket -- FOLDER        bash studies/papers/bucket.sh also
//   draws
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <llvm/Support/Error.h>

#include "compiler/choice/choice.h"
#include "model/bounds/bounds.h"
#include "model/machines/machine.h"
#include "studies/baselines/baselines.h"
#include "studies/papers/figures.h"

namespace torc::studies {
namespace {

// An estimate in place of the preset's number, the peak of the floating-point units: 8 bytes in 8
// cycles of 850 MHz, the time of one core of BG/P to load two doubles, add them, store the sum and
// handle the packets around it. The paper's single-core runs are computation bound at 2.6 to 3.7
// times the bound (its section 5.2: 6 and 12 to 17 times faster than one library).
constexpr double kCoreGamma = 1 / 0.85e9;
// Part (d): the factor by which reductions are slowed down.
constexpr double kDelay = 8;
// The paper: one core, or one for each color.
constexpr std::uint32_t kColors = 3;

model::Machine partition(const std::string& shape, double gamma) {
  model::Machine machine = take(model::partitionOf(take(model::findMachine("bgp")), shape));
  machine.gamma = gamma;
  return machine;
}

/// The choice of `torc compile --bytes`.
double torcTime(model::Machine machine, Collective collective, double bytes, std::uint32_t cores) {
  machine.cores = cores;
  const compiler::CollectiveSpec spec{collective, take(model::topologyOf(machine))};
  return take(compiler::choose(spec, machine, bytes, {})).best().predicted_s;
}

/// Algorithm 1 of the paper: colors of equal weight in rotated orders, ring after ring with a
/// barrier between phases, `directions` of a link at a time; only parts overlap.
compiler::Candidate algorithm1(model::Machine machine, Collective collective, double bytes,
                               std::uint32_t cores, std::uint32_t parts,
                               passes::DirectionModel directions,
                               const char* algorithm = "bucket") {
  machine.cores = cores;
  const compiler::CollectiveSpec spec{collective, take(model::topologyOf(machine))};
  compiler::ChoiceLimits limits;
  limits.algorithm = take(compiler::findAlgorithm(algorithm));
  limits.weights = passes::ColorWeights::kEqual;
  limits.directions = directions;
  limits.dependences = passes::DependenceKind::kPhase;
  limits.chunks = parts;
  limits.segments = 1;
  return take(compiler::choose(spec, machine, bytes, limits)).best();
}

/// In the best number of parts, with each summed while the next one arrives (section 4 of the
/// paper).
double algorithm1Time(const model::Machine& machine, Collective collective, double bytes) {
  double best = INFINITY;
  for (const std::uint32_t parts : {1, 2, 4, 8}) {
    const compiler::Candidate candidate = algorithm1(machine, collective, bytes, kColors, parts,
                                                     passes::DirectionModel::kBidirectional);
    best = std::min(best, candidate.predicted_s);
  }
  return best;
}

/// The bound drawn in the paper: the bandwidth only.
double bandwidthBound(const model::Machine& machine, Collective collective, double bytes) {
  model::BoundRequest request;
  request.bytes = bytes;
  request.collective = torc::rowOf(collective);
  return model::lowerBound(machine, request).bandwidth_s;
}

struct Row {
  double x = 0;  // bytes, or nodes
  double bound = 0, multi = 0, single = 0, paper = 0, trees = 0, binomial = 0;
};

Row rowOf(double x, const model::Machine& machine, Collective collective, double bytes) {
  return {x,
          bandwidthBound(machine, collective, bytes),
          torcTime(machine, collective, bytes, kColors),
          torcTime(machine, collective, bytes, 1),
          algorithm1Time(machine, collective, bytes),
          spanningTreesTime(machine, collective, bytes),
          binomialTreesTime(machine, collective, bytes)};
}

/// Writes the rows as CSV, in seconds, and prints them as a table, in ratios.
void report(const std::string& folder, char part, const char* title, const char* x,
            const std::vector<Row>& rows) {
  const CsvFile file(folder, std::string(1, part));
  std::fprintf(file, "%s,bound,multi-core,single-core,Algorithm 1,spanning trees,binomial trees\n",
               x);
  std::printf("\n(%c) %s\n\n", part, title);
  printHeads({x, "bound, ms", "multi-core / bound", "single-core / bound", "Algorithm 1 / bound",
              "single / multi", "trees / multi", "binomial / multi"});
  for (const Row& row : rows) {
    std::fprintf(file, "%.0f,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g\n", row.x, row.bound, row.multi,
                 row.single, row.paper, row.trees, row.binomial);
    std::printf("| %.0f | %.3f | %.3f | %.3f | %.3f | %.2f | %.2f | %.1f |\n", row.x,
                1e3 * row.bound, row.multi / row.bound, row.single / row.bound,
                row.paper / row.bound, row.single / row.multi, row.trees / row.multi,
                row.binomial / row.multi);
  }
}

void overSizes(const std::string& folder, char part, const char* title, Collective collective,
               double gamma) {
  const model::Machine machine = partition("16x16x16", gamma);
  std::vector<Row> rows;
  for (double bytes = 1 << 20; bytes <= 1 << 29; bytes *= 2)
    rows.push_back(rowOf(bytes, machine, collective, bytes));
  report(folder, part, title, "bytes", rows);
}

void overNodes(const std::string& folder, char part, const char* title, Collective collective) {
  std::vector<Row> rows;
  for (const char* shape :
       {"8x8x8", "8x8x16", "8x16x16", "16x16x16", "16x16x32", "16x32x32", "32x32x32", "40x32x32"}) {
    const model::Machine machine = partition(shape, kCoreGamma);
    const auto nodes = static_cast<double>(machine.nodes());
    rows.push_back(rowOf(nodes, machine, collective, nodes * 32 * 1024));
  }
  report(folder, part, title, "nodes", rows);
}

/// A line of the table of formulas: the paper's, and torc's.
void compare(const char* of, const char* what, const std::string& shape, double formula,
             double torc) {
  std::printf("| %s | %s | %s | %.6g | %.6g | %+.2f %% |\n", of, what, shape.c_str(), formula, torc,
              100 * (torc / formula - 1));
}

/// Figure 2, the theorems and the equations, in n beta, n gamma and messages of a node. Bounds are
/// those of `torc bounds`, costs those of Algorithm 1 compiled: its busiest link in the simulator.
void formulas() {
  std::printf("\nFigure 2, theorems 3.1 to 3.3, equations 1 to 5\n\n");
  printHeads({"of the paper", "what", "torus", "formula", "torc", "difference"});
  constexpr double kBytes = 1 << 30;
  const auto machineOf = [](const std::string& shape) { return partition(shape, kCoreGamma); };
  const std::string cube = "16x16x16", box = "8x32x16";
  for (const std::string& shape : {cube, box}) {
    const model::Machine machine = machineOf(shape);
    const double p = static_cast<double>(machine.nodes()), axes = 3;
    const auto bound = [&](Collective collective, bool unidirectional) {
      model::BoundRequest request;
      request.bytes = kBytes;
      request.collective = torc::rowOf(collective);
      request.unidirectional = unidirectional;
      return model::lowerBound(machine, request);
    };
    const auto share = [&](Collective collective, bool unidirectional) {
      return bound(collective, unidirectional).bandwidth_s / kBytes * machine.linkBandwidth(0);
    };
    const double one = (p - 1) / p / axes;
    compare("theorem 3.1", "reduce_scatter at least, n beta", shape, one,
            share(Collective::kReduceScatter, true));
    compare("theorem 3.2", "allgather at least, n beta", shape, one,
            share(Collective::kAllgather, true));
    compare("theorem 3.3", "allreduce at least, n beta", shape, 2 * one,
            share(Collective::kAllreduce, true));
    compare("figure 2", "reduce_scatter, both directions", shape, one / 2,
            share(Collective::kReduceScatter, false));
    compare("figure 2", "allgather, both directions", shape, one / 2,
            share(Collective::kAllgather, false));
    compare("figure 2", "allreduce, both directions", shape, one,
            share(Collective::kAllreduce, false));
    compare(
        "figure 2", "sums at least, n gamma", shape, (p - 1) / p,
        bound(Collective::kAllreduce, false).compute_s / kBytes / machine.gamma * machine.cores);
  }
  using passes::DirectionModel;
  const auto cost = [&](const char* of, const std::string& shape, DirectionModel directions,
                        double formula, double messages, const char* algorithm = "bucket") {
    const compiler::Candidate candidate = algorithm1(machineOf(shape), Collective::kReduceScatter,
                                                     kBytes, kColors, 1, directions, algorithm);
    compare(of, "n beta", shape, formula, candidate.load_bytes / kBytes);
    compare(of, "start-ups of a node", shape, messages, static_cast<double>(candidate.messages));
  };
  // (d_l - 1) / d_l (d_s^N - 1) / d_s^N d_s / (d_s - 1) / N
  const auto asymmetric = [](double longest, double shortest) {
    return (longest - 1) / longest * (1 - std::pow(shortest, -3)) * shortest / (shortest - 1) / 3;
  };
  cost("equation 1", "16", DirectionModel::kUnidirectional, 15.0 / 16, 15, "bucket-1d");
  cost("equation 2", box, DirectionModel::kBidirectional, asymmetric(32, 8) / 2, 6 * 53);
  cost("equation 3", cube, DirectionModel::kBidirectional, 4095.0 / 4096 / 6, 18 * 15);
  cost("equation 4", box, DirectionModel::kUnidirectional, asymmetric(32, 8), 3 * 53);
  cost("equation 5", cube, DirectionModel::kUnidirectional, 4095.0 / 4096 / 3, 9 * 15);
}

int run(const std::string& folder) {
  overSizes(folder, 'a', "reduce_scatter on 4096 nodes", Collective::kReduceScatter, kCoreGamma);
  overSizes(folder, 'b', "allgather on 4096 nodes", Collective::kAllgather, kCoreGamma);
  overSizes(folder, 'c', "allreduce on 4096 nodes", Collective::kAllreduce, kCoreGamma);
  overSizes(folder, 'd', "allreduce on 4096 nodes, reductions delayed", Collective::kAllreduce,
            kDelay * kCoreGamma);
  overNodes(folder, 'e', "allgather of 32 KiB per node", Collective::kAllgather);
  overNodes(folder, 'f', "allreduce of 32 KiB times the number of nodes", Collective::kAllreduce);
  formulas();
  return 0;
}

}  // namespace
}  // namespace torc::studies

int main(int argc, char** argv) {
  if (argc != 2) torc::studies::quit("usage: bucket FOLDER");
  return torc::studies::run(argv[1]);
}
