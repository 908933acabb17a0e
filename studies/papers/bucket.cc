// Figure 6 of "Optimal Bucket Algorithms for Large MPI Collectives on Torus Interconnects" (Jain
// and Sabharwal, ICS 2010), section 5.2, from the BG/P preset and the simulator: the same axes,
// torc's schedules. Writes FOLDER/a.csv to f.csv and prints the tables.
//
//   (a) reduce_scatter, (b) allgather, (c) allreduce on 4096 nodes over sizes
//   (d) allreduce with a delay in every reduction, so that computation is the limit on any number
//       of cores
//   (e) allgather, (f) allreduce over numbers of nodes, 32 KiB of vector per node
//
//   bazel run -c opt //studies/papers:bucket -- FOLDER        bash studies/papers/bucket.sh also
//   draws
#include <algorithm>
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

// An estimate, and not the preset's number, which is the peak of the floating-point units: 8 bytes
// in 8 cycles of 850 MHz, which is what one core of BG/P needs to load two doubles, add them, store
// the sum and handle the packets around it. The paper's single-core runs are computation bound
// at 2.6 to 3.7 times the bound (its section 5.2: 6 and 12 to 17 times faster than one library).
constexpr double kCoreGamma = 1 / 0.85e9;
// Part (d): how much longer a reduction takes.
constexpr double kDelay = 8;
// The paper: one core, or one for each color.
constexpr std::uint32_t kColors = 3;

model::Machine partition(const std::string& shape, double gamma) {
  model::Machine machine = take(model::partitionOf(take(model::findMachine("bgp")), shape));
  machine.gamma = gamma;
  return machine;
}

/// What `torc compile --bytes` chooses.
double torcTime(model::Machine machine, Collective collective, double bytes, std::uint32_t cores) {
  machine.cores = cores;
  const compiler::CollectiveSpec spec{collective, take(model::topologyOf(machine))};
  return take(compiler::choose(spec, machine, bytes, {})).best().predicted_s;
}

/// What the paper draws as the bound: the bandwidth only.
double bandwidthBound(const model::Machine& machine, Collective collective, double bytes) {
  model::BoundRequest request;
  request.bytes = bytes;
  request.collective = torc::rowOf(collective);
  return model::lowerBound(machine, request).bandwidth_s;
}

struct Row {
  double x = 0;  // bytes, or nodes
  double bound = 0, multi = 0, single = 0, trees = 0, binomial = 0;
};

Row rowOf(double x, const model::Machine& machine, Collective collective, double bytes) {
  return {x,
          bandwidthBound(machine, collective, bytes),
          torcTime(machine, collective, bytes, kColors),
          torcTime(machine, collective, bytes, 1),
          spanningTreesTime(machine, collective, bytes),
          binomialTreesTime(machine, collective, bytes)};
}

/// Writes the rows as CSV, in seconds, and prints them as a table, in ratios.
void report(const std::string& folder, char part, const char* title, const char* x,
            const std::vector<Row>& rows) {
  const CsvFile file(folder, std::string(1, part));
  std::fprintf(file, "%s,bound,multi-core,single-core,spanning trees,binomial trees\n", x);
  std::printf("\n(%c) %s\n\n", part, title);
  std::printf(
      "| %s | bound, ms | multi-core / bound | single-core / bound | single / multi | trees "
      "/ multi | binomial / multi |\n| --- | --- | --- | --- | --- | --- | --- |\n",
      x);
  for (const Row& row : rows) {
    std::fprintf(file, "%.0f,%.6g,%.6g,%.6g,%.6g,%.6g\n", row.x, row.bound, row.multi, row.single,
                 row.trees, row.binomial);
    std::printf("| %.0f | %.3f | %.3f | %.3f | %.2f | %.2f | %.1f |\n", row.x, 1e3 * row.bound,
                row.multi / row.bound, row.single / row.bound, row.single / row.multi,
                row.trees / row.multi, row.binomial / row.multi);
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

int run(const std::string& folder) {
  overSizes(folder, 'a', "reduce_scatter on 4096 nodes", Collective::kReduceScatter, kCoreGamma);
  overSizes(folder, 'b', "allgather on 4096 nodes", Collective::kAllgather, kCoreGamma);
  overSizes(folder, 'c', "allreduce on 4096 nodes", Collective::kAllreduce, kCoreGamma);
  overSizes(folder, 'd', "allreduce on 4096 nodes, reductions delayed", Collective::kAllreduce,
            kDelay * kCoreGamma);
  overNodes(folder, 'e', "allgather of 32 KiB per node", Collective::kAllgather);
  overNodes(folder, 'f', "allreduce of 32 KiB times the number of nodes", Collective::kAllreduce);
  return 0;
}

}  // namespace
}  // namespace torc::studies

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: bucket FOLDER\n");
    return 2;
  }
  return torc::studies::run(argv[1]);
}
