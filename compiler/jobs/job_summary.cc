#include <cinttypes>
#include <map>

#include <llvm/ADT/StringExtras.h>

#include "compiler/jobs/stats_sum.h"
#include "support/columns.h"

namespace torc::compiler {
namespace {

/// The least share of all calls' time that is worth a line.
constexpr double kShareWorthALine = 0.05, kLateShareWorthALine = 0.25;

/// The remedy for a reason; docs/sites/job-start.md has them all.
struct Remedy {
  llvm::StringRef reason;  // a part of its text
  const char* text;
};
constexpr Remedy kRemedies[] = {
    {"box", "another --torus, or TORC_ORDER as the program numbers its ranks"},
    {"no such sub-torus", "a library of `torc library build --sub-tori all`"},
    {"no schedule for it", "a library with this collective and size"},
    {"another order", "ranks numbered along the axes, or TORC_ORDER"},
    {"TORC_COLLECTIVES", "TORC_COLLECTIVES not set"},
    {"whole vectors", "TORC_USER_OPERATIONS=parts"},
    {"MPI_Comm_idup", "a blocking call on the communicator first"},
};

/// The reason for which MPI got the calls of the most time, with its remedy.
std::string handedText(const std::map<std::string, StatsRow>& reasons, double all_seconds) {
  const StatsRow* longest = nullptr;
  for (const auto& [reason, row] : reasons) {
    if (llvm::StringRef(reason).contains("tried in its turn")) continue;  // by tuning
    if (longest == nullptr || row.calls.seconds > longest->calls.seconds) longest = &row;
  }
  if (longest == nullptr || longest->calls.seconds < kShareWorthALine * all_seconds) return {};
  std::string text =
      std::to_string(longest->calls.calls) + " calls fell back to MPI (" + longest->calls.by + ")";
  for (const Remedy& remedy : kRemedies) {
    if (llvm::StringRef(longest->calls.by).contains(remedy.reason))
      return text + ": " + remedy.text;
  }
  return text;
}

}  // namespace

std::vector<std::string> summaryOf(const StatsSum& sum, unsigned cores, bool was_tuned) {
  if (sum.jobs == 0) {
    return {
        "no calls are known: the program has not called MPI_Init and MPI_Finalize, or finds "
        "them past torc (torc doctor PROGRAM)"};
  }
  std::vector<std::string> help;
  for (const auto& [reason, jobs] : sum.off)
    help.push_back("torc was off: " + reason + " (torc doctor)");
  StatsRow served, handed;
  std::map<std::string, StatsRow> reasons;
  for (const auto& [key, row] : sum.rows) {
    (row.isServed() ? served : handed).add(row);
    if (!row.isServed()) {
      StatsRow& of_reason = reasons[row.calls.by];
      of_reason.add(row);
      of_reason.calls.by = row.calls.by;
    }
  }
  const std::uint64_t calls = served.calls.calls + handed.calls.calls;
  const double seconds = served.calls.seconds + handed.calls.seconds;
  if (std::string text = handedText(reasons, seconds); !text.empty()) help.push_back(text);
  if (served.measured_calls > 0 && served.won_seconds < 0)
    help.push_back("MPI was faster in calls that were served: --tune leaves these to it");
  if (cores > 0 && sum.ranks > cores) {
    help.push_back(std::to_string(sum.ranks) + " ranks share " + std::to_string(cores) +
                   " cores, so that times say little");
  } else if (!was_tuned && served.measured_calls == 0 && served.calls.calls > 0) {
    help.push_back("--tune tries whether MPI is faster");
  }
  runtime::pmpi::LateWaits late = served.late;
  late.add(handed.late);
  if (late.seconds() > kLateShareWorthALine * seconds) help.push_back(late.text(seconds));
  std::vector<std::string> lines = {
      formatted(
          "served %" PRIu64 " of %" PRIu64 " collective calls, %.0f %%", served.calls.calls, calls,
          calls > 0 ? 100.0 * static_cast<double>(served.calls.calls) / static_cast<double>(calls)
                    : 0),
      formatted("%.3f s in served calls, %.3f s in others, summed over %" PRIu64 " ranks",
                served.calls.seconds, handed.calls.seconds, sum.ranks)};
  if (!help.empty()) lines.push_back(llvm::join(help, "; "));
  return lines;
}

}  // namespace torc::compiler
