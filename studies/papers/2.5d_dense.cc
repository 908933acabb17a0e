// Table 1 and figures 4, 5, 6 and 13 of "Improving communication performance in dense linear
// algebra via topology aware collectives" (Solomonik, Bhatele and Demmel, SC 2011): what
// multiplying and factoring takes by the models (studies/dense). Writes FOLDER/NAME.csv and prints
// the tables.
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
#include <string>
#include <utility>
#include <vector>

#include <llvm/Support/Error.h>

#include "model/machines/machine.h"
#include "studies/dense/dense_cost.h"
#include "studies/papers/figures.h"

namespace torc::studies {
namespace {

/// Rows of numbers under names, the first of which is that of what they are over.
class Table {
 public:
  Table(std::string name, std::string title, std::vector<std::string> columns)
      : name_(std::move(name)), title_(std::move(title)), columns_(std::move(columns)) {}

  void add(const std::string& first, std::vector<double> numbers) {
    rows_.push_back({first, std::move(numbers)});
  }

  /// Prints it, numbers as `format`, and writes FOLDER/NAME.csv.
  void write(const std::string& folder, const char* format) const {
    const CsvFile file(folder, name_);
    std::printf("\n%s\n\n|", title_.c_str());
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      std::printf(" %s |", columns_[i].c_str());
      std::fprintf(file, "%s%s", i == 0 ? "" : ",", columns_[i].c_str());
    }
    std::printf("\n|");
    for (std::size_t i = 0; i < columns_.size(); ++i)
      std::printf(" --- |");
    std::printf("\n");
    std::fprintf(file, "\n");
    for (const auto& [first, numbers] : rows_) {
      std::printf("| %s |", first.c_str());
      std::fprintf(file, "%s", first.c_str());
      for (const double number : numbers) {
        std::printf(" ");
        std::printf(format, number);  // NOLINT: one of two literals below
        std::printf(" |");
        std::fprintf(file, ",%.6g", number);
      }
      std::printf("\n");
      std::fprintf(file, "\n");
    }
  }

 private:
  std::string name_, title_;
  std::vector<std::string> columns_;
  std::vector<std::pair<std::string, std::vector<double>>> rows_;
};

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
  DenseCost lu(double n, bool pivoting) {
    job_.size = n;
    return luCost(machine_, job_, {}, pivoting);
  }

 private:
  model::Machine machine_;
  DenseJob job_;
};

constexpr double kPercent = 100;
constexpr LineTrees kRectangular = LineTrees::kRectangular, kBinomial = LineTrees::kBinomial;
constexpr GemmRounds kMulticasts = GemmRounds::kMulticasts, kShifts = GemmRounds::kShifts;

