// torc simulate FILE --bytes N: when a schedule's operations happen, and what its links do.
#include <llvm/Support/Format.h>
#include <nlohmann/json.hpp>

#include "compiler/commands.h"
#include "compiler/tool.h"
#include "model/simulator.h"

namespace torc {
namespace {

using namespace llvm::cl;

SubCommand command("simulate", "Predict how long a schedule takes");
OptionCategory category("Options of simulate");

opt<std::string> input(Positional, desc("FILE"), sub(command), cat(category));
opt<double> bytes("bytes", sub(command), cat(category), desc("Bytes of the whole vector"),
                  init(1 << 20));
opt<double> alpha("alpha", sub(command), cat(category),
                  desc("Start-up time of a message, seconds"));
opt<double> gamma_option("gamma", sub(command), cat(category), desc("Seconds per reduced byte"));
opt<bool> per_rank("per-rank", sub(command), cat(category),
                   desc("Simulate every rank, with messages of whole elements"));
opt<bool> critical_path("critical-path", sub(command), cat(category),
                        desc("Print the longest chain of operations"));
opt<bool> json("json", sub(command), cat(category), desc("Print the result as JSON"));

/// Links of 1 GB/s, times the relative bandwidths of the schedule's topology.
Machine plainMachine(const Topology& topology) {
  Machine machine;
  machine.name = "plain";
  for (int i = 0; i < topology.dimensions(); ++i) {
    const Axis& axis = topology.axes[static_cast<std::size_t>(i)];
    MachineDimension dimension;
    dimension.size = axis.size;
    dimension.torus = axis.kind == AxisKind::kTorus;
    dimension.bandwidth *= axis.bandwidth;
    dimension.latency = axis.latency;
    dimension.width = axis.isRing() && axis.size == 2 ? 2 : 1;
    machine.dimensions.push_back(dimension);
  }
  machine.cores = topology.hasCores() ? topology.axes[topology.axis_count - 1].size : 1;
  return machine;
}

std::string linkName(const Topology& topology, const LinkClass& link) {
  return std::string(1, topology.axes[link.axis].name) + (link.sign > 0 ? '+' : '-');
}

void printJson(const ScheduleView& schedule, const SimulateResult& result, llvm::raw_ostream& out) {
  nlohmann::ordered_json document;
  document["collective"] = traits(schedule.collective).name;
  document["torus"] = schedule.topology.shape();
  document["bytes"] = bytes.getValue();
  document["makespan_s"] = result.makespan_s;
  document["steps"] = result.steps;
  document["messages"] = result.messages;
  document["nodes"] = result.nodes;
  document["operations"] = result.operations;
  auto& links = document["links"] = nlohmann::ordered_json::array();
  for (const LinkUse& use : result.links) {
    links.push_back({{"link", linkName(schedule.topology, use.link_class)},
                     {"bytes", use.bytes},
                     {"busy_s", use.busy_s},
                     {"idle_s", use.idle_s}});
  }
  out << document.dump(2) << '\n';
}

void printTable(const ScheduleView& schedule, const SimulateResult& result,
                llvm::raw_ostream& out) {
  out << traits(schedule.collective).name << " on " << schedule.topology.shape() << ", "
      << llvm::format("%.0f", bytes.getValue())
      << " bytes: " << llvm::format("%.6g", result.makespan_s * 1e6) << " us, " << result.steps
      << " steps, " << result.messages << " messages per node; " << result.nodes << " of "
      << schedule.topology.ranks() << " nodes simulated, " << result.operations << " operations\n";
  out << "link         bytes     busy us     idle us\n";
  for (const LinkUse& use : result.links) {
    out << linkName(schedule.topology, use.link_class)
        << llvm::format("  %14.0f  %10.6g  %10.6g\n", use.bytes, use.busy_s * 1e6,
                        use.idle_s * 1e6);
  }
  if (!result.critical_path.empty()) out << "critical path:\n";
  for (const CriticalStep& step : result.critical_path) {
    out << llvm::format("%12.6g us  %12.6g us", step.start_s * 1e6, step.end_s * 1e6) << "  rank "
        << step.rank << "  %" << step.operation << " after "
        << llvm::StringRef(name(step.waited_for)) << '\n';
  }
}

int run() {
  if (input.empty()) return wrongUsage("simulate: which file? - is stdin");
  llvm::Expected<Input> read = readInput(input);
  if (!read) return inputFault(read.takeError());
  if (read->isPlan()) {
    return inputFault(toError(
        Status(StatusCode::kInvalidArgument, input + ": is a plan; only step operations take time "
                                                     "(torc opt --passes=expand-rings)")));
  }
  const ScheduleView schedule = read->view();
  Machine machine = plainMachine(schedule.topology);
  machine.alpha = alpha;
  machine.gamma = gamma_option;
  SimulateOptions options;
  options.bytes = bytes;
  options.per_rank = per_rank;
  options.critical_path = critical_path;
  llvm::Expected<SimulateResult> result = simulate(schedule, machine, options);
  if (!result) return inputFault(result.takeError());
  std::string text;
  llvm::raw_string_ostream out(text);
  if (json) {
    printJson(schedule, *result, out);
  } else {
    printTable(schedule, *result, out);
  }
  if (llvm::Error error = writeOutput("-", text)) return inputFault(std::move(error));
  return kSuccess;
}

}  // namespace

Command simulateCommand() {
  return {&command, &category, run};
}

}  // namespace torc
