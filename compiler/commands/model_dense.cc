#include "compiler/commands/model_dense.h"

#include <llvm/ADT/Twine.h>
#include <llvm/Support/Format.h>
#include <llvm/Support/raw_ostream.h>
#include <nlohmann/json.hpp>

namespace torc::compiler {
namespace {

using Json = nlohmann::ordered_json;

llvm::Error fault(const llvm::Twine& message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

std::string gridText(const model::DenseGrid& grid) {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << llvm::format("%.0fx%.0fx%.0f", grid.rows, grid.columns, grid.layers);
  return text;
}

double rateOf(const model::Machine& machine, const DenseModelOptions& options) {
  return options.flop_rate > 0 ? options.flop_rate : model::flopRateOf(machine);
}

}  // namespace

bool isDenseModel(llvm::StringRef name) {
  return name == "gemm" || name == "lu";
}

llvm::Expected<std::vector<DenseModel>> predictDense(const model::Machine& machine,
                                                     const std::vector<std::uint64_t>& sizes,
                                                     const DenseModelOptions& options) {
  if (machine.dimensions.size() > 3) {
    return fault("model: the grid has rows, columns and layers; the torus has " +
                 llvm::Twine(machine.dimensions.size()) + " dimensions of more than one node");
  }
  const model::DenseGrid grid = model::gridOf(machine);
  if (grid.layers * grid.layers * grid.layers > grid.nodes()) {
    return fault(
        "model: the last dimension, the layers, has more nodes than the cube root of all: "
        "name it first or second");
  }
  model::DenseJob job;
  job.element = options.single ? 4 : 8;
  job.flop_rate = rateOf(machine, options);
  if (job.flop_rate <= 0) {
    return fault("model: " + machine.name + " does not say what a node computes: --flops");
  }
  constexpr std::uint64_t kMostPanels = 1 << 22;
  for (const std::uint64_t size : sizes) {
    if (size == 0) return fault("--size: a matrix has 1 row or more");
    if (options.panel > size) {
      return fault("--panel: " + llvm::Twine(options.panel) +
                   " columns are more than the matrix's " + llvm::Twine(size));
    }
    if (options.panel > 0 && size / options.panel > kMostPanels) {
      return fault("--panel: " + llvm::Twine(size / options.panel) + " panels; at most " +
                   llvm::Twine(kMostPanels) + " are counted");
    }
  }
  const model::DenseGrid square = model::squareGrid(machine.nodes());
  std::vector<DenseModel> models;
  for (const std::uint64_t size : sizes) {
    DenseModel model{size, {}};
    job.size = static_cast<double>(size);
    const auto add = [&](const char* name, const model::DenseGrid& on, model::LineTrees trees,
                         model::GemmRounds rounds) {
      job.grid = on;
      job.trees = trees;
      model.ways.push_back(
          {name, on,
           options.lu
               ? model::luCost(machine, job, static_cast<double>(options.panel), options.pivoting)
               : model::gemmCost(machine, job, rounds)});
    };
    if (!options.lu)
      add("2-D, shifts", square, model::LineTrees::kBinomial, model::GemmRounds::kShifts);
    add("2-D, binomial", square, model::LineTrees::kBinomial, model::GemmRounds::kMulticasts);
    add("2.5D, binomial", grid, model::LineTrees::kBinomial, model::GemmRounds::kMulticasts);
    add("2.5D, rectangular", grid, model::LineTrees::kRectangular, model::GemmRounds::kMulticasts);
    models.push_back(std::move(model));
  }
  return models;
}

std::string denseTable(const model::Machine& machine, const DenseModelOptions& options,
                       const std::vector<DenseModel>& models) {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << (options.lu ? "lu" : "gemm") << (options.pivoting ? " with pivoting" : "") << " on "
      << machine.name << " " << model::shapeOf(machine)
      << llvm::format(": %.4g Gflop/s a node\n", rateOf(machine, options) * 1e-9);
  for (const DenseModel& model : models) {
    out << "n = " << model.size
        << "\n  algorithm          grid             compute s  communicate s  efficiency  "
           "MB a node  messages\n";
    for (const DenseModel::Way& way : model.ways) {
      const model::DenseCost& cost = way.cost;
      out << llvm::format("  %-18s %-14s %11.5g  %13.5g  %10.3f  %9.4g  %8.0f\n", way.name.c_str(),
                          gridText(way.grid).c_str(), cost.compute_s, cost.communicate_s(),
                          cost.efficiency(), cost.bytes() * 1e-6, cost.messages());
    }
    out << "  of which " << model.ways.back().name << ":\n";
    for (const model::DenseItem& item : model.ways.back().cost.items) {
      out << llvm::format("    %-52s %11.5g s  %9.4g MB in %.0f\n", item.what.c_str(), item.seconds,
                          item.bytes * 1e-6, item.count);
    }
  }
  return text;
}

std::string denseJson(const model::Machine& machine, const DenseModelOptions& options,
                      const std::vector<DenseModel>& models) {
  Json documents = Json::array();
  for (const DenseModel& model : models) {
    for (const DenseModel::Way& way : model.ways) {
      Json document;
      document["model"] = options.lu ? "lu" : "gemm";
      document["machine"] = machine.name;
      document["torus"] = model::shapeOf(machine);
      document["size"] = model.size;
      document["element_bytes"] = options.single ? 4 : 8;
      document["flops_per_node"] = rateOf(machine, options);
      if (options.lu) document["pivoting"] = options.pivoting;
      document["algorithm"] = way.name;
      document["grid"] = gridText(way.grid);
      document["compute_s"] = way.cost.compute_s;
      document["communicate_s"] = way.cost.communicate_s();
      document["efficiency"] = way.cost.efficiency();
      Json items = Json::array();
      for (const model::DenseItem& item : way.cost.items) {
        items.push_back({{"what", item.what},
                         {"messages", item.count},
                         {"bytes", item.bytes},
                         {"seconds", item.seconds}});
      }
      document["items"] = std::move(items);
      documents.push_back(std::move(document));
    }
  }
  return documents.dump(2) + "\n";
}

}  // namespace torc::compiler
