// torc trace FILE: shows the time of collective calls by cause, and late ranks.
#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include <llvm/ADT/STLExtras.h>

#include "compiler/commands/commands.h"
#include "compiler/jobs/traced_calls.h"
#include "compiler/report.h"
#include "compiler/rows.h"
#include "compiler/sizes.h"
#include "compiler/tool.h"
#include "support/columns.h"

namespace torc::compiler {
namespace trace_command {

using namespace options;

int run();
Command command("trace", "tell where the time of a job's collective calls went", run);
Text input{command, kFileRow};
Flag each{command, {kOutput, "calls", "", "Print every call, not only each kind"}};
Flag json{command, kJsonRow};

constexpr Unit kMillis = {"%.3f", 1e3};

/// The calls in which one rank was last, by their delays.
struct Lateness {
  int rank = 0;
  std::vector<double> late_by_s{};

  double total() const {
    double sum = 0;
    for (const double late : late_by_s)
      sum += late;
    return sum;
  }
  double median() const {
    if (late_by_s.empty()) return 0;
    std::vector<double> sorted = late_by_s;
    llvm::sort(sorted);
    return sorted[(sorted.size() - 1) / 2];
  }
};

/// Calls of one row of the table.
struct Kind {
  std::vector<const TracedCall*> calls;
  CallTime time;  // over all ranks

  void add(const TracedCall& call) {
    calls.push_back(&call);
    for (const TracedCall::Rank& rank : call.ranks)
      time += rank.time;
  }

  /// The rank with the longest total wait of the others.
  Lateness latest() const {
    std::map<int, Lateness> ranks;
    for (const TracedCall* call : calls) {
      Lateness& rank = ranks[call->last];
      rank.rank = call->last;
      rank.late_by_s.push_back(call->late_by_s);
    }
    return llvm::max_element(
               ranks,
               [](const auto& a, const auto& b) { return a.second.total() < b.second.total(); })
        ->second;
  }
};

void addTime(Record& record, const CallTime& time) {
  record.push_back({"total_s", time.total(), "   time ms", kMillis});
  record.push_back({"late_s", time.late_s, "late ranks", kMillis});
  record.push_back({"wire_s", time.wire_s, "      wire", kMillis});
  record.push_back({"local_s", time.local_s, "     local", kMillis});
  record.push_back({"own_s", time.own_s, " torc ms", kMillis});
}

Record recordOf(const Kind& kind) {
  const TracedCall& first = *kind.calls.front();
  const Lateness latest = kind.latest();
  Record record = {{"function", first.function, "function          "},
                   {"bytes", first.bytes, "  bytes", kSize},
                   {"ranks", first.ranks.size(), " ranks"},
                   {"calls", kind.calls.size(), " calls"}};
  addTime(record, kind.time);
  record.push_back({"last_rank", latest.rank, "  last"});
  record.push_back({"last_in_calls", latest.late_by_s.size(), "in calls"});
  record.push_back({"late_by_s", latest.median(), "late by ms", kMillis});
  return record;
}

/// Calls grouped by function, size and number of ranks; the kind with the longest wait for late
/// ranks first.
std::vector<Kind> kindsOf(const TracedJob& job) {
  std::map<std::tuple<std::string, std::uint64_t, std::size_t>, Kind> kinds;
  for (const TracedCall& call : job.calls)
    kinds[{call.function, call.bytes, call.ranks.size()}].add(call);
  std::vector<Kind> sorted;
  for (auto& [key, kind] : kinds)
    sorted.push_back(std::move(kind));
  std::ranges::stable_sort(sorted, std::greater{},
                           [](const Kind& kind) { return kind.time.late_s; });
  return sorted;
}

std::vector<Record> recordsOf(const std::vector<Kind>& kinds) {
  std::vector<Record> records;
  for (const Kind& kind : kinds)
    records.push_back(recordOf(kind));
  return records;
}

/// "rank 3 was last in 20 of 20 MPI_Allreduce of 8K, 20.1 ms after the median"
std::string sentenceOf(const Kind& kind) {
  const TracedCall& first = *kind.calls.front();
  const Lateness latest = kind.latest();
  return "rank " + std::to_string(latest.rank) + " was last in " +
         std::to_string(latest.late_by_s.size()) + " of " + std::to_string(kind.calls.size()) +
         ' ' + first.function + " of " + sizeText(first.bytes) + ", " +
         formatted("%.3g ms", 1e3 * latest.median()) + " after the median";
}

std::vector<Record> ranksOf(const TracedJob& job) {
  struct Sum {
    std::size_t calls = 0;
    CallTime time;
    Lateness last;
  };
  std::map<int, Sum> ranks;
  for (const TracedCall& call : job.calls) {
    for (const TracedCall::Rank& rank : call.ranks) {
      Sum& sum = ranks[rank.rank];
      ++sum.calls;
      sum.time += rank.time;
    }
    ranks[call.last].last.late_by_s.push_back(call.late_by_s);
  }
  std::vector<Record> records;
  for (const auto& [number, sum] : ranks) {
    Record& record =
        records.emplace_back(Record{{"rank", number, "  rank"}, {"calls", sum.calls, " calls"}});
    addTime(record, sum.time);
    record.push_back({"last_in_calls", sum.last.late_by_s.size(), "last in calls"});
    record.push_back({"late_by_s", sum.last.median(), "late by ms", kMillis});
  }
  return records;
}

int run() {
  if (input.empty()) return wrongUsage("trace: which file? torc trace FILE");
  llvm::Expected<TracedJob> job = readCalls(input);
  if (!job) return inputFault(job.takeError());
  CallTime time;
  for (const TracedCall& call : job->calls) {
    for (const TracedCall::Rank& rank : call.ranks)
      time += rank.time;
  }
  const std::vector<Kind> kinds = kindsOf(*job);
  std::vector<Kind> calls;
  for (const TracedCall& call : job->calls)
    calls.emplace_back().add(call);
  const std::vector<Record> rows = recordsOf(each ? calls : kinds), ranks = ranksOf(*job);
  const std::string sentence = sentenceOf(kinds.front());
  const double share = time.total() > 0 ? time.late_s / time.total() : 0;
  const Record record = {{"ranks", job->ranks},
                         {"dropped", job->dropped},
                         {"latest", sentence},
                         {"late_share", share},
                         {each ? "calls" : "kinds", jsonOf(rows)},
                         {"by_rank", jsonOf(ranks)}};
  return printReport({record}, {json}, [&](llvm::raw_ostream& out) {
    out << job->ranks << " ranks, " << job->calls.size()
        << (job->calls.size() == 1 ? " call" : " calls")
        << formatted("; waiting for late ranks took %.1f %% of their time\n", 100 * share)
        << sentence << '\n';
    if (job->dropped > 0)
      out << job->dropped << " events had no room: the first calls are missing or in part\n";
    out << tableText(rows) << tableText(ranks);
  });
}

}  // namespace trace_command

options::Command& traceCommand() {
  return trace_command::command;
}

}  // namespace torc::compiler
