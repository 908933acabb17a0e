// torc-model gemm, torc-model lu: predict dense linear algebra on a torus by the models of trees
// (studies/dense/dense_cost.h): by the 2-D algorithms on a grid of the nodes as nearly square as
// possible, and by the 2.5D algorithm with the torus as its grid.
#include <cmath>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <llvm/ADT/STLExtras.h>
#include <llvm/Support/Format.h>
#include <llvm/Support/raw_ostream.h>

#include "compiler/command_line.h"
#include "compiler/report.h"
#include "compiler/sizes.h"
#include "compiler/tool.h"
#include "ir/make_error.h"
#include "studies/commands/model_commands.h"
#include "studies/dense/dense_cost.h"

namespace torc::studies {
namespace dense_command {

using namespace options;
using compiler::Record;

int run();
Command gemm("gemm", "predict a multiplication of dense matrices by models of trees", run,
             "torc-model gemm --machine bgp --torus 32x32x16 --size 128K");
Command lu("lu", "predict a factorization of a dense matrix by models of trees", run,
           "torc-model lu --machine bgp --torus 32x32x16 --size 128K");
Text panel{lu, {kWhat, "panel", "N", "Columns of a panel; default: those of least time"}};
Flag pivoting{lu, {kWhat, "pivoting", "", "With tournament pivoting"}};
Flag shifts{gemm, {kWhat, "shifts", "", "Shifts for multicasts in the layers, too"}};
Flag single{{&gemm, &lu}, {kWhat, "single", "", "Elements of 4 bytes instead of 8"}};
Text size{{&gemm, &lu}, {kMachine, "size", "N,...", "Rows and columns of the matrices", "64K"}};
TorusFlags torus_flags(gemm, lu);
Text flops{{&gemm, &lu},
           {kMachine, "flops", "RATE", "Flop/s of a node; default: from the machine's gamma"}};
Text line_nodes{
    gemm, {kMachine, "line-nodes", "N", "Nodes of the lines of all trees; default: their own"}};
Flag json{{&gemm, &lu}, compiler::kJsonRow};
Flag csv{{&gemm, &lu}, compiler::kCsvRow};

struct Options {
  bool lu = false;
  double flop_rate = 0;  // flop/s of a node; 0: from the machine
  std::uint64_t panel = 0;
  bool pivoting = false;
  bool single = false;
  bool shifts = false;
  std::uint64_t line_nodes = 0;
};

/// The predictions of one size.
struct DenseModel {
  std::uint64_t size = 0;
  struct Way {
    std::string name;
    DenseGrid grid;
    DenseCost cost;
  };
  std::vector<Way> ways;
};

std::string gridText(const DenseGrid& grid) {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << llvm::format("%.0fx%.0fx%.0f", grid.rows, grid.columns, grid.layers);
  return text;
}

double rateOf(const model::Machine& machine, const Options& options) {
  return options.flop_rate > 0 ? options.flop_rate : flopRateOf(machine);
}

/// Errors: a torus with more than three dimensions, or more layers than the cube root of its nodes;
/// an unknown flop rate of the node; sizes and panels that do not fit.
llvm::Expected<std::vector<DenseModel>> predictDense(const model::Machine& machine,
                                                     const std::vector<std::uint64_t>& sizes,
                                                     const Options& options) {
  if (machine.dimensions.size() > 3) {
    return makeError("the grid has rows, columns and layers; the torus has " +
                     llvm::Twine(machine.dimensions.size()) + " dimensions of nodes");
  }
  const DenseGrid grid = gridOf(machine);
  if (grid.layers * grid.layers * grid.layers > grid.nodes()) {
    return makeError("the last dimension, the layers, has more nodes than the cube root of all");
  }
  DenseJob job;
  job.element = options.single ? 4 : 8;
  job.flop_rate = rateOf(machine, options);
  job.line_nodes = static_cast<double>(options.line_nodes);
  if (job.flop_rate <= 0) {
    return makeError(machine.name + " does not say what a node computes: --flops");
  }
  constexpr std::uint64_t kMostPanels = 1 << 22;
  for (const std::uint64_t size : sizes) {
    if (size == 0) return makeError("--size: a matrix has 1 row or more");
    if (options.panel > size) {
      return makeError("--panel: " + llvm::Twine(options.panel) +
                       " columns are more than the matrix's " + llvm::Twine(size));
    }
    if (options.panel > 0 && size / options.panel > kMostPanels) {
      return makeError("--panel: " + llvm::Twine(size / options.panel) + " panels; at most " +
                       llvm::Twine(kMostPanels) + " are counted");
    }
  }
  const DenseGrid square = squareGrid(machine.nodes());
  std::vector<DenseModel> models;
  for (const std::uint64_t size : sizes) {
    DenseModel model{size, {}};
    job.size = static_cast<double>(size);
    const auto add = [&](const char* name, const DenseGrid& on, LineTrees trees,
                         GemmRounds rounds) {
      job.grid = on;
      job.trees = trees;
      model.ways.push_back(
          {name, on,
           options.lu ? luCost(machine, job, {static_cast<double>(options.panel)}, options.pivoting)
                      : gemmCost(machine, job, rounds)});
    };
    if (!options.lu) {
      add("2-D, shifts in order", square, LineTrees::kBinomial, GemmRounds::kSharedShifts);
      add("2-D, shifts", square, LineTrees::kBinomial, GemmRounds::kShifts);
    }
    const GemmRounds rounds = options.shifts ? GemmRounds::kShifts : GemmRounds::kMulticasts;
    add("2-D, binomial", square, LineTrees::kBinomial, GemmRounds::kMulticasts);
    add("2.5D, binomial", grid, LineTrees::kBinomial, rounds);
    add("2.5D, rectangular", grid, LineTrees::kRectangular, rounds);
    models.push_back(std::move(model));
  }
  return models;
}

std::vector<Record> itemsOf(const DenseCost& cost) {
  std::vector<Record> rows;
  for (const DenseItem& item : cost.items) {
    rows.push_back({{"what", item.what},
                    {"messages", item.count},
                    {"bytes", item.bytes},
                    {"seconds", item.seconds}});
  }
  return rows;
}

/// Those of one size.
std::vector<Record> recordsOf(const model::Machine& machine, const Options& options,
                              const DenseModel& model) {
  std::vector<Record> rows;
  for (const DenseModel::Way& way : model.ways) {
    const DenseCost& cost = way.cost;
    Record& row = rows.emplace_back(Record{{"model", options.lu ? "lu" : "gemm"},
                                           {"machine", machine.name},
                                           {"torus", model::shapeOf(machine)},
                                           {"size", model.size},
                                           {"element_bytes", options.single ? 4 : 8},
                                           {"flops_per_node", rateOf(machine, options)}});
    if (options.lu) row.push_back({"pivoting", options.pivoting});
    row.insert(row.end(), {{"algorithm", way.name, "algorithm            "},
                           {"grid", gridText(way.grid), "grid          "}});
    if (options.lu)
      row.insert(row.end(), {{"panel", cost.widths.outer, "   panel", {"%.0f"}},
                             {"inner_panel", cost.widths.inner, "inner", {"%.0f"}}});
    row.insert(row.end(), {{"compute_s", cost.compute_s, "  compute s", {"%.5g"}},
                           {"communicate_s", cost.communicate_s(), "communicate s", {"%.5g"}},
                           {"efficiency", cost.efficiency(), "efficiency", {"%.3f"}},
                           {"", cost.bytes(), "MB a node", {"%.4g", 1e-6}},
                           {"", cost.messages(), "messages", {"%.0f"}},
                           {"items", jsonOf(itemsOf(cost))}});
  }
  return rows;
}

void printTables(const model::Machine& machine, const Options& options,
                 llvm::ArrayRef<DenseModel> models, llvm::raw_ostream& out) {
  out << (options.lu ? "lu" : "gemm") << (options.pivoting ? " with pivoting" : "") << " on "
      << machine.name << " " << model::shapeOf(machine)
      << llvm::format(": %.4g Gflop/s a node\n", rateOf(machine, options) * 1e-9);
  for (const DenseModel& model : models) {
    out << "n = " << model.size << '\n'
        << tableText(recordsOf(machine, options, model), 2) << "  of which "
        << model.ways.back().name << ":\n";
    for (const DenseItem& item : model.ways.back().cost.items) {
      out << llvm::format("    %-52s %11.5g s  %9.4g MB in %.0f\n", item.what.c_str(), item.seconds,
                          item.bytes * 1e-6, item.count);
    }
  }
}

int run() {
  const std::vector<std::uint64_t> sizes =
      compiler::orOptionFault(compiler::parseSizeList(size, "--size"));
  double flop_rate = 0;
  if (flops.isGiven() && (llvm::StringRef(flops).getAsDouble(flop_rate) || flop_rate <= 0 ||
                          !std::isfinite(flop_rate)))
    return compiler::optionFault(
        makeError("--flops: a node does some a second, and not without end"));
  Options options{bool(lu), flop_rate};
  for (const auto& [text, name, number] : {std::tuple{&panel, "--panel", &options.panel},
                                           {&line_nodes, "--line-nodes", &options.line_nodes}}) {
    if (!text->empty() && llvm::StringRef(*text).getAsInteger(10, *number))
      return compiler::optionFault(
          makeError(name + llvm::Twine(" takes a number, not '") + *text + "'"));
  }
  options.pivoting = pivoting;
  options.single = single;
  options.shifts = shifts;
  const model::Machine machine = compiler::orOptionFault(torus_flags.readMachine());
  const std::vector<DenseModel> models =
      compiler::orOptionFault(predictDense(machine, sizes, options));
  std::vector<Record> rows;
  for (const DenseModel& model : models)
    llvm::append_range(rows, recordsOf(machine, options, model));
  return compiler::printReport(rows, {json, csv}, [&](llvm::raw_ostream& out) {
    printTables(machine, options, models, out);
  });
}

}  // namespace dense_command

options::Command& kGemmCommand = dense_command::gemm;

options::Command& kLuCommand = dense_command::lu;

}  // namespace torc::studies
