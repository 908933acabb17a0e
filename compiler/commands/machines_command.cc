// torc machines [NAME | FILE]: the presets, or one machine with the sources of its numbers; or
// where a job's hosts lie on it.
#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/Format.h>
#include <nlohmann/json.hpp>

#include "compiler/commands/commands.h"
#include "compiler/rows.h"
#include "compiler/tool.h"
#include "ir/make_error.h"
#include "model/machines/host_mapping.h"
#include "model/machines/machine.h"

namespace torc::compiler {
namespace machines_command {

using namespace options;

constexpr std::uint32_t kMostRanks = 4096;  // on a host

int run();
Command command("machines", "print the machines that --machine knows", run);
Text wanted{command, {kWhat, "[NAME | FILE]", "NAME", "A machine", "", machineWords}};
Text hosts{command,
           {kWhat, "hosts", "LIST", "Print the mapping file of a job on them, as node[01-16]"}};
Integer ranks{
    command, {kWhat, "ranks-per-host", "N", "Ranks on each of --hosts", "1"}, 1, kMostRanks};
Flag json{command, {kOutput, "json", "", "Print JSON; of one machine, its description"}};

void printList(llvm::ArrayRef<model::Machine> machines, llvm::raw_ostream& out) {
  for (const model::Machine& machine : machines) {
    out << llvm::left_justify(machine.name, 16) << ' '
        << llvm::left_justify(model::shapeOf(machine), 18) << ' ' << machine.description << '\n';
  }
}

void printListJson(llvm::ArrayRef<model::Machine> machines, llvm::raw_ostream& out) {
  auto document = nlohmann::ordered_json::array();
  for (const model::Machine& machine : machines) {
    document.push_back({{"name", machine.name},
                        {"torus", model::shapeOf(machine)},
                        {"nodes", machine.nodes()},
                        {"description", machine.description}});
  }
  out << document.dump(2) << '\n';
}

/// A number with its source.
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
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.6g", value);
  return text;
}

/// One value per dimension, or a single one where they are equal.
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

llvm::Expected<std::string> mapping() {
  if (!hosts.isGiven()) return makeError("--ranks-per-host goes with --hosts");
  if (wanted.empty()) return makeError("--hosts of which file? torc machines FILE --hosts LIST");
  if (json) return makeError("--hosts prints a mapping file, no JSON");
  llvm::Expected<std::string> bytes = readBytes(wanted);
  if (!bytes) return llvm::make_error<model::MachineFault>(toString(bytes.takeError()));
  llvm::Expected<std::vector<model::SlurmTorus>> tori = model::readSlurmTori(*bytes, wanted);
  if (!tori) return tori.takeError();
  return model::mappingOfHosts(*tori, hosts, static_cast<std::uint32_t>(ranks));
}

int run() {
  if (hosts.isGiven() || ranks.isGiven()) {
    llvm::Expected<std::string> lines = mapping();
    if (!lines) return optionFault(lines.takeError());
    if (llvm::Error error = writeOutput("-", *lines)) return inputFault(std::move(error));
    return kSuccess;
  }
  std::string text;
  llvm::raw_string_ostream out(text);
  if (wanted.empty()) {
    std::vector<model::Machine> machines;
    for (llvm::StringRef name : model::machinePresets()) {
      llvm::Expected<model::Machine> machine = model::findMachine(name);
      if (!machine) return optionFault(machine.takeError());
      machines.push_back(std::move(*machine));
    }
    json ? printListJson(machines, out) : printList(machines, out);
  } else {
    llvm::Expected<model::Machine> machine = model::findMachine(wanted);
    if (!machine) return optionFault(machine.takeError());
    if (json) {
      out << model::machineJson(*machine) << '\n';
    } else {
      printMachine(*machine, out);
    }
  }
  if (llvm::Error error = writeOutput("-", text)) return inputFault(std::move(error));
  return kSuccess;
}

}  // namespace machines_command

options::Command& machinesCommand() {
  return machines_command::command;
}

}  // namespace torc::compiler
