// torc machines [NAME | FILE]: the presets, or one machine with the sources of its numbers, or the
// places of a job's hosts on it.
#include <llvm/ADT/StringExtras.h>

#include "compiler/commands/commands.h"
#include "compiler/report.h"
#include "ir/make_error.h"
#include "model/machines/machine.h"
#include "model/machines/slurm_machine.h"

namespace torc::compiler {
namespace machines_command {

using namespace options;

constexpr std::uint32_t kMostRanks = 4096;  // per host

int run();
Command command("machines", "print the machines that --machine knows", run, "torc machines bgp");
Text wanted{command, {kWhat, "[NAME | FILE]", "NAME", "A machine", "", machineWords}};
Text hosts{command,
           {kWhat, "hosts", "LIST", "Print the mapping file of a job on them, as node[01-16]"}};
Integer ranks{
    command, {kWhat, "ranks-per-host", "N", "Ranks on each of --hosts", "1"}, 1, kMostRanks};
Flag json{command, {kOutput, "json", "", "Print JSON; of one machine, its description"}};
Flag csv{command, kCsvRow};

/// Prints a number with its source.
void printRow(const model::Machine& machine, llvm::StringRef key, const llvm::Twine& value,
              llvm::raw_ostream& out) {
  std::string source;
  for (const auto& [of, text] : machine.sources) {
    if (of == key) source = text;
  }
  out << "  " << llvm::left_justify(key, 22) << ' ' << llvm::left_justify(value.str(), 26)
      << (source.empty() ? "" : " ") << source << '\n';
}

std::string shown(double value) {
  return formatted("%.6g", value);
}

/// One value per dimension, or a single one if they are equal.
template <typename Value>
std::string perDimension(const model::Machine& machine, Value value) {
  std::vector<std::string> texts;
  bool equal = true;
  for (const model::MachineDimension& dimension : machine.dimensions) {
    texts.push_back(value(dimension));
    equal = equal && texts.back() == texts.front();
  }
  return equal ? texts.front() : llvm::join(texts, " ");
}

void printMachine(const model::Machine& machine, llvm::raw_ostream& out) {
  out << machine.name << ": " << machine.description << '\n';
  using Dimension = model::MachineDimension;
  printRow(machine, "dimensions.size", model::shapeOf(machine), out);
  printRow(machine, "dimensions.bandwidth",
           perDimension(machine, [](const Dimension& of) { return shown(of.bandwidth); }) + " B/s",
           out);
  printRow(machine, "dimensions.latency",
           perDimension(machine, [](const Dimension& of) { return shown(of.latency); }) + " s",
           out);
  printRow(machine, "dimensions.width",
           perDimension(machine, [](const Dimension& of) { return std::to_string(of.cables()); }),
           out);
  if (machine.packet.payload > 0) {
    printRow(machine, "packet",
             shown(machine.packet.payload) + "+" + shown(machine.packet.header) + "+" +
                 shown(machine.packet.acknowledgement) + " B",
             out);
  }
  printRow(machine, "cores", llvm::Twine(machine.cores), out);
  if (machine.ports > 0) printRow(machine, "ports", llvm::Twine(machine.ports), out);
  auto printTime = [&](llvm::StringRef key, double value, llvm::StringRef unit) {
    if (value > 0) printRow(machine, key, shown(value) + unit, out);
  };
  printTime("alpha", machine.alpha, " s");
  printTime("overhead", machine.overhead, " s");
  printTime("latency", machine.latency, " s");
  printTime("message_gap", machine.message_gap, " s");
  printTime("injection", machine.injection, " B/s");
  printTime("gap", machine.gap, " s/B");
  printTime("gamma", machine.gamma, " s/B");
  printTime("memory_bandwidth", machine.memory_bandwidth, " B/s");
  if (machine.damaged()) {
    out << "  " << machine.dead_links.size() << " dead links, " << machine.dead_nodes.size()
        << " dead nodes\n";
  }
}

std::string mapping() {
  if (!hosts.isGiven()) wrongUsage("--ranks-per-host goes with --hosts");
  if (wanted.empty()) wrongUsage("--hosts of which file? torc machines FILE --hosts LIST");
  if (json) wrongUsage("--hosts prints a mapping file, no JSON");
  const std::vector<model::SlurmTorus> tori =
      orOptionFault(model::readSlurmTori(orInputFault(readBytes(wanted)), wanted));
  return orOptionFault(model::mappingOfHosts(tori, hosts, static_cast<std::uint32_t>(ranks)));
}

int run() {
  if (hosts.isGiven() || ranks.isGiven()) return printOutput(mapping());
  if (!wanted.empty()) {
    const model::Machine machine = orOptionFault(model::findMachine(wanted));
    if (json) return printOutput(model::machineJson(machine) + '\n');
    return printReport({}, {}, [&](llvm::raw_ostream& out) { printMachine(machine, out); });
  }
  std::vector<Record> rows;
  for (llvm::StringRef name : model::machinePresets()) {
    const model::Machine machine = orOptionFault(model::findMachine(name));
    rows.push_back({{"name", machine.name, "name"},
                    {"torus", model::shapeOf(machine), "torus"},
                    {"nodes", machine.nodes()},
                    {"description", machine.description, "description"}});
  }
  return printReport(rows, {json, csv}, [&](llvm::raw_ostream& out) {
    out << llvm::StringRef(tableText(rows)).split('\n').second;  // without heads
  });
}

}  // namespace machines_command

options::Command& kMachinesCommand = machines_command::command;

}  // namespace torc::compiler
