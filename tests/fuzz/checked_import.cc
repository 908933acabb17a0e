// Imports any bytes.
#include <algorithm>

#include "ir/counted/counted_proof.h"
#include "ir/exchange/import.h"
#include "ir/exchange/readers/readers.h"
#include "ir/verifier/verifier.h"
#include "schedules/validation/validate.h"
#include "tests/fuzz/checked.h"

namespace torc::fuzz {
namespace {

constexpr std::size_t kMostRanks = 64;
constexpr std::uint64_t kMostCells = 1 << 16;

/// What is wrong with a message: it is one line, of characters that a terminal can show.
std::string faultOfImport(const std::string& message) {
  const auto isControl = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (message.empty()) return "refused without a word";
  return std::ranges::any_of(message, isControl) ? "control characters in: " + message : "";
}

}  // namespace

Outcome checkImport(llvm::StringRef text) {
  Outcome outcome;
  const auto refused = [&](llvm::Error error) {
    outcome.violation = faultOfImport(toString(std::move(error)));
    return outcome;
  };
  // Any table of links that is taken is a sound graph.
  if (llvm::Expected<ir::Graph> graph = ir::readGraph(text, "x"); !graph) {
    if (refused(graph.takeError()); !outcome.violation.empty()) return outcome;
  } else {
    const StatusOr<Topology> ring = parseTopology(std::to_string(graph->ranks));
    const Status valid = validateGraph(*ring, graph->links);
    outcome.accepted = valid.ok();
    if (!valid.ok()) outcome.violation = "no graph: " + valid.message();
    return outcome;
  }
  llvm::Expected<ir::RankPrograms> programs = ir::readForeign(text, "x");
  if (!programs) return refused(programs.takeError());
  std::uint64_t cells = 0;
  for (const ir::RankProgram& rank : programs->ranks)
    cells += static_cast<std::uint64_t>(rank.chunks[2]) +
             2 * static_cast<std::uint64_t>(programs->chunks);
  if (programs->ranks.size() > kMostRanks || cells > kMostCells) return outcome;
  const StatusOr<Topology> ring = parseTopology(std::to_string(programs->ranks.size()));
  llvm::Expected<ir::ImportedSchedule> imported = ir::importPrograms(*programs, *ring);
  if (!imported) return refused(imported.takeError());
  const ScheduleView schedule = imported->schedule.view();
  if (const Status valid = validate(schedule); !valid.ok()) {
    outcome.violation = "not valid: " + valid.message();
    return outcome;
  }
  outcome.accepted = ir::verify(schedule).ok();
  if (!outcome.accepted) return outcome;
  const StatusOr<ir::CountedResult> counted = ir::proveCounted(schedule, 17);
  if (!counted.ok()) return outcome;
  if (!counted->fault.empty()) outcome.violation = "proved, but not for 17: " + counted->fault;
  return outcome;
}

}  // namespace torc::fuzz
