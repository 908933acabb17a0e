// torc simulate FILE...: the times of a schedule's operations on a machine, and the use of its
// links; or the exact loads of the links.
#include <algorithm>
#include <functional>
#include <optional>

#include <llvm/ADT/STLExtras.h>

#include "compiler/commands/commands.h"
#include "compiler/commands/simulate.h"
#include "compiler/report.h"
#include "compiler/sizes.h"
#include "compiler/target.h"
#include "ir/make_error.h"
#include "model/bounds/bounds.h"
#include "model/bounds/graph_bounds.h"
#include "model/bounds/link_loads.h"
#include "model/simulator/simulator.h"

namespace torc::compiler {
namespace simulate_command {

using namespace options;

int run();
Command command("simulate", "predict how long a schedule takes on a machine", run,
                "torc simulate a.torc --bytes 1K:16M --machine bgp");
List inputs{command, kFilesRow};
Flag per_rank{command,
              {kWhat, "per-rank", "", "Simulate every rank, in whole elements of 4 bytes"}};
Flag exact{command, {kWhat, "exact", "", "Print the loads of links as exact fractions"}};
Flag critical_path{command, {kWhat, "critical-path", "", "Print the longest chain of operations"}};
Text bytes{command, kBytesRow};
Text machine{command, kMachineRow};
Text trace{command, {kOutput, "trace", "FILE", "Write a trace of one size, for Perfetto"}};
Flag json{command, kJsonRow};
Flag csv{command, kCsvRow};
PacketFlags packet_flags(command);

/// Links of a graph that the table has: those that are in use longest.
constexpr std::size_t kMostGraphLinks = 16;

std::string linkName(const ScheduleView& schedule, const model::LinkClass& link) {
  if (link.of_graph != kNone) return linkText(schedule.links[link.of_graph]);
  return compiler::linkName(schedule.topology.axes[link.axis], link.sign > 0);
}

/// The machine that the schedule runs on.
model::Machine readMachine(const Topology& topology) {
  const bool has_packets = packet_flags.areOn();
  return orOptionFault(machineOf(topology, has_packets && machine.empty()
                                               ? PacketFlags::kDefaultMachine
                                               : llvm::StringRef(machine)));
}

// Times.

struct Run {
  std::uint64_t bytes = 0;
  model::SimulateResult result;
  double bound_s = 0;
  std::optional<double> ratio;       // makespan over bound; none where the bound is 0
  std::optional<double> load_ratio;  // largest load of a link over the least possible, likewise
};

/// The lower bound of all algorithms' times for so many bytes.
using Bounds = std::function<model::Bound(double)>;

Run simulateSize(const ScheduleView& schedule, const model::Machine& on, const Bounds& bounds,
                 std::uint64_t size) {
  const model::SimulateOptions options{.bytes = static_cast<double>(size),
                                       .per_rank = per_rank,
                                       .critical_path = critical_path,
                                       .events = !trace.empty()};
  const model::Bound bound = bounds(options.bytes);
  Run run{size, orInputFault(model::simulate(schedule, on, options)), bound.bound_s, {}, {}};
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

std::vector<Record> linksOf(const ScheduleView& schedule, llvm::ArrayRef<model::LinkUse> links) {
  std::vector<Record> rows;
  for (const model::LinkUse& use : links) {
    rows.push_back({{"link", linkName(schedule, use.link_class), "      link"},
                    {"bytes", use.bytes, "       bytes", {"%.6g"}},
                    {"busy_s", use.busy_s, "     busy us", kMicros},
                    {"idle_s", use.idle_s, "     idle us", kMicros}});
  }
  return rows;
}

std::vector<Record> pathOf(const model::SimulateResult& result) {
  std::vector<Record> rows;
  for (const model::CriticalStep& step : result.critical_path) {
    const bool is_continued = step.operation == kNone;
    rows.push_back(
        {{"operation", is_continued ? Json() : Json(step.operation)},
         {"rank", step.rank},
         {"start_s", step.start_s, "  start us", kMicros},
         {"end_s", step.end_s, "      end us", kMicros},
         {"", step.rank, "  rank"},
         {"", is_continued ? model::text(result.continued) : "%" + std::to_string(step.operation),
          "operation"},
         {"waited_for", name(step.waited_for), "waited for"},
         {"segment", step.segment}});
  }
  return rows;
}

Record recordOf(const ScheduleView& schedule, const model::Machine& on, const Run& run) {
  const model::SimulateResult& result = run.result;
  Record record = {{"collective", rowOf(schedule.collective).name},
                   {"torus", schedule.topology.shape()},
                   {"machine", on.name},
                   {"bytes", run.bytes, "     bytes", kSize},
                   {"makespan_s", result.makespan_s, " makespan us", kMicros},
                   {"bound_s", run.bound_s, "    bound us", kMicros},
                   {"ratio", orNull(run.ratio), "   ratio", kRatio},
                   {"load_ratio", orNull(run.load_ratio), "load ratio", kRatio},
                   {"steps", result.steps, " steps"},
                   {"messages", result.messages, "messages"},
                   {"nodes", result.nodes},
                   {"operations", result.operations},
                   {"simulated_until_s",
                    result.continued.count > 0 ? result.continued.simulated_s : result.makespan_s},
                   {"links", jsonOf(linksOf(schedule, result.links))}};
  if (critical_path) record.push_back({"critical_path", jsonOf(pathOf(result))});
  return record;
}

void printRun(const ScheduleView& schedule, const model::SimulateResult& result,
              llvm::raw_ostream& out) {
  std::vector<model::LinkUse> links = result.links;
  if (schedule.isOnGraph()) {
    std::ranges::stable_sort(links, std::greater{}, &model::LinkUse::busy_s);
    links.resize(std::min(links.size(), kMostGraphLinks));
  }
  out << tableText(linksOf(schedule, links));
  if (links.size() < result.links.size())
    out << "and " << result.links.size() - links.size() << " more links\n";
  if (critical_path) out << "critical path:\n" << tableText(pathOf(result));
}

void printRuns(const ScheduleView& schedule, const model::Machine& on,
               const model::SimulateResult& first, const std::vector<Record>& rows,
               llvm::raw_ostream& out) {
  out << rowOf(schedule.collective).name << " on " << schedule.topology.shape() << ", machine "
      << on.name << ": " << first.nodes << (first.nodes == 1 ? " node" : " nodes")
      << " simulated for " << schedule.topology.ranks() << ", " << first.operations << " operations"
      << (first.continued.count > 0 ? ", " + model::text(first.continued) : "") << '\n'
      << tableText(rows);
  if (rows.size() == 1) printRun(schedule, first, out);
}

/// Adds a row for each size. Prints text for people where there is only one file.
void simulateSizes(const std::string& input, const ScheduleView& schedule, const model::Machine& on,
                   const SizeRange& range, std::vector<Record>& rows, llvm::raw_ostream& out) {
  Bounds bounds = [&](double size) {
    return model::lowerBound(on, {rowOf(schedule.collective), size});
  };
  if (schedule.isOnGraph()) {
    const model::GraphBounds of_graph(schedule.links, schedule.topology.ranks(),
                                      rowOf(schedule.collective));
    bounds = [&on, of_graph](double size) { return of_graph.bound(on, size); };
  }
  const bool is_several = inputs.size() > 1;
  std::optional<Run> first;
  for (const std::uint64_t size : range.sizes()) {
    Run run = simulateSize(schedule, on, bounds, size);
    Record& row = rows.emplace_back(recordOf(schedule, on, run));
    if (csv || is_several) row.insert(row.begin(), {"file", input, "file"});
    if (!first) first = std::move(run);
  }
  if (!trace.empty()) {
    orInputFault(toError(writeTrace(trace, schedule, first->result, first->bytes)));
  }
  if (!is_several) printRuns(schedule, on, first->result, rows, out);
}

// Exact loads.

Json jsonOf(const ScheduleView& schedule, llvm::ArrayRef<model::ExactLoad> loads) {
  Json object = Json::object();
  for (const model::ExactLoad& load : loads)
    object[linkName(schedule, load.link)] = load.share.text();
  return object;
}

int printLoads(const ScheduleView& schedule) {
  const Topology& topology = schedule.topology;
  const model::LinkLoads loads = orInputFault(model::exactLinkLoads(schedule));
  const std::optional<model::Fraction> bound = model::equalLinkBound(schedule.collective, topology);
  std::optional<model::Fraction> ratio;
  if (bound) ratio = model::divide(loads.largest, *bound);
  std::vector<Record> phases;
  for (const model::LinkLoads::Phase& phase : loads.phases)
    phases.push_back({{"phase", phase.phase}, {"loads", jsonOf(schedule, phase.loads)}});
  const Record record = {{"collective", rowOf(schedule.collective).name},
                         {"torus", topology.shape()},
                         {"phases", jsonOf(phases)},
                         {"total", jsonOf(schedule, loads.totals)},
                         {"bound", bound ? Json(bound->text()) : Json()},
                         {"exact_load_ratio", ratio ? Json(ratio->text()) : Json()},
                         {"load_ratio", ratio ? Json(ratio->value()) : Json()}};
  return printReport({record}, {json, csv}, [&](llvm::raw_ostream& out) {
    out << rowOf(schedule.collective).name << " on " << topology.shape()
        << ": loads of the busiest links, as shares of the vector\n";
    const auto print = [&](const std::string& label, llvm::ArrayRef<model::ExactLoad> row) {
      out << label;
      for (const model::ExactLoad& load : row)
        out << "  " << linkName(schedule, load.link) << ' ' << load.share.text();
      out << '\n';
    };
    for (const model::LinkLoads::Phase& phase : loads.phases)
      print("phase " + std::to_string(phase.phase), phase.loads);
    print("total", loads.totals);
    if (ratio) {
      out << "bound " << bound->text() << ", ratio " << ratio->text() << " = "
          << formatted("%.6f", ratio->value()) << '\n';
    } else if (!bound) {
      out << "no exact bound: links are not all alike (torc bounds)\n";
    }
  });
}

/// Returns the exit code.
int simulateFile(const std::string& input, SizeRange& range, std::vector<Record>& rows,
                 llvm::raw_ostream& out) {
  const Input read = orInputFault(readSteps(input, "only step operations take time"));
  const ScheduleView schedule = read.view();
  if (&input == &inputs.front()) takeChosenFor(schedule.producer, bytes, range, machine);
  if (schedule.isOnGraph() && (exact || packet_flags.areOn())) {
    return inputFault(makeError(input + ": is on a graph, of which --exact and packets are not"));
  }
  const model::Machine on = readMachine(schedule.topology);
  if (packet_flags.areOn()) return packet_flags.simulateFile(schedule, on, range, {json, csv});
  if (exact) return printLoads(schedule);
  simulateSizes(input, schedule, on, range, rows, out);
  return kSuccess;
}

int run() {
  if (packet_flags.listsSettings()) return packet_flags.listSettings();
  packet_flags.check(!inputs.empty());
  if (packet_flags.areOn() && (exact || per_rank || critical_path || !trace.empty())) {
    wrongUsage(
        "simulate: --exact, --per-rank, --critical-path and --trace are of links, not of packets");
  }
  if (packet_flags.hasTraffic()) return packet_flags.simulateTraffic(machine, {json, csv});
  if (inputs.empty()) wrongUsage("simulate: which file? - is stdin");
  SizeRange range = orUsageFault(parseSizeRange(bytes, "--bytes"));
  if (!trace.empty() && (exact || range.lowest != range.highest)) {
    wrongUsage("simulate: --trace is of times for one size (--bytes)");
  }
  if (inputs.size() > 1 && (exact || !trace.empty() || packet_flags.areOn()))
    wrongUsage("simulate: --exact, --trace and --packets are of one file");
  std::vector<Record> rows;
  std::string text;
  llvm::raw_string_ostream out(text);
  for (const std::string& input : inputs) {
    if (const int code = simulateFile(input, range, rows, out); code != kSuccess) return code;
  }
  if (rows.empty()) return kSuccess;  // printed
  return printReport(rows, {json, csv}, [&](llvm::raw_ostream& to) {
    to << (inputs.size() > 1 ? tableText(rows) : text);
  });
}

}  // namespace simulate_command

options::Command& kSimulateCommand = simulate_command::command;

}  // namespace torc::compiler
