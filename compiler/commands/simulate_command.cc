// torc simulate FILE: when a schedule's operations happen on a machine, and what its links do; or,
// exactly, what they carry.
#include <algorithm>
#include <functional>
#include <optional>

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/Format.h>
#include <nlohmann/json.hpp>

#include "compiler/commands/commands.h"
#include "compiler/commands/simulate_packets.h"
#include "compiler/commands/simulate_trace.h"
#include "compiler/rows.h"
#include "compiler/sizes.h"
#include "compiler/target.h"
#include "compiler/tool.h"
#include "ir/make_error.h"
#include "model/bounds/bounds.h"
#include "model/bounds/graph_bounds.h"
#include "model/bounds/link_loads.h"
#include "model/simulator/simulator.h"

namespace torc::compiler {
namespace simulate_command {

using namespace options;
using Json = nlohmann::ordered_json;

int run();
Command command("simulate", "predict how long a schedule takes on a machine", run);
Text input{command, kFileRow};
Flag per_rank{command,
              {kWhat, "per-rank", "", "Simulate every rank, in whole elements of 4 bytes"}};
Flag exact{command, {kWhat, "exact", "", "Print the loads of links as exact fractions"}};
Flag critical_path{command, {kWhat, "critical-path", "", "Print the longest chain of operations"}};
Text bytes{command, kBytesRow};
Text machine{command, kMachineRow};
Text trace{command, {kOutput, "trace", "FILE", "Write a trace of one size, for Perfetto"}};
Flag json{command, kJsonRow};
PacketFlags packet_flags(command);

constexpr double kMicro = 1e6;  // microseconds per second

/// Links of a graph that the table has: those that are in use longest.
constexpr std::size_t kMostGraphLinks = 16;

std::string linkName(const ScheduleView& schedule, const model::LinkClass& link) {
  if (link.of_graph != kNone) return linkText(schedule.links[link.of_graph]);
  return std::string(1, schedule.topology.axes[link.axis].name) + (link.sign > 0 ? '+' : '-');
}

/// The machine that the schedule runs on.
llvm::Expected<model::Machine> readMachine(const Topology& topology) {
  const bool has_packets = packet_flags.areOn();
  return machineOf(topology, has_packets && machine.empty() ? PacketFlags::kDefaultMachine
                                                            : llvm::StringRef(machine));
}

/// What all forms of the JSON begin with.
Json header(const ScheduleView& schedule) {
  Json document;
  document["collective"] = rowOf(schedule.collective).name;
  document["torus"] = schedule.topology.shape();
  return document;
}

// Times.

struct Run {
  std::uint64_t bytes = 0;
  model::SimulateResult result;
  double bound_s = 0;
  std::optional<double> ratio;       // makespan over bound; none where the bound is 0
  std::optional<double> load_ratio;  // largest load of a link over the least possible, likewise
};

/// What no algorithm can beat for so many bytes.
using Bounds = std::function<model::Bound(double)>;

llvm::Expected<Run> simulateSize(const ScheduleView& schedule, const model::Machine& on,
                                 const Bounds& bounds, std::uint64_t size) {
  model::SimulateOptions options;
  options.bytes = static_cast<double>(size);
  options.per_rank = per_rank;
  options.critical_path = critical_path;
  options.events = !trace.empty();
  llvm::Expected<model::SimulateResult> result = model::simulate(schedule, on, options);
  if (!result) return result.takeError();
  const model::Bound bound = bounds(options.bytes);
  Run run{size, std::move(*result), bound.bound_s, std::nullopt, std::nullopt};
  if (bound.bound_s > 0) run.ratio = run.result.makespan_s / bound.bound_s;
  double load_s = 0;
  for (const model::LinkUse& use : run.result.links) {
    const model::LinkClass& link = use.link_class;
    load_s = std::max(
        load_s, use.bytes / (link.of_graph == kNone ? on.linkBandwidth(link.axis)
                                                    : schedule.links[link.of_graph].bandwidth));
  }
  if (bound.bandwidth_s > 0) run.load_ratio = load_s / bound.bandwidth_s;
  return run;
}

Json jsonOf(const std::optional<double>& number) {
  return number ? Json(*number) : Json();
}

Json jsonOf(const ScheduleView& schedule, const model::Machine& on, const Run& run) {
  const model::SimulateResult& result = run.result;
  Json document = header(schedule);
  document["machine"] = on.name;
  document["bytes"] = run.bytes;
  document["makespan_s"] = result.makespan_s;
  document["bound_s"] = run.bound_s;
  document["ratio"] = jsonOf(run.ratio);
  document["load_ratio"] = jsonOf(run.load_ratio);
  document["steps"] = result.steps;
  document["messages"] = result.messages;
  document["nodes"] = result.nodes;
  document["operations"] = result.operations;
  Json& links = document["links"] = Json::array();
  for (const model::LinkUse& use : result.links) {
    links.push_back({{"link", linkName(schedule, use.link_class)},
                     {"bytes", use.bytes},
                     {"busy_s", use.busy_s},
                     {"idle_s", use.idle_s}});
  }
  if (!critical_path) return document;
  Json& path = document["critical_path"] = Json::array();
  for (const model::CriticalStep& step : result.critical_path) {
    path.push_back({{"operation", step.operation},
                    {"rank", step.rank},
                    {"start_s", step.start_s},
                    {"end_s", step.end_s},
                    {"waited_for", name(step.waited_for)}});
  }
  return document;
}

void printRun(const ScheduleView& schedule, const Run& run, llvm::raw_ostream& out) {
  const model::SimulateResult& result = run.result;
  out << "      link         bytes       busy us       idle us\n";
  std::vector<model::LinkUse> links = result.links;
  if (schedule.isOnGraph()) {
    std::ranges::stable_sort(links, std::greater{}, &model::LinkUse::busy_s);
    links.resize(std::min(links.size(), kMostGraphLinks));
  }
  for (const model::LinkUse& use : links) {
    out << llvm::right_justify(linkName(schedule, use.link_class), 10)
        << llvm::format("  %12.6g  %12.6g  %12.6g\n", use.bytes, use.busy_s * kMicro,
                        use.idle_s * kMicro);
  }
  if (links.size() < result.links.size())
    out << "and " << result.links.size() - links.size() << " more links\n";
  if (!critical_path) return;
  out << "critical path:\n  start us        end us    rank  operation  waited for\n";
  for (const model::CriticalStep& step : result.critical_path) {
    out << llvm::format("%10.6g  %12.6g  %6d", step.start_s * kMicro, step.end_s * kMicro,
                        step.rank)
        << llvm::right_justify("%" + std::to_string(step.operation), 11) << "  "
        << llvm::StringRef(name(step.waited_for)) << '\n';
  }
}

void printRuns(const ScheduleView& schedule, const model::Machine& on, llvm::ArrayRef<Run> runs,
               llvm::raw_ostream& out) {
  const model::SimulateResult& first = runs.front().result;
  out << rowOf(schedule.collective).name << " on " << schedule.topology.shape() << ", machine "
      << on.name << ": " << first.nodes << (first.nodes == 1 ? " node" : " nodes")
      << " simulated for " << schedule.topology.ranks() << ", " << first.operations
      << " operations\n"
      << "     bytes   makespan us      bound us     ratio  load ratio   steps  messages\n";
  auto ratioText = [](const std::optional<double>& ratio) {
    std::string text = "-";
    if (ratio) llvm::raw_string_ostream(text = "") << llvm::format("%.4f", *ratio);
    return text;
  };
  for (const Run& run : runs) {
    out << llvm::right_justify(sizeText(run.bytes), 10)
        << llvm::format("  %12.6g  %12.6g", run.result.makespan_s * kMicro, run.bound_s * kMicro)
        << llvm::right_justify(ratioText(run.ratio), 10)
        << llvm::right_justify(ratioText(run.load_ratio), 12)
        << llvm::right_justify(std::to_string(run.result.steps), 8)
        << llvm::right_justify(std::to_string(run.result.messages), 10) << '\n';
  }
  if (runs.size() == 1) printRun(schedule, runs.front(), out);
}

llvm::Error simulateSizes(const ScheduleView& schedule, const model::Machine& on,
                          const SizeRange& range, llvm::raw_ostream& out) {
  Bounds bounds = [&](double size) {
    return model::lowerBound(on, {rowOf(schedule.collective), size});
  };
  if (schedule.isOnGraph()) {
    const model::GraphBounds of_graph(schedule.links, schedule.topology.ranks(),
                                      rowOf(schedule.collective));
    bounds = [&on, of_graph](double size) { return of_graph.bound(on, size); };
  }
  std::vector<Run> runs;
  for (const std::uint64_t size : range.sizes()) {
    llvm::Expected<Run> run = simulateSize(schedule, on, bounds, size);
    if (!run) return run.takeError();
    runs.push_back(std::move(*run));
  }
  if (!trace.empty()) {
    const Run& run = runs.front();
    if (Status status = writeTrace(trace, schedule, run.result, run.bytes); !status.ok()) {
      return toError(status);
    }
  }
  if (!json) {
    printRuns(schedule, on, runs, out);
  } else if (range.lowest == range.highest) {
    out << jsonOf(schedule, on, runs.front()).dump(2) << '\n';
  } else {
    Json documents = Json::array();
    for (const Run& run : runs)
      documents.push_back(jsonOf(schedule, on, run));
    out << documents.dump(2) << '\n';
  }
  return llvm::Error::success();
}

// Exact loads.

Json jsonOf(const ScheduleView& schedule, llvm::ArrayRef<model::ExactLoad> loads) {
  Json object = Json::object();
  for (const model::ExactLoad& load : loads)
    object[linkName(schedule, load.link)] = load.share.text();
  return object;
}

llvm::Error printLoads(const ScheduleView& schedule, llvm::raw_ostream& out) {
  const Topology& topology = schedule.topology;
  llvm::Expected<model::LinkLoads> loads = model::exactLinkLoads(schedule);
  if (!loads) return loads.takeError();
  const std::optional<model::Fraction> bound = model::equalLinkBound(schedule.collective, topology);
  std::optional<model::Fraction> ratio;
  if (bound) ratio = model::divide(loads->largest(), *bound);
  if (json) {
    Json document = header(schedule);
    Json& phases = document["phases"] = Json::array();
    for (const model::LinkLoads::Phase& phase : loads->phases)
      phases.push_back({{"phase", phase.phase}, {"loads", jsonOf(schedule, phase.loads)}});
    document["total"] = jsonOf(schedule, loads->totals);
    document["bound"] = bound ? Json(bound->text()) : Json();
    document["exact_load_ratio"] = ratio ? Json(ratio->text()) : Json();
    document["load_ratio"] = ratio ? Json(ratio->value()) : Json();
    out << document.dump(2) << '\n';
    return llvm::Error::success();
  }
  out << rowOf(schedule.collective).name << " on " << topology.shape()
      << ": loads of the busiest links, as shares of the vector\n";
  auto print = [&](const std::string& label, llvm::ArrayRef<model::ExactLoad> row) {
    out << label;
    for (const model::ExactLoad& load : row)
      out << "  " << linkName(schedule, load.link) << ' ' << load.share.text();
    out << '\n';
  };
  for (const model::LinkLoads::Phase& phase : loads->phases)
    print("phase " + std::to_string(phase.phase), phase.loads);
  print("total", loads->totals);
  if (ratio) {
    out << "bound " << bound->text() << ", ratio " << ratio->text()
        << llvm::format(" = %.6f\n", ratio->value());
  } else if (!bound) {
    out << "no exact bound: links are not all alike (torc bounds)\n";
  }
  return llvm::Error::success();
}

int run() {
  if (packet_flags.listsSettings()) return packet_flags.listSettings();
  if (llvm::Error error = packet_flags.check(!input.empty())) {
    return wrongUsage(llvm::toString(std::move(error)));
  }
  if (packet_flags.areOn() && (exact || per_rank || critical_path || !trace.empty())) {
    return wrongUsage(
        "simulate: --exact, --per-rank, --critical-path and --trace are of links, not of packets");
  }
  if (packet_flags.hasTraffic()) return packet_flags.simulateTraffic(machine, json);
  if (input.empty()) return wrongUsage("simulate: which file? - is stdin");
  llvm::Expected<SizeRange> range = parseSizeRange(bytes, "--bytes");
  if (!range) return wrongUsage(llvm::toString(range.takeError()));
  if (!trace.empty() && (exact || range->lowest != range->highest)) {
    return wrongUsage("simulate: --trace is of times for one size (--bytes)");
  }
  llvm::Expected<Input> read = readInput(input);
  if (!read) return inputFault(read.takeError());
  if (read->isPlan()) {
    return inputFault(toError(
        Status(StatusCode::kInvalidArgument, input +
                                                 ": is a plan; only step operations take time "
                                                 "(torc opt --passes=" +
                                                 std::string(read->program.expander()) + ")")));
  }
  const ScheduleView schedule = read->view();
  if (schedule.isOnGraph() && (exact || packet_flags.areOn())) {
    return inputFault(makeError(input + ": is on a graph, of which --exact and packets are not"));
  }
  llvm::Expected<model::Machine> on = readMachine(schedule.topology);
  if (!on) return optionFault(on.takeError());
  if (packet_flags.areOn()) return packet_flags.simulateFile(schedule, *on, *range, json);
  std::string text;
  llvm::raw_string_ostream out(text);
  if (llvm::Error error =
          exact ? printLoads(schedule, out) : simulateSizes(schedule, *on, *range, out)) {
    return inputFault(std::move(error));
  }
  if (llvm::Error error = writeOutput("-", text)) return inputFault(std::move(error));
  return kSuccess;
}

}  // namespace simulate_command

options::Command& simulateCommand() {
  return simulate_command::command;
}

}  // namespace torc::compiler
