// torc verify FILE...: proves schedules, and prints the loads of their links.
#include <algorithm>
#include <map>
#include <optional>

#include "compiler/commands/commands.h"
#include "compiler/report.h"
#include "ir/counted/counted_proof.h"
#include "ir/make_error.h"
#include "ir/text/text.h"
#include "ir/verifier/verifier.h"

namespace torc::compiler {
namespace verify_command {

using namespace options;

int run();
Command command("verify", "prove that a schedule computes its collective", run,
                "torc verify a.torc --count 1000");
List inputs{command, kFilesRow};
Flag per_rank{command, {kWhat, "per-rank", "", "Prove every rank by itself, without symmetry"}};
Integer count{command,
              {kWhat, "count", "N", "Prove all ranks' programs for N elements, too"},
              0,
              kHighestCount};
Flag json{command, kJsonRow};
Flag csv{command, kCsvRow};

Record recordOf(const ScheduleView& schedule, const ir::VerifyResult& result,
                const std::optional<ir::CountedResult>& counted, std::uint64_t counted_for) {
  std::vector<Record> errors, loads;
  for (const ir::Fault& fault : result.faults) {
    Record& error = errors.emplace_back(Record{{"rule", name(fault.rule).str()}});
    if (fault.operation != kNone) {
      error.push_back({"operation", fault.operation});
      error.push_back({"text", ir::operationText(schedule, fault.operation)});
    }
    error.push_back({"message", fault.message});
  }
  for (const ir::LinkLoad& load : result.loads) {
    loads.push_back({{"phase", load.phase},
                     {"link", linkName(schedule.topology.axes[load.axis], load.sign > 0)},
                     {"share", load.share}});
  }
  Record record = {{"ok", result.ok() && (!counted || counted->fault.empty())},
                   {"collective", rowOf(schedule.collective).name},
                   {"torus", schedule.topology.shape()},
                   {"nodes", schedule.topology.ranks()},
                   {"operations", schedule.operations.size()},
                   {"streams", schedule.streams.size()},
                   {"cells", result.cells},
                   {"slots", result.slots},
                   {"scratch_share", result.scratch_share},
                   {"errors", jsonOf(errors)},
                   {"loads", jsonOf(loads)}};
  if (counted) {
    record.push_back({"counted", jsonOf(Record{{"count", counted_for},
                                               {"fault", counted->fault},
                                               {"messages", counted->messages},
                                               {"elements", counted->elements}})});
  }
  return record;
}

/// A row per phase, a column per direction of an axis: the share of the vector on a link.
std::string loadsText(const Topology& topology, llvm::ArrayRef<ir::LinkLoad> loads) {
  using Row = std::map<std::pair<std::uint32_t, int>, double>;  // by axis and sign, + first
  Row total;
  std::map<std::uint32_t, Row> phases;
  for (const ir::LinkLoad& load : loads) {
    const std::pair link(load.axis, -load.sign);
    phases[load.phase][link] += load.share;
    total[link] += load.share;
  }
  if (total.empty()) return {};
  std::vector<Record> rows;
  const auto add = [&](const std::string& name, const Row& row) {
    Record& record = rows.emplace_back(Record{{"", name, "phase "}});
    for (const auto& [link, share] : total) {
      const auto found = row.find(link);
      const char sign = link.second < 0 ? '+' : '-';
      record.push_back({"",
                        found == row.end() ? Json() : Json(found->second),
                        std::string("     ") + topology.axes[link.first].name + sign,
                        {"%.5f"}});
    }
  };
  for (const auto& [phase, row] : phases)
    add(std::to_string(phase), row);
  add("total", total);
  return "link loads, as shares of the vector:\n" + tableText(rows);
}

/// Prints one line, and the loads of links.
void printSuccess(const ScheduleView& schedule, const ir::VerifyResult& result,
                  llvm::raw_ostream& out) {
  out << "ok: " << rowOf(schedule.collective).name << " on " << schedule.topology.shape() << ", "
      << schedule.topology.ranks() << " nodes, " << schedule.operations.size()
      << " operations, proved on " << result.cells << (result.cells == 1 ? " cell" : " cells")
      << "; scratch " << formatted("%.4g", result.scratch_share) << " of the vector\n"
      << loadsText(schedule.topology, result.loads);
}

/// Adds a row for a file, and prints its text. Returns the exit code.
int verifyFile(const std::string& input, std::optional<std::uint64_t> counted_for,
               std::vector<Record>& rows, llvm::raw_ostream& out) {
  llvm::Expected<Input> read = readSteps(input, "a proof needs step operations");
  if (!read) return inputFault(read.takeError());
  const bool is_text = !json && !csv, is_several = inputs.size() > 1;
  const ScheduleView schedule = read->view();
  const ir::VerifyResult result = ir::verify(schedule, {.per_rank = per_rank});
  if (!result.ok() && is_text) {
    if (is_several) llvm::errs() << input << ":\n";
    ir::printFaults(schedule, result, llvm::errs());
    return kInputFault;
  }
  std::optional<ir::CountedResult> counted;
  if (result.ok() && counted_for) {
    StatusOr<ir::CountedResult> proof = ir::proveCounted(schedule, *counted_for);
    if (!proof.ok()) return inputFault(toError(proof.status()));
    counted = std::move(*proof);
  }
  const bool ok = result.ok() && (!counted || counted->fault.empty());
  if (!ok && is_text) {
    return inputFault(
        makeError(input + ": for count " + std::to_string(*counted_for) + ": " + counted->fault));
  }
  Record& row = rows.emplace_back(recordOf(schedule, result, counted, counted_for.value_or(0)));
  if (csv || is_several) row.insert(row.begin(), {"file", input});
  if (!is_text) return ok ? kSuccess : kInputFault;
  if (is_several) out << input << ": ";
  printSuccess(schedule, result, out);
  if (counted) {
    out << "ok for count " << *counted_for << ": the programs of all ranks exchange "
        << counted->messages << " messages, and touch " << counted->elements
        << " elements, as they should\n";
  }
  return kSuccess;
}

int run() {
  if (inputs.empty()) wrongUsage("verify: which file? - is stdin");
  std::optional<std::uint64_t> counted_for;
  if (count.isGiven()) counted_for = count;
  std::vector<Record> rows;
  std::string text;
  llvm::raw_string_ostream out(text);
  int code = kSuccess;
  for (const std::string& input : inputs)
    code = std::max(code, verifyFile(input, counted_for, rows, out));
  if (rows.empty()) return code;
  return printReport(
      rows, {json, csv}, [&](llvm::raw_ostream& to) { to << text; }, code);
}

}  // namespace verify_command

options::Command& kVerifyCommand = verify_command::command;

}  // namespace torc::compiler
