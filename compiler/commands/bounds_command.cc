// torc bounds COLLECTIVE: lower bounds for all algorithms.
#include <cmath>

#include "compiler/commands/commands.h"
#include "compiler/report.h"
#include "compiler/sizes.h"
#include "compiler/target.h"
#include "ir/exchange/readers/readers.h"
#include "ir/make_error.h"
#include "model/bounds/bounds.h"
#include "model/bounds/graph_bounds.h"

namespace torc::compiler {
namespace bounds_command {

using namespace options;

int run();
Command command("bounds", "print lower bounds, which no algorithm can beat", run,
                "torc bounds allreduce --torus 8x8x8 --bytes 1M");
Text collective{command, kCollectiveRow};
Flag unidirectional{command, {kWhat, "unidirectional", "", "Links carry one direction at a time"}};
Text torus{command, kTorusRow};
Text graph{command,
           {kMachine, "graph", "FILE", "Links of a table (docs/users/exchange.md), no torus"}};
Text machine_name{command, kMachineRow};
List dead_links{command, kDeadLinkRow};
List dead_nodes{command, kDeadNodeRow};
Text bytes{command,
           {kMachine, "bytes", "N[:N]", "Size, or range (docs/research/bounds.md: of what)", "1M"}};
Flag json{command, kJsonRow};
Flag csv{command, kCsvRow};

/// `XZ`.
std::string axisNames(std::uint32_t axes) {
  std::string names;
  for (std::size_t i = 0; i < kAxisNames.size(); ++i) {
    if (axes >> i & 1) names += kAxisNames[i];
  }
  return names;
}

/// The limit of the bandwidth, in words.
std::string limitText(const model::Bound& bound) {
  const std::string axes = axisNames(bound.dimensions);
  const std::string of = bound.ports_limit ? "the ports of " : "the links of ";
  switch (bound.limit) {
    case model::BandwidthLimit::kNone:
      return "nothing has to be sent";
    case model::BandwidthLimit::kCut:
      return of + (bound.dimensions == 0 ? "a node" : "a sub-torus along " + axes);
    case model::BandwidthLimit::kSplit:
      return of + (bound.dimensions == 0 ? "all nodes" : "all sub-tori along " + axes);
    case model::BandwidthLimit::kSlab:
      return "the links between the halves of " + axes;
    case model::BandwidthLimit::kDistance:
      return graph.empty() ? "the distances along " + axes + ", over its links"
                           : "the distances, over all links";
    case model::BandwidthLimit::kNarrowest:
      return graph.empty() ? "the narrowest cut of the damaged torus" : "the narrowest cut";
  }
  return {};
}

Record recordOf(const model::Machine& machine, std::uint64_t size, const model::Bound& bound) {
  Record record = {
      {"collective", collective.text()},
      graph.empty() ? Field{"torus", model::shapeOf(machine)} : Field{"graph", graph.text()},
      {"machine", machine.name},
      {"nodes", static_cast<std::uint64_t>(bound.nodes)},
      {"unidirectional", bool(unidirectional)},
      {"bytes", size, "     bytes", kSize},
      {"bound_s", bound.bound_s, "    bound us", kMicros},
      {"bandwidth_s", bound.bandwidth_s, "bandwidth us", kMicros},
      {"compute_s", bound.compute_s, "  compute us", kMicros},
      {"latency_s", bound.latency_s, "  latency us", kMicros}};
  if (bound.reduce_scatter_allgather_s)
    record.push_back({"reduce_scatter_allgather_s", *bound.reduce_scatter_allgather_s});
  record.push_back({"limit", name(bound.limit).str()});
  if (!graph.empty()) return record;
  record.push_back({"limit_dimensions", axisNames(bound.dimensions)});
  record.push_back({"ports_limit", bound.ports_limit});
  record.push_back({"rounds", bound.rounds});
  record.push_back({"neighbour_rounds", bound.neighbour_rounds});
  record.push_back({"round_s", bound.round_s});
  return record;
}

void printTable(const model::Machine& machine, const std::vector<Record>& rows,
                const model::Bound& last, llvm::raw_ostream& out) {
  out << collective << " on "
      << (graph.empty() ? model::shapeOf(machine) + " of " + machine.name : graph) << ", "
      << static_cast<std::uint64_t>(last.nodes) << " nodes"
      << (unidirectional ? ", unidirectional" : "") << '\n'
      << tableText(rows) << "bandwidth: " << limitText(last) << '\n';
  if (!graph.empty()) return;
  if (last.reduce_scatter_allgather_s.value_or(0) > last.bandwidth_s * (1 + 1e-9)) {
    out << "reduce_scatter, then allgather: at least "
        << microsText(*last.reduce_scatter_allgather_s) << " of bandwidth\n";
  }
  out << "rounds of messages: " << last.rounds << " to any node, " << last.neighbour_rounds
      << " to neighbours; " << microsText(last.round_s) << " each\n";
}

int print(const model::Machine& machine, llvm::ArrayRef<std::uint64_t> sizes,
          llvm::ArrayRef<model::Bound> bounds) {
  std::vector<Record> rows;
  for (std::size_t i = 0; i < bounds.size(); ++i)
    rows.push_back(recordOf(machine, sizes[i], bounds[i]));
  return printReport(rows, {json, csv}, [&](llvm::raw_ostream& out) {
    printTable(machine, rows, bounds.back(), out);
  });
}

/// The bounds for the table of --graph; its links replace those of the machine.
int printGraph(const CollectiveRow& row, llvm::ArrayRef<std::uint64_t> sizes) {
  if (!torus.empty() || !dead_links.empty() || !dead_nodes.empty() || unidirectional)
    wrongUsage("bounds: --graph has all links; it goes with --machine, --bytes, --json");
  if (row.isOfNeighbours())
    wrongUsage("bounds: the neighbours of " + collective + " are those of a torus");
  const ir::Graph read = orInputFault(ir::readGraph(orInputFault(readBytes(graph)), graph));
  const model::Machine machine =
      orOptionFault(readPartition(std::to_string(read.ranks), machine_name));
  const model::GraphBounds of_graph(read.links, static_cast<std::uint64_t>(read.ranks), row);
  std::vector<model::Bound> bounds;
  for (const std::uint64_t size : sizes)
    bounds.push_back(of_graph.bound(machine, static_cast<double>(size)));
  if (std::isinf(bounds.back().bound_s))
    return inputFault(makeError(graph + ": no links lead from some ranks to others"));
  return print(machine, sizes, bounds);
}

/// The machine; a twisted torus has no topology, and no damage.
model::Machine readMachine() {
  const model::Machine part = orOptionFault(readPartition(torus, machine_name));
  if (part.twisted && dead_links.empty() && dead_nodes.empty()) return part;
  if (part.twisted) {
    wrongUsage((dead_nodes.empty() ? "--dead-link" : "--dead-node") +
               llvm::Twine(": of a twisted torus with damage no bounds are known"));
  }
  Target target{part, orOptionFault(model::topologyOf(part))};
  orUsageFault(addDamage(target, dead_links, dead_nodes));
  return target.machine;
}

int run() {
  if (collective.empty()) wrongUsage("bounds: which collective? torc bounds --help");
  const CollectiveRow parsed = orUsageFault(model::parseBoundedCollective(collective));
  const SizeRange range = orUsageFault(parseSizeRange(bytes, "--bytes"));
  const std::vector<std::uint64_t> sizes = range.sizes();
  if (!graph.empty()) return printGraph(parsed, sizes);
  const model::Machine machine = readMachine();

  std::vector<model::Bound> bounds;
  for (std::uint64_t size : sizes) {
    bounds.push_back(
        model::lowerBound(machine, {parsed, static_cast<double>(size), unidirectional}));
  }
  return print(machine, sizes, bounds);
}

}  // namespace bounds_command

options::Command& kBoundsCommand = bounds_command::command;

}  // namespace torc::compiler
