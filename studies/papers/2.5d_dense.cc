// Table 1 and figures 4, 5, 6 and 13 of "Improving communication performance in dense linear
// algebra via topology aware collectives" (Solomonik, Bhatele and Demmel, SC 2011): times of
// multiplying and factoring by the models (studies/dense). Writes FOLDER/NAME.csv and prints the
// tables.
//
//   4a, 4b    share of peak on 256 to 2048 nodes of Blue Gene/P: multiplication, LU
//   5a, 5b    multiplication on 16,384 nodes: share of peak, and where the time goes
//   6         LU on 16,384 nodes: where the time goes
//   13a, 13b  efficiency on one plane to all of the exascale machine
//
//   bazel run -c opt //studies/papers:2.5d_dense -- FOLDER    bash studies/papers/2.5d.sh also
//   draws
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <llvm/Support/Error.h>

#include "model/machines/machine.h"
#include "studies/dense/dense_cost.h"
#include "studies/papers/figures.h"

namespace torc::studies {
namespace {

/// A partition of a machine, and jobs on it.
class On {
 public:
  On(const char* machine, const std::string& shape)
      : machine_(take(model::partitionOf(take(model::findMachine(machine)), shape))) {
    job_.flop_rate = flopRateOf(machine_);
  }
  On& square() {
    job_.grid = squareGrid(machine_.nodes());
    job_.trees = LineTrees::kBinomial;
    return *this;
  }
  On& layered(LineTrees trees) {
    job_.grid = gridOf(machine_);
    job_.trees = trees;
    return *this;
  }
  On& linesOf(double nodes) {
    job_.line_nodes = nodes;
    return *this;
  }
  DenseCost gemm(double n, GemmRounds rounds) {
    job_.size = n;
    return gemmCost(machine_, job_, rounds);
  }
  /// Block columns of least time, or of the paper's width.
  DenseCost lu(double n, bool pivoting, bool as_in_paper = false) {
    job_.size = n;
    return luCost(machine_, job_, as_in_paper ? paperWidths(job_) : LuWidths{}, pivoting);
  }

