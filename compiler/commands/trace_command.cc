// torc trace FILE: shows the time of collective calls by cause, and late ranks.
#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "compiler/commands/commands.h"
#include "compiler/jobs/traced_calls.h"
#include "compiler/report.h"
#include "compiler/sizes.h"
#include "support/columns.h"

namespace torc::compiler {
namespace trace_command {

using namespace options;

int run();
Command command("trace", "tell where the time of a job's collective calls went", run,
                "torc trace job.json");
Text input{command, kFileRow};
Flag each{command, {kOutput, "calls", "", "Print every call, not only each kind"}};
Flag json{command, kJsonRow};

constexpr Unit kMillis = {"%.3f", 1e3};

/// Calls of one row of the table.
struct Kind {
  std::vector<const TracedCall*> calls;
  CallTime time;  // over all ranks
  LateRanks late;

  void add(const TracedCall& call) {
    calls.push_back(&call);
    late.add(call.last);
    for (const TracedCall::Rank& rank : call.ranks)
      time += rank.time;
  }
};

/// Without `causes` the trace has calls only.
void addTime(Record& record, const CallTime& time, bool causes) {
  record.push_back({"total_s", time.total(), "   time ms", kMillis});
  record.push_back({"late_s", time.late_s, "late ranks", kMillis});
  if (!causes) return;
  record.push_back({"wire_s", time.wire_s, "      wire", kMillis});
  record.push_back({"local_s", time.local_s, "     local", kMillis});
  record.push_back({"own_s", time.own_s, " torc ms", kMillis});
}

void addLast(Record& record, const char* head, const LateRanks& late, int rank) {
  record.push_back({"last_in_calls", late.callsOf(rank), head});
  record.push_back({"late_by_s", late.medianOf(rank), "late by ms", kMillis});
}

Record recordOf(const Kind& kind, bool causes) {
  const TracedCall& first = *kind.calls.front();
  Record record = {{"function", first.function, "function          "},
                   {"bytes", first.bytes, "  bytes", kSize},
                   {"ranks", first.ranks.size(), " ranks"},
                   {"calls", kind.calls.size(), " calls"}};
  addTime(record, kind.time, causes);
  record.push_back({"last_rank", kind.late.latest(), "  last"});
  addLast(record, "in calls", kind.late, kind.late.latest());
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

std::vector<Record> recordsOf(const std::vector<Kind>& kinds, bool causes) {
  std::vector<Record> records;
  for (const Kind& kind : kinds)
    records.push_back(recordOf(kind, causes));
  return records;
}

/// "rank 3 was last in 20 of 20 MPI_Allreduce of 8K, 20.1 ms after the median"
std::string sentenceOf(const Kind& kind) {
  const TracedCall& first = *kind.calls.front();
  return "rank " + std::to_string(kind.late.latest()) + " was " +
         kind.late.text(first.function + " of " + sizeText(first.bytes));
}

std::vector<Record> ranksOf(const TracedJob& job) {
  struct Sum {
    std::size_t calls = 0;
    CallTime time;
  };
  std::map<int, Sum> ranks;
  LateRanks late;
  for (const TracedCall& call : job.calls) {
    for (const TracedCall::Rank& rank : call.ranks) {
      Sum& sum = ranks[rank.rank];
      ++sum.calls;
      sum.time += rank.time;
    }
    late.add(call.last);
  }
  std::vector<Record> records;
  for (const auto& [number, sum] : ranks) {
    Record& record =
        records.emplace_back(Record{{"rank", number, "  rank"}, {"calls", sum.calls, " calls"}});
    addTime(record, sum.time, job.has_causes);
    addLast(record, "last in calls", late, number);
  }
  return records;
}

int run() {
  if (input.empty()) wrongUsage("trace: which file? torc trace FILE");
  const TracedJob job = orInputFault(readCalls(input));
  CallTime time;
  for (const TracedCall& call : job.calls) {
    for (const TracedCall::Rank& rank : call.ranks)
      time += rank.time;
  }
  const std::vector<Kind> kinds = kindsOf(job);
  std::vector<Kind> calls;
  for (const TracedCall& call : job.calls)
    calls.emplace_back().add(call);
  const std::vector<Record> rows = recordsOf(each ? calls : kinds, job.has_causes),
                            ranks = ranksOf(job);
  const std::string sentence = sentenceOf(kinds.front());
  const double share = time.total() > 0 ? time.late_s / time.total() : 0;
  const Record record = {{"ranks", job.ranks},
                         {"dropped", job.dropped},
                         {"latest", sentence},
                         {"late_share", share},
                         {each ? "calls" : "kinds", jsonOf(rows)},
                         {"by_rank", jsonOf(ranks)}};
  return printReport({record}, {json}, [&](llvm::raw_ostream& out) {
    out << job.ranks << " ranks, " << job.calls.size()
        << (job.calls.size() == 1 ? " call" : " calls")
        << formatted("; waiting for late ranks took %.1f %% of their time\n", 100 * share)
        << sentence << '\n';
    if (job.dropped > 0)
      out << job.dropped << " events had no room: the first calls are missing or in part\n";
    out << tableText(rows) << tableText(ranks);
  });
}

}  // namespace trace_command

options::Command& kTraceCommand = trace_command::command;

}  // namespace torc::compiler
