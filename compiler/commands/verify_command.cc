// torc verify FILE: proves a schedule, and tells what its links carry.
#include <map>
#include <optional>

#include <llvm/Support/Format.h>
#include <nlohmann/json.hpp>

#include "compiler/commands/commands.h"
#include "compiler/rows.h"
#include "compiler/tool.h"
#include "ir/counted/counted_proof.h"
#include "ir/text/text.h"
#include "ir/verifier/verifier.h"

namespace torc::compiler {
namespace verify_command {

using namespace options;

int run();
Command command("verify", "prove that a schedule computes its collective", run);
Text input{command, kFileRow};
Flag per_rank{command, {kWhat, "per-rank", "", "Prove every rank by itself, without symmetry"}};
Integer count{command,
              {kWhat, "count", "N", "Prove all ranks' programs for N elements, too"},
              0,
              kHighestCount};
Flag json{command, kJsonRow};

/// `X+`.
std::string linkName(const Topology& topology, const ir::LinkLoad& load) {
  return std::string(1, topology.axes[load.axis].name) + (load.sign > 0 ? '+' : '-');
}

void printJson(const ScheduleView& schedule, const ir::VerifyResult& result,
               const std::optional<ir::CountedResult>& counted, std::uint64_t counted_for,
               llvm::raw_ostream& out) {
  nlohmann::ordered_json document;
  document["ok"] = result.ok() && (!counted || counted->fault.empty());
  document["collective"] = rowOf(schedule.collective).name;
  document["torus"] = schedule.topology.shape();
  document["nodes"] = schedule.topology.ranks();
  document["operations"] = schedule.operations.size();
  document["streams"] = schedule.streams.size();
  document["cells"] = result.cells;
  document["slots"] = result.slots;
  document["scratch_share"] = result.scratch_share;
  auto& errors = document["errors"] = nlohmann::ordered_json::array();
  for (const ir::Fault& fault : result.faults) {
    nlohmann::ordered_json entry;
    entry["rule"] = name(fault.rule).str();
    if (fault.operation != kNone) {
      entry["operation"] = fault.operation;
      entry["text"] = ir::operationText(schedule, fault.operation);
    }
    entry["message"] = fault.message;
    errors.push_back(std::move(entry));
  }
  auto& loads = document["loads"] = nlohmann::ordered_json::array();
  for (const ir::LinkLoad& load : result.loads) {
    loads.push_back({{"phase", load.phase},
                     {"link", linkName(schedule.topology, load)},
                     {"share", load.share}});
  }
  if (counted) {
    document["counted"] = {{"count", counted_for},
                           {"fault", counted->fault},
                           {"messages", counted->messages},
                           {"elements", counted->elements}};
  }
  out << document.dump(2) << '\n';
}

/// A row per phase, a column per direction of an axis: the share of the vector that a link carries.
void printLoads(const Topology& topology, llvm::ArrayRef<ir::LinkLoad> loads,
                llvm::raw_ostream& out) {
  std::map<std::pair<std::uint32_t, int>, double> total;  // by axis and sign, + first
  std::map<std::uint32_t, std::map<std::pair<std::uint32_t, int>, double>> phases;
  for (const ir::LinkLoad& load : loads) {
    const std::pair link(load.axis, -load.sign);
    phases[load.phase][link] += load.share;
    total[link] += load.share;
  }
  if (total.empty()) return;
  out << "link loads, as shares of the vector:\nphase ";
  for (const auto& [link, share] : total) {
    out << "       " << topology.axes[link.first].name << (link.second < 0 ? '+' : '-');
  }
  auto printRow = [&](auto& row) {
    for (const auto& [link, share] : total) {
      const auto found = row.find(link);
      if (found == row.end()) {
        out << "        -";
      } else {
        out << llvm::format("  %.5f", found->second);
      }
    }
    out << '\n';
  };
  out << '\n';
  for (const auto& [phase, row] : phases) {
    out << llvm::format("%-6u", phase);
    printRow(row);
  }
  out << "total ";
  printRow(total);
}

/// One line, and the loads of links.
void printSuccess(const ScheduleView& schedule, const ir::VerifyResult& result,
                  llvm::raw_ostream& out) {
  out << "ok: " << rowOf(schedule.collective).name << " on " << schedule.topology.shape() << ", "
      << schedule.topology.ranks() << " nodes, " << schedule.operations.size()
      << " operations, proved on " << result.cells << (result.cells == 1 ? " cell" : " cells")
      << "; scratch " << llvm::format("%.4g", result.scratch_share) << " of the vector\n";
  printLoads(schedule.topology, result.loads, out);
}

int run() {
  if (input.empty()) return wrongUsage("verify: which file? - is stdin");
  const std::uint64_t counted_for = count;
  const bool is_counted = count.isGiven();
  llvm::Expected<Input> read = readInput(input);
  if (!read) return inputFault(read.takeError());
  if (read->isPlan()) {
    return inputFault(toError(
        Status(StatusCode::kInvalidArgument, input +
                                                 ": is a plan; a proof needs step operations "
                                                 "(torc opt --passes=" +
                                                 std::string(read->program.expander()) + ")")));
  }
  const ScheduleView schedule = read->view();
  ir::VerifyOptions options;
  options.per_rank = per_rank;
  const ir::VerifyResult result = ir::verify(schedule, options);
  if (!result.ok() && !json) {
    ir::printFaults(schedule, result, llvm::errs());
    return kInputFault;
  }
  std::optional<ir::CountedResult> counted;
  if (result.ok() && is_counted) {
    StatusOr<ir::CountedResult> proof = ir::proveCounted(schedule, counted_for);
    if (!proof.ok()) return inputFault(toError(proof.status()));
    counted = std::move(*proof);
  }
  const bool ok = result.ok() && (!counted || counted->fault.empty());
  if (!ok && !json) {
    return inputFault(toError(
        Status(StatusCode::kInvalidArgument,
               input + ": for count " + std::to_string(counted_for) + ": " + counted->fault)));
  }
  std::string text;
  llvm::raw_string_ostream out(text);
  if (json) {
    printJson(schedule, result, counted, counted_for, out);
  } else {
    printSuccess(schedule, result, out);
    if (counted) {
      out << "ok for count " << counted_for << ": the programs of all ranks exchange "
          << counted->messages << " messages, and touch " << counted->elements
          << " elements, as they should\n";
    }
  }
  if (llvm::Error error = writeOutput("-", text)) return inputFault(std::move(error));
  return ok ? kSuccess : kInputFault;
}

}  // namespace verify_command

options::Command& verifyCommand() {
  return verify_command::command;
}

}  // namespace torc::compiler
