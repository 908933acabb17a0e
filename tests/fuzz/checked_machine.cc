// Reads a text as a machine in torc's or a foreign format, and computes its bounds.
#include <cmath>

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringExtras.h>

#include "model/bounds/bounds.h"
#include "model/machines/foreign.h"
#include "model/machines/machine.h"
#include "tests/fuzz/checked.h"

namespace torc::fuzz {
namespace {

/// What is wrong with an error message; empty if nothing is.
std::string messageFault(llvm::StringRef message, bool is_json) {
  if (!message.starts_with("m.json:")) return "does not name the file";
  const bool syntax = is_json && message.contains(": error: ");
  if (message.count('\n') != (syntax ? 2u : 0u)) return "has the wrong number of lines";
  // Of a syntax fault the line follows, as it is.
  const bool printable = llvm::all_of(message.split('\n').first, llvm::isPrint);
  return printable ? "" : "has characters that cannot be printed";
}

std::string boundsFault(const model::Machine& machine) {
  for (const llvm::StringRef name : model::boundedCollectives()) {
    const CollectiveRow row = llvm::cantFail(model::parseBoundedCollective(name));
    const model::Bound bound = model::lowerBound(machine, {row, 1e6});
    const bool is_number = std::isfinite(bound.bound_s) && bound.bound_s >= 0 &&
                           std::isfinite(bound.reduce_scatter_allgather_s.value_or(0));
    const bool has_way =
        row.blocks == BlockSpace::kNone || bound.nodes < 2 || bound.bandwidth_s > 0;
    if (!is_number || !has_way)
      return name.str() + ": a bound of " + std::to_string(bound.bound_s) + " s";
  }
  return {};
}

std::string machineFault(const model::Machine& machine) {
  const std::string json = model::machineJson(machine);
  llvm::Expected<model::Machine> again = model::parseMachine(json, "m.json");
  if (!again) return toString(again.takeError());
  if (model::machineJson(*again) != json) return "another machine reads back";
  llvm::Expected<Topology> topology = model::topologyOf(machine);
  if (!topology) return toString(topology.takeError());
  if (const Status sound = topology->validate(); !sound.ok()) return sound.message();
  return boundsFault(machine);
}

}  // namespace

Outcome checkMachine(llvm::StringRef text) {
  Outcome outcome;
  const bool is_json = model::isMachineJson(text);
  llvm::Expected<model::Machine> machine =
      (is_json ? model::parseMachine : model::parseForeignMachine)(text, "m.json");
  outcome.accepted = bool(machine);
  if (machine) {
    outcome.violation = machineFault(*machine);
    return outcome;
  }
  outcome.refusal = toString(machine.takeError());
  outcome.violation = messageFault(outcome.refusal, is_json);
  if (!outcome.violation.empty()) outcome.violation += ": " + outcome.refusal;
  return outcome;
}

}  // namespace torc::fuzz
