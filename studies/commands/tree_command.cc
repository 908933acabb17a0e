// torc-model broadcast, torc-model reduce: print the predictions of the 2.5D paper's models
// (studies/logp/trees.h), the simulated time of torc's own schedule, and the lower bound.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/Format.h>
#include <llvm/Support/raw_ostream.h>

#include "compiler/choice/choice.h"
#include "compiler/command_line.h"
#include "compiler/progress_line.h"
#include "compiler/report.h"
#include "compiler/sizes.h"
#include "compiler/tool.h"
#include "ir/make_error.h"
#include "model/bounds/bounds.h"
#include "studies/commands/model_commands.h"
#include "studies/logp/trees.h"

namespace torc::studies {
namespace tree_command {

using namespace options;
using compiler::Json, compiler::kMicros, compiler::Record;

int run();
Command broadcast("broadcast", "predict a broadcast by models of trees", run,
                  "torc-model broadcast --machine bgp --torus 8x8x8 --dims 1,3 --bytes 64K");
Command reduce("reduce", "predict a reduction by models of trees", run,
               "torc-model reduce --machine bgp --torus 8x8x8 --bytes 64K");
Text dims{{&broadcast, &reduce},
          {kWhat, "dims", "LIST", "Numbers of dimensions, as 1,3; default: each"}};
TorusFlags torus_flags(broadcast, reduce);
Text bytes{{&broadcast, &reduce},
           {kMachine, "bytes", "N[:N],...", "Sizes of the vector, ranges of them", "1M"}};
Flag json{{&broadcast, &reduce}, compiler::kJsonRow};
Flag csv{{&broadcast, &reduce}, compiler::kCsvRow};

/// The predictions for one size.
struct Prediction {
  std::uint64_t bytes = 0;
  TreeTime rectangular, binomial;
  double bound_s = 0;
  std::optional<compiler::Candidate> schedule;  // torc's choice
};

/// The predictions for the first dimensions of a torus.
struct SubTorus {
  model::Machine machine;
  LogPTorus torus;
  std::vector<Prediction> predictions;
  std::string no_schedule;  // the reason if there is none
};

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
      return makeError("--dims: '" + one + "' is not a number of dimensions; " +
                       model::shapeOf(machine) + " has " + llvm::Twine(most));
    }
    listed.push_back(count);
  }
  return listed;
}

/// Adds the choices of `torc compile --bytes` on the sub-torus, for each of its sizes. An error if
/// no algorithm supports it.
llvm::Error addSchedules(SubTorus& on, Collective collective, compiler::Progress& progress) {
  llvm::Expected<Topology> topology = model::topologyOf(on.machine);
  if (!topology) return topology.takeError();
  const compiler::CollectiveSpec spec{collective, *topology};
  if (!isServed(spec)) return noAlgorithm(spec);
  compiler::CompileCache programs(spec);
  for (Prediction& prediction : on.predictions) {
    llvm::Expected<compiler::Choice> choice =
        choose(programs, on.machine, static_cast<double>(prediction.bytes), {}, &progress);
    if (!choice) return choice.takeError();
    prediction.schedule = choice->best();
  }
  return llvm::Error::success();
}

SubTorus predict(const model::Machine& machine, std::size_t dimensions, Collective collective,
                 llvm::ArrayRef<std::uint64_t> sizes, compiler::Progress& progress) {
  const CollectiveRow& row = rowOf(collective);
  SubTorus on{machine, {}, {}, {}};
  on.machine.dimensions.resize(dimensions);
  on.torus = logPTorusOf(on.machine);
  for (const std::uint64_t size : sizes) {
    const auto vector = static_cast<double>(size);
    const bool sums = row.reduces();
    on.predictions.push_back(
        {size,
         sums ? rectangularReduction(on.torus, vector) : rectangularMulticast(on.torus, vector),
         sums ? binomialReduction(on.torus, vector) : binomialMulticast(on.torus, vector),
         model::lowerBound(on.machine, {row, vector}).bound_s,
         {}});
  }
  if (llvm::Error error = addSchedules(on, collective, progress)) {
    on.no_schedule = toString(std::move(error));
    for (Prediction& prediction : on.predictions)
      prediction.schedule.reset();
  }
  return on;
}

