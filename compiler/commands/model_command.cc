// torc model COLLECTIVE: what the 2.5D paper's models predict that a broadcast or a reduction takes
// (model/logp/trees.h), what the simulator says of torc's own schedule, and the lower bound; of an
// alltoall what it takes on a cluster of multi-core nodes (model_alltoall.h); and what multiplying
// and factoring takes with such collectives (model_dense.h).
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/Format.h>
#include <nlohmann/json.hpp>

#include "compiler/choice/choice.h"
#include "compiler/commands/commands.h"
#include "compiler/commands/model_alltoall.h"
#include "compiler/commands/model_dense.h"
#include "compiler/progress.h"
#include "compiler/sizes.h"
#include "compiler/target.h"
#include "compiler/tool.h"
#include "model/bounds/bounds.h"
#include "model/logp/trees.h"

namespace torc::compiler {
namespace {

using namespace llvm::cl;
using Json = nlohmann::ordered_json;

SubCommand command(
    "model", "Predict broadcast, reduce, gemm or lu by models of trees, alltoall on a cluster");
OptionCategory category("Options of model");

opt<std::string> collective(Positional, desc("COLLECTIVE, gemm or lu"), sub(command),
                            cat(category));
opt<std::string> torus("torus", value_desc("shape"), sub(command), cat(category),
                       desc("Shape, as 8x8x8; 8x8x4m: Z is a mesh"));
opt<std::string> machine_name("machine", value_desc("name"), sub(command), cat(category),
                              desc("A preset (torc machines) or a JSON file"));
opt<std::string> dims("dims", value_desc("list"), sub(command), cat(category),
                      desc("Numbers of dimensions, as 1,3: lines along X, planes along X and Y, "
                           "...; default: each"));
opt<std::string> bytes("bytes", value_desc("N[:N],..."), init("1M"), sub(command), cat(category),
                       desc("Sizes of the vector and ranges of sizes, as 1M (default), 1K:16M or "
                            "1K,64K,1M; alltoall: of a pair's block, default 1:8K"));
opt<std::string> size("size", value_desc("N,..."), sub(command), cat(category),
                      desc("gemm, lu: rows and columns of the matrices; default: 64K"));
opt<double> flops("flops", value_desc("flop/s"), sub(command), cat(category),
                  desc("gemm, lu: of a node; default: what the machine's gamma says"));
opt<std::string> panel("panel", value_desc("columns"), sub(command), cat(category),
                       desc("lu: that are factored before the rest is updated; default: the "
                            "number of least time"));
opt<bool> pivoting("pivoting", sub(command), cat(category), desc("lu: with tournament pivoting"));
opt<bool> single("single", sub(command), cat(category),
                 desc("gemm, lu: elements of 4 bytes instead of 8"));
opt<bool> json("json", sub(command), cat(category), desc("Print the result as JSON"));

constexpr double kMicro = 1e6;  // microseconds per second

llvm::Error fault(const llvm::Twine& message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

/// What is predicted for one size.
struct Prediction {
  std::uint64_t bytes = 0;
  model::TreeTime rectangular, binomial;
  double bound_s = 0;
  std::optional<Candidate> schedule;  // that torc would compile
};

/// The predictions for the first dimensions of a torus.
struct SubTorus {
  model::Machine machine;
  model::LogPTorus torus;
  std::vector<Prediction> predictions;
  std::string no_schedule;  // why there is none
};

/// Whether the paper has a model of it: data that go from one node to all, or from all to one.
bool isModelled(const CollectiveRow& row) {
  return row.isRooted() && row.blocks == BlockSpace::kNode && row.layout == Layout::kPartMajor;
}

llvm::Expected<CollectiveRow> readCollective() {
  if (collective.empty()) return fault("model: of what? broadcast, reduce, alltoall, gemm or lu");
  llvm::Expected<CollectiveRow> row = model::parseBoundedCollective(collective);
  if (!row) return row.takeError();
  if (!isModelled(*row)) {
    return fault("model: there are models of broadcast, reduce, alltoall, gemm and lu, not of '" +
                 collective + "'");
  }
  return row;
}

/// The machine that the options name, without dimensions of one node.
llvm::Expected<model::Machine> readMachine() {
  llvm::Expected<Target> target = readTarget(torus, /*order=*/{}, machine_name);
  if (!target) return target.takeError();
  model::Machine& machine = target->machine;
  if (machine.ranks_per_node > 0) {
    return fault("model: the models have one process on a node, not the cores of '" + torus + "'");
  }
  if (machine.damaged()) {
    return fault("model: the models know no dead links and nodes, which " + machine.name + " has");
  }
  llvm::erase_if(machine.dimensions,
                 [](const model::MachineDimension& of) { return of.size == 1; });
  if (machine.dimensions.empty()) return fault("model: a torus of one node has nothing to send");
  return std::move(machine);
}

llvm::Expected<std::vector<std::size_t>> readDims(const model::Machine& machine) {
  const std::size_t most = machine.dimensions.size();
  std::vector<std::size_t> listed;
  if (dims.empty()) {
    for (std::size_t count = 1; count <= most; ++count)
      listed.push_back(count);
    return listed;
  }
  for (llvm::StringRef one : llvm::split(dims, ',')) {
    std::size_t count = 0;
    if (one.getAsInteger(10, count) || count < 1 || count > most) {
      return fault("--dims: '" + one + "' is not a number of dimensions; " +
                   model::shapeOf(machine) + " has " + llvm::Twine(most));
    }
    listed.push_back(count);
  }
  return listed;
}

/// Adds what `torc compile --bytes` would choose on the sub-torus, for each of its sizes. An error
/// where no algorithm serves it.
llvm::Error addSchedules(SubTorus& on, Progress& progress) {
  const std::optional<Collective> compiled = collectiveNamed(collective);
  if (!compiled) return fault("no algorithm serves " + collective);
  llvm::Expected<Topology> topology = model::topologyOf(on.machine);
  if (!topology) return topology.takeError();
  const CollectiveSpec spec{*compiled, *topology};
  if (!isServed(spec)) return noAlgorithm(spec);
  CompileCache programs(spec);
  for (Prediction& prediction : on.predictions) {
    llvm::Expected<Choice> choice =
        choose(programs, on.machine, static_cast<double>(prediction.bytes), {}, &progress);
    if (!choice) return choice.takeError();
    prediction.schedule = choice->best();
  }
  return llvm::Error::success();
}

SubTorus predict(const model::Machine& machine, std::size_t dimensions, const CollectiveRow& row,
                 llvm::ArrayRef<std::uint64_t> sizes, Progress& progress) {
  SubTorus on{machine, {}, {}, {}};
  on.machine.dimensions.resize(dimensions);
  on.torus = model::logPTorusOf(on.machine);
  for (const std::uint64_t size : sizes) {
    const auto vector = static_cast<double>(size);
    const bool sums = row.reduces();
    on.predictions.push_back({size,
                              sums ? model::rectangularReduction(on.torus, vector)
                                   : model::rectangularMulticast(on.torus, vector),
                              sums ? model::binomialReduction(on.torus, vector)
                                   : model::binomialMulticast(on.torus, vector),
                              model::lowerBound(on.machine, {row, vector}).bound_s,
                              {}});
  }
  if (llvm::Error error = addSchedules(on, progress)) {
    on.no_schedule = toString(std::move(error));
    for (Prediction& prediction : on.predictions)
      prediction.schedule.reset();
  }
  return on;
}

void printTable(const model::Machine& machine, bool sums, llvm::ArrayRef<SubTorus> all,
                llvm::raw_ostream& out) {
  const model::LogPTorus& whole = all.front().torus;
  out << collective << " on " << machine.name
      << llvm::format(": o %g us, L %g us", whole.overhead * kMicro, whole.latency * kMicro);
  if (sums && whole.summing > 0) {
    out << llvm::format(", a node sums at most %.4g GB/s", 1e-9 / whole.summing);
  }
  out << '\n';
  for (const SubTorus& on : all) {
    out << model::shapeOf(on.machine)
        << llvm::format(": %.0f nodes, g %.4g ns/byte, ", on.torus.nodes, on.torus.gap * 1e9)
        << on.torus.trees << (on.torus.trees == 1 ? " tree" : " trees")
        << (on.no_schedule.empty() ? "" : "; not simulated: ") << on.no_schedule
        << "\n     bytes  rectangular us  binomial us     bound us"
        << (on.no_schedule.empty() ? "  simulated us  x bound  schedule" : "") << '\n';
    for (const Prediction& each : on.predictions) {
      out << llvm::right_justify(sizeText(each.bytes), 10)
          << llvm::format("  %14.6g  %11.6g  %11.6g", each.rectangular.seconds() * kMicro,
                          each.binomial.seconds() * kMicro, each.bound_s * kMicro);
      if (each.schedule) {
        const double seconds = each.schedule->predicted_s;
        out << llvm::format("  %12.6g", seconds * kMicro);
        if (seconds > 0 && each.bound_s > 0) {
          out << llvm::format("  %7.3f", seconds / each.bound_s);
        } else {
          out << "        -";
        }
        out << "  " << each.schedule->description();
        if (!each.schedule->stand_in.empty())
          out << " (scaled from " << each.schedule->stand_in << ")";
      }
      out << '\n';
    }
  }
}

Json jsonOf(const SubTorus& on, const Prediction& each) {
  Json document;
  document["collective"] = collective.getValue();
  document["machine"] = on.machine.name;
  document["torus"] = model::shapeOf(on.machine);
  document["dimensions"] = on.torus.dimensions;
  document["nodes"] = static_cast<std::uint64_t>(on.torus.nodes);
  document["trees"] = on.torus.trees;
  document["bytes"] = each.bytes;
  document["rectangular_s"] = each.rectangular.seconds();
  document["rectangular_bandwidth_s"] = each.rectangular.bandwidth_s;
  document["rectangular_start_up_s"] = each.rectangular.start_up_s;
  document["rectangular_hops_s"] = each.rectangular.hops_s;
  document["binomial_s"] = each.binomial.seconds();
  document["bound_s"] = each.bound_s;
  document["simulated_s"] = each.schedule ? Json(each.schedule->predicted_s) : Json();
  document["schedule"] = each.schedule ? Json(each.schedule->description()) : Json();
  if (each.schedule && !each.schedule->stand_in.empty()) {
    document["stand_in"] = each.schedule->stand_in;
  }
  if (!on.no_schedule.empty()) document["no_schedule"] = on.no_schedule;
  return document;
}

void printJson(llvm::ArrayRef<SubTorus> all, llvm::raw_ostream& out) {
  Json documents = Json::array();
  for (const SubTorus& on : all) {
    for (const Prediction& each : on.predictions)
      documents.push_back(jsonOf(on, each));
  }
  out << (documents.size() == 1 ? documents.front() : documents).dump(2) << '\n';
}

/// torc model gemm, torc model lu.
int runDense() {
  llvm::Expected<std::vector<std::uint64_t>> sizes =
      parseSizeList(size.empty() ? "64K" : size.getValue(), "--size");
  if (!sizes) return optionFault(sizes.takeError());
  if (bytes.getNumOccurrences() > 0 || dims.getNumOccurrences() > 0)
    return optionFault(
        fault("model: --bytes and --dims are of collectives; --size is of gemm and lu"));
  if (flops.getNumOccurrences() > 0 && !(flops > 0 && std::isfinite(flops)))
    return optionFault(fault("--flops: a node does some a second, and not without end"));
  std::uint64_t columns = 0;
  if (!panel.empty() && llvm::StringRef(panel).getAsInteger(10, columns))
    return optionFault(fault("--panel takes a number, not '" + panel + "'"));
  llvm::Expected<model::Machine> machine = readMachine();
  if (!machine) return optionFault(machine.takeError());
  const DenseModelOptions options{collective == "lu", flops, columns, pivoting, single};
  llvm::Expected<std::vector<DenseModel>> models = predictDense(*machine, *sizes, options);
  if (!models) return optionFault(models.takeError());
  const std::string text =
      json ? denseJson(*machine, options, *models) : denseTable(*machine, options, *models);
  if (llvm::Error error = writeOutput("-", text)) return inputFault(std::move(error));
  return kSuccess;
}

/// An alltoall is modelled on a cluster, the others on a torus: no option of the one goes with the
/// other.
llvm::Error checkOptions() {
  if (collective != "alltoall") {
    const llvm::StringRef given = clusterOptionGiven();
    if (given.empty()) return llvm::Error::success();
    return fault("model: --" + given + " is of alltoall, not of " + collective);
  }
  for (const opt<std::string>* option : {&torus, &machine_name, &dims}) {
    if (option->getNumOccurrences() > 0) {
      return fault("model: --" + option->ArgStr +
                   " is not of alltoall, which is modelled on a cluster");
    }
  }
  return llvm::Error::success();
}

int run() {
  if (llvm::Error error = checkOptions()) return optionFault(std::move(error));
  if (isDenseModel(collective)) return runDense();
  llvm::Expected<std::vector<std::uint64_t>> sizes = parseSizeList(bytes, "--bytes");
  if (collective == "alltoall") {
    if (!sizes) return optionFault(sizes.takeError());
    return modelAlltoall(bytes.getNumOccurrences() > 0 ? *sizes : std::vector<std::uint64_t>(),
                         json);
  }
  llvm::Expected<CollectiveRow> row = readCollective();
  if (!row) {
    llvm::consumeError(sizes.takeError());
    return optionFault(row.takeError());
  }
  if (!sizes) return optionFault(sizes.takeError());
  llvm::Expected<model::Machine> machine = readMachine();
  if (!machine) return optionFault(machine.takeError());
  llvm::Expected<std::vector<std::size_t>> counts = readDims(*machine);
  if (!counts) return optionFault(counts.takeError());

  Progress progress(/*quiet=*/false);
  std::vector<SubTorus> all;
  for (const std::size_t count : *counts)
    all.push_back(predict(*machine, count, *row, *sizes, progress));
  progress.clear();
  std::string text;
  llvm::raw_string_ostream out(text);
  json ? printJson(all, out) : printTable(*machine, row->reduces(), all, out);
  if (llvm::Error error = writeOutput("-", text)) return inputFault(std::move(error));
  return kSuccess;
}

}  // namespace

Command modelCommand() {
  addClusterOptions(command, category);
  return {&command, &category, run};
}

}  // namespace torc::compiler