void exascaleMachine() {
  const model::Machine machine = take(model::findMachine("exascale-2.5d"));
  std::printf(
      "\nTable 1. The exascale machine\n\n| | the paper | `torc machines` |\n| --- | --- | --- "
      "|\n");
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

/// Figures 4: the partition 8x32xc, of 8x8x32 nodes, as the paper maps it.
void strongScaling(const std::string& folder) {
  constexpr double n = 65536;
  const std::vector<std::string> columns = {"nodes", "2.5D rectangular", "2.5D binomial",
                                            "2-D shifts", "2-D binomial"};
  Table gemm("04a", "Figure 4(a). Multiplication of n = 65,536 on Blue Gene/P, per cent of peak",
             columns);
  Table lu("04b", "Figure 4(b). LU of n = 65,536 on Blue Gene/P, per cent of peak",
           {"nodes", "2.5D rectangular", "2.5D binomial", "2.5D rectangular pivoting",
            "2-D binomial", "2-D binomial pivoting"});
  for (const int layers : {1, 2, 4, 8}) {
    On on("bgp", "8x32x" + std::to_string(layers));
    const std::string nodes = std::to_string(256 * layers);
    gemm.add(nodes, {kPercent * on.layered(kRectangular).gemm(n, kMulticasts).efficiency(),
                     kPercent * on.layered(kBinomial).gemm(n, kMulticasts).efficiency(),
                     kPercent * on.square().gemm(n, kShifts).efficiency(),
                     kPercent * on.square().gemm(n, kMulticasts).efficiency()});
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
  Table efficiency("05a",
                   "Figure 5(a). Multiplication on 16,384 nodes of Blue Gene/P, per cent of peak",
                   {"n", "2.5D rectangular", "2.5D binomial", "2-D shifts", "2-D binomial"});
  for (int n = 4096; n <= 131072; n *= 2) {
    efficiency.add(std::to_string(n),
                   {kPercent * on.layered(kRectangular).gemm(n, kMulticasts).efficiency(),
                    kPercent * on.layered(kBinomial).gemm(n, kMulticasts).efficiency(),
                    kPercent * on.square().gemm(n, kShifts).efficiency(),
                    kPercent * on.square().gemm(n, kMulticasts).efficiency()});
  }
  efficiency.write(folder, "%.1f");
  Table gemm("05b",
             "Figure 5(b). The same, 2-D SUMMA's time as 1: compute, communicate, and what part of "
             "2-D's communication is gone",
             {"n and algorithm", "compute", "communicate", "communication gone (%)"});
  Table lu("06", "Figure 6. LU on 16,384 nodes of Blue Gene/P, 2-D LU's time as 1",
           {"n and algorithm", "compute", "communicate", "communication gone (%)"});
  for (const int n : {8192, 131072}) {
    const auto add = [&](Table& table, const std::string& name, const DenseCost& cost,
                         const DenseCost& against) {
      const double whole = against.compute_s + against.communicate_s();
      table.add(std::to_string(n) + " " + name,
                {cost.compute_s / whole, cost.communicate_s() / whole,
                 kPercent * (1 - cost.communicate_s() / against.communicate_s())});
    };
    const DenseCost plane = on.square().gemm(n, kMulticasts);
    add(gemm, "2-D", plane, plane);
    add(gemm, "2.5D", on.layered(kRectangular).gemm(n, kMulticasts), plane);
    if (n < 131072) continue;  // the only size of LU that the paper's text names
    for (const bool pivoting : {false, true}) {
      const char* const how = pivoting ? " pivoting" : "";
      const DenseCost flat = on.square().lu(n, pivoting);
      add(lu, std::string("2-D") + how, flat, flat);
      add(lu, std::string("2.5D") + how, on.layered(kRectangular).lu(n, pivoting), flat);
    }
  }
  gemm.write(folder, "%.3f");
  lu.write(folder, "%.3f");
}

/// Figures 13. The paper takes the peak of its Figure 12, lines of 64, for every line (section
/// 5.3).
void exascale(const std::string& folder) {
  constexpr double n = 4194304, kLine = 64;
  Table gemm("13a", "Figure 13(a). Multiplication of n = 2^22 at exascale, efficiency, per cent",
             {"z", "2.5D rectangular", "2.5D binomial", "2-D"});
  Table lu("13b", "Figure 13(b). LU of n = 2^22 at exascale, efficiency, per cent",
           {"z", "2.5D rectangular", "2.5D binomial", "2-D binomial"});
  for (const int z : {1, 2, 4, 8, 16, 32, 64}) {
    const auto on = [&] { return On("exascale-2.5d", "64x64x" + std::to_string(z)); };
    gemm.add(std::to_string(z),
             {kPercent * on().layered(kRectangular).linesOf(kLine).gemm(n, kShifts).efficiency(),
              kPercent * on().layered(kBinomial).linesOf(kLine).gemm(n, kShifts).efficiency(),
              kPercent * on().square().gemm(n, kShifts).efficiency()});
    lu.add(std::to_string(z), {kPercent * on().layered(kRectangular).lu(n, false).efficiency(),
                               kPercent * on().layered(kBinomial).lu(n, false).efficiency(),
                               kPercent * on().square().lu(n, false).efficiency()});
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