 private:
  model::Machine machine_;
  DenseJob job_;
};

constexpr double kPercent = 100;
constexpr LineTrees kRectangular = LineTrees::kRectangular, kBinomial = LineTrees::kBinomial;
constexpr GemmRounds kMulticasts = GemmRounds::kMulticasts, kShifts = GemmRounds::kShifts,
                     kSharedShifts = GemmRounds::kSharedShifts;

void exascaleMachine() {
  const model::Machine machine = take(model::findMachine("exascale-2.5d"));
  std::printf("\nTable 1. The exascale machine\n\n");
  printHeads({"", "the paper", "`torc machines`"});
  std::printf("| total flop rate | 10^18 flop/s | %.4g flop/s |\n",
              flopRateOf(machine) * static_cast<double>(machine.nodes()));
  std::printf("| nodes | 262,144 | %llu |\n", static_cast<unsigned long long>(machine.nodes()));
  std::printf("| g of a link | 0.06 s/GB | %.4g s/GB |\n", 1e9 / machine.linkBandwidth(0));
  std::printf("| o | 250 ns | %.4g ns |\n", machine.overhead * 1e9);
  std::printf("| L | 250 ns | %.4g ns |\n", machine.latency * 1e9);
  std::printf("| dimensions | 64x64x64 torus | %ux%ux%u |\n", machine.dimensions[0].size,
              machine.dimensions[1].size, machine.dimensions[2].size);
  std::printf("| total memory | 32 PB | not modelled |\n");
}

using Numbers = std::vector<std::optional<double>>;

/// Percentages of peak of the ways of multiplying, in the order of kWays.
const std::vector<std::string> kWays = {"2.5D rectangular", "2.5D binomial", "2-D shifts",
                                        "2-D shifts in order", "2-D binomial"};
Numbers multiply(On& on, double n) {
  return {kPercent * on.layered(kRectangular).gemm(n, kMulticasts).efficiency(),
          kPercent * on.layered(kBinomial).gemm(n, kMulticasts).efficiency(),
          kPercent * on.square().gemm(n, kShifts).efficiency(),
          kPercent * on.square().gemm(n, kSharedShifts).efficiency(),
          kPercent * on.square().gemm(n, kMulticasts).efficiency()};
}

std::vector<std::string> under(const std::string& first, std::vector<std::string> names) {
  names.insert(names.begin(), first);
  return names;
}

/// Figures 4: the partition 8x32xc, of 8x8x32 nodes, mapped as in the paper.
void strongScaling(const std::string& folder) {
  constexpr double n = 65536;
  Table gemm{"04a", "Figure 4(a). Multiplication of n = 65,536 on Blue Gene/P, per cent of peak",
             under("nodes", kWays)};
  Table lu{"04b",
           "Figure 4(b). LU of n = 65,536 on Blue Gene/P, per cent of peak",
           {"nodes", "2.5D rectangular", "2.5D binomial", "2.5D rectangular pivoting",
            "2-D binomial", "2-D binomial pivoting"}};
  for (const int layers : {1, 2, 4, 8}) {
    On on("bgp", "8x32x" + std::to_string(layers));
    const std::string nodes = std::to_string(256 * layers);
    gemm.add(nodes, multiply(on, n));
    lu.add(nodes, {kPercent * on.layered(kRectangular).lu(n, false).efficiency(),
                   kPercent * on.layered(kBinomial).lu(n, false).efficiency(),
                   kPercent * on.layered(kRectangular).lu(n, true).efficiency(),
                   kPercent * on.square().lu(n, false).efficiency(),
                   kPercent * on.square().lu(n, true).efficiency()});
  }
  gemm.write(folder, "%.1f");
  lu.write(folder, "%.1f");
}

/// Figures 5 and 6: 16,384 nodes, 32x32 and 16 layers.
void atScale(const std::string& folder) {
  On on("bgp", "32x32x16");
  Table efficiency{"05a",
                   "Figure 5(a). Multiplication on 16,384 nodes of Blue Gene/P, per cent of peak",
                   under("n", kWays)};
  for (int n = 4096; n <= 131072; n *= 2)
    efficiency.add(std::to_string(n), multiply(on, n));
  efficiency.write(folder, "%.1f");
  const std::vector<std::string> parts = {"algorithm", "compute", "communicate",
                                          "communication gone (%)"};
  Table gemm{"05b",
             "Figure 5(b). The same, 2-D SUMMA's time as 1: compute, communicate, and what part of "
             "2-D's communication is gone",
             parts};
  Table lu{"06",
           "Figure 6. LU of n = 131,072 on 16,384 nodes of Blue Gene/P, 2-D LU's time as 1; wide: "
           "by the paper's widths",
           parts};
  const auto compare = [](Table& table, const std::string& n, const std::string& how,
                          const DenseCost& plane, const DenseCost& layers) {
    const double whole = plane.compute_s + plane.communicate_s();
    for (const auto& [name, cost] : {std::pair{"2-D", &plane}, {"2.5D", &layers}}) {
      table.add(n + name + how, {cost->compute_s / whole, cost->communicate_s() / whole,
                                 kPercent * (1 - cost->communicate_s() / plane.communicate_s())});
    }
  };
  for (const int n : {8192, 131072}) {
    compare(gemm, std::to_string(n) + " ", "", on.square().gemm(n, kMulticasts),
            on.layered(kRectangular).gemm(n, kMulticasts));
  }
  constexpr int n = 131072;  // the only size of LU that the paper's text names
  for (const bool as_in_paper : {false, true}) {
    for (const bool pivoting : {false, true}) {
      compare(lu, "", std::string(pivoting ? " pivoting" : "") + (as_in_paper ? " wide" : ""),
              on.square().lu(n, pivoting, as_in_paper),
              on.layered(kRectangular).lu(n, pivoting, as_in_paper));
    }
  }
  gemm.write(folder, "%.3f");
  lu.write(folder, "%.3f");
}

/// Figures 13. The paper takes the peak of its Figure 12, lines of 64, for every line (section
/// 5.3).
void exascale(const std::string& folder) {
  constexpr double n = 4194304, kLine = 64;
  Table gemm{"13a",
             "Figure 13(a). Multiplication of n = 2^22 at exascale, efficiency, per cent",
             {"z", "2.5D rectangular", "2.5D binomial", "2-D"}};
  Table lu{"13b",
           "Figure 13(b). LU of n = 2^22 at exascale, efficiency, per cent",
           {"z", "2.5D rectangular", "2.5D binomial", "2-D binomial",
            "2.5D rectangular (paper's widths)", "2.5D binomial (paper's widths)",
            "2-D binomial (n over the root of P)"}};
  for (const int z : {1, 2, 4, 8, 16, 32, 64}) {
    const auto on = [&] { return On("exascale-2.5d", "64x64x" + std::to_string(z)); };
    gemm.add(std::to_string(z),
             {kPercent * on().layered(kRectangular).linesOf(kLine).gemm(n, kShifts).efficiency(),
              kPercent * on().layered(kBinomial).linesOf(kLine).gemm(n, kShifts).efficiency(),
              kPercent * on().square().gemm(n, kShifts).efficiency()});
    Numbers factored;
    for (const bool as_in_paper : {false, true}) {
      for (On each : {on().layered(kRectangular), on().layered(kBinomial), on().square()})
        factored.emplace_back(kPercent * each.lu(n, false, as_in_paper).efficiency());
    }
    lu.add(std::to_string(z), factored);
  }
  gemm.write(folder, "%.1f");
  lu.write(folder, "%.1f");
}

}  // namespace
}  // namespace torc::studies

int main(int argc, char** argv) {
  if (argc != 2) torc::studies::quit("usage: 2.5d_dense FOLDER");
  torc::studies::exascaleMachine();
  torc::studies::strongScaling(argv[1]);
  torc::studies::atScale(argv[1]);
  torc::studies::exascale(argv[1]);
}