Record recordOf(const CollectiveRow& row, const SubTorus& on, const Prediction& each) {
  const std::optional<compiler::Candidate>& schedule = each.schedule;
  const std::string stand_in = schedule ? schedule->stand_in : "";
  Record record = {{"collective", row.name},
                   {"machine", on.machine.name},
                   {"torus", model::shapeOf(on.machine)},
                   {"dimensions", on.torus.dimensions},
                   {"nodes", static_cast<std::uint64_t>(on.torus.nodes)},
                   {"trees", on.torus.trees},
                   {"bytes", each.bytes, "     bytes", compiler::kSize},
                   {"rectangular_s", each.rectangular.seconds(), "rectangular us", kMicros},
                   {"rectangular_bandwidth_s", each.rectangular.bandwidth_s},
                   {"rectangular_start_up_s", each.rectangular.start_up_s},
                   {"rectangular_hops_s", each.rectangular.hops_s},
                   {"binomial_s", each.binomial.seconds(), "binomial us", kMicros},
                   {"bound_s", each.bound_s, "   bound us", kMicros}};
  if (!schedule) {
    record.push_back({"simulated_s"});
    record.push_back({"schedule"});
  } else {
    const double seconds = schedule->predicted_s;
    const bool has_ratio = seconds > 0 && each.bound_s > 0;
    const std::string text = schedule->description();
    record.insert(
        record.end(),
        {{"simulated_s", seconds, "simulated us", kMicros},
         {"", has_ratio ? Json(seconds / each.bound_s) : Json(), "x bound", {"%.3f"}},
         {"schedule", text},
         {"", stand_in.empty() ? text : text + " (scaled from " + stand_in + ")", "schedule"}});
  }
  if (!stand_in.empty()) record.push_back({"stand_in", stand_in});
  if (!on.no_schedule.empty()) record.push_back({"no_schedule", on.no_schedule});
  return record;
}

std::vector<Record> recordsOf(const CollectiveRow& row, const SubTorus& on) {
  std::vector<Record> rows;
  for (const Prediction& each : on.predictions)
    rows.push_back(recordOf(row, on, each));
  return rows;
}

void printTables(const model::Machine& machine, const CollectiveRow& row,
                 llvm::ArrayRef<SubTorus> all, llvm::raw_ostream& out) {
  const LogPTorus& whole = all.front().torus;
  out << row.name << " on " << machine.name
      << llvm::format(": o %g us, L %g us", whole.overhead * kMicro, whole.latency * kMicro);
  if (row.reduces() && whole.summing > 0) {
    out << llvm::format(", a node sums at most %.4g GB/s", 1e-9 / whole.summing);
  }
  out << '\n';
  for (const SubTorus& on : all) {
    out << model::shapeOf(on.machine)
        << llvm::format(": %.0f nodes, g %.4g ns/byte, ", on.torus.nodes, on.torus.gap * 1e9)
        << on.torus.trees << (on.torus.trees == 1 ? " tree" : " trees")
        << (on.no_schedule.empty() ? "" : "; not simulated: ") << on.no_schedule << '\n'
        << tableText(recordsOf(row, on));
  }
}

int run() {
  const Collective collective = broadcast ? Collective::kBroadcast : Collective::kReduce;
  const std::vector<std::uint64_t> sizes =
      compiler::orOptionFault(compiler::parseSizeList(bytes, "--bytes"));
  const model::Machine machine = compiler::orOptionFault(torus_flags.readMachine());
  const std::vector<std::size_t> counts = compiler::orOptionFault(readDims(machine));

  compiler::Progress progress(/*quiet=*/false);
  std::vector<SubTorus> all;
  for (const std::size_t count : counts)
    all.push_back(predict(machine, count, collective, sizes, progress));
  progress.clear();
  const CollectiveRow& row = rowOf(collective);
  std::vector<Record> rows;
  for (const SubTorus& on : all)
    llvm::append_range(rows, recordsOf(row, on));
  return compiler::printReport(
      rows, {json, csv}, [&](llvm::raw_ostream& out) { printTables(machine, row, all, out); });
}

}  // namespace tree_command

options::Command& kBroadcastCommand = tree_command::broadcast;

options::Command& kReduceCommand = tree_command::reduce;

}  // namespace torc::studies
