// torc stats FOLDER|FILE...: sums the statistics of jobs.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fstream>
#include <functional>
#include <map>
#include <tuple>
#include <vector>

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/FileSystem.h>

#include "compiler/commands/commands.h"
#include "compiler/jobs/stats_sum.h"
#include "compiler/report.h"
#include "ir/make_error.h"
#include "support/columns.h"
#include "support/message.h"

namespace torc::compiler {
namespace stats_command {

using namespace options;

int run();
Command command("stats", "sum the statistics of jobs: served calls, fallbacks and reasons", run,
                "torc stats stats.jsonl");
List paths{command, {kWhat, "FOLDER|FILE...", "FILE", "Statistics"}};
Integer most_rows{command,
                  {kOutput, "rows", "N", "Rows of each table, most time first; 0: all", "20"},
                  0,
                  kHighestCount};
Flag json{command, kJsonRow};
Flag prometheus{command, {kOutput, "prometheus", "", "Print the text format of Prometheus"}};

constexpr std::size_t kMostFaults = 20;  // in the output

using Row = const StatsRow*;

/// The files of a folder with lines of statistics, by name.
llvm::Expected<std::vector<std::string>> filesOf(llvm::StringRef folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator entry(folder, error), end; entry != end && !error;
       entry.increment(error)) {
    if (llvm::StringRef(entry->path()).ends_with(".jsonl")) files.push_back(entry->path());
  }
  if (error) return makeError("cannot read '" + folder + "': " + error.message());
  if (files.empty()) return makeError("there is no file *.jsonl in '" + folder + "'");
  llvm::sort(files);
  return files;
}

/// Adds the lines of a file. Reports and counts malformed lines.
llvm::Error addFile(const std::string& path, StatsSum& sum, std::size_t& faults) {
  std::ifstream in(path == "-" ? "/dev/stdin" : path, std::ios::binary);
  std::string line;
  std::size_t number = 0;
  while (std::getline(in, line)) {
    ++number;
    if (llvm::StringRef(line).trim().empty()) continue;
    const std::string fault = sum.addLine(line);
    if (fault.empty() || ++faults > kMostFaults) continue;
    llvm::errs() << path << ':' << number << ": error: " << fault << '\n';
  }
  if (in.eof()) return llvm::Error::success();
  return makeError("cannot read '" + path + "': " + std::strerror(errno));
}

std::string bytesText(const runtime::pmpi::CallRow& calls) {
  if (calls.most_bytes == 0) return "-";
  const std::string most = shortBytes(calls.most_bytes);
  return calls.least_bytes == calls.most_bytes ? most : shortBytes(calls.least_bytes) + '-' + most;
}

/// The text in a cell of at most `width` columns.
std::string cell(const std::string& text, std::size_t width) {
  const std::string line = shown(text);
  if (line.empty()) return "-";
  return line.size() <= width ? line : line.substr(0, width - 3) + "...";
}

/// The day in UTC.
std::string dayText(std::uint64_t seconds) {
  const auto time = static_cast<std::time_t>(seconds);
  std::tm parts{};
  char text[32] = "?";
  if (gmtime_r(&time, &parts) != nullptr) std::strftime(text, sizeof(text), "%F", &parts);
  return text;
}

StatsRow totalOf(llvm::ArrayRef<Row> rows) {
  StatsRow total;
  for (const Row row : rows)
    total.add(*row);
  return total;
}

/// Calls that torc served, or the others, grouped by reason; the longest times first.
std::vector<Row> rowsOf(const StatsSum& sum, bool served) {
  std::vector<Row> rows;
  std::map<std::string, double> seconds;  // by reason
  for (const auto& [key, row] : sum.rows) {
    if (row.isServed() != served) continue;
    rows.push_back(&row);
    seconds[row.calls.by] += row.calls.seconds;
  }
  std::ranges::stable_sort(rows, {}, [&](Row row) {
    return std::tuple(-seconds[row->calls.by], row->calls.by, -row->calls.seconds);
  });
  return rows;
}

Record recordOf(const StatsRow& row) {
  const runtime::pmpi::CallRow& calls = row.calls;
  Record record = {{"", cell(calls.function, 24), "function                "},
                   {"", bytesText(calls), "     bytes"},
                   {"function", calls.function},
                   {"communicator", calls.communicator},
                   {"least_bytes", calls.least_bytes},
                   {"most_bytes", calls.most_bytes},
                   {"calls", calls.calls, "     calls"},
                   {"bytes", calls.bytes},
                   {"total_s", calls.seconds, "    total s", {"%.3f"}}};
  if (!row.late.empty()) {
    record.push_back({"late_s", row.late.seconds()});
    record.push_back({"late_rank", row.late.latest()});
  }
  if (row.isServed()) {
    const bool is_known = row.measured_calls > 0;
    record.push_back({"measured_calls", row.measured_calls});
    record.push_back({"won_s", row.won_seconds});
    record.push_back({"", is_known ? Json(row.won_seconds) : Json(), "   won s", {"%.2f"}});
  } else {
    record.push_back({"reason", calls.by});
    record.push_back({"missing", row.isMissing()});
  }
  record.push_back({"", cell(calls.communicator, row.isServed() ? 25 : 35), "communicator"});
  return record;
}

std::vector<Record> recordsOf(llvm::ArrayRef<Row> rows) {
  std::vector<Record> records;
  for (const Row row : rows)
    records.push_back(recordOf(*row));
  return records;
}

/// Lines of at most 100 columns.
void printRows(llvm::ArrayRef<Row> rows, bool served, llvm::raw_ostream& out) {
  if (rows.empty()) return;
  const std::size_t limit = most_rows == 0 ? rows.size() : most_rows;
  const std::vector<std::string> lines = tableLines(recordsOf(rows.take_front(limit)), 2);
  auto line = lines.begin();
  out << *line;
  const std::string* reason = nullptr;
  for (const Row row : rows.take_front(limit)) {
    if (!served && (reason == nullptr || *reason != row->calls.by))
      out << "  " << (row->isMissing() ? "! " : "") << cell(row->calls.by, 96) << ":\n";
    reason = &row->calls.by;
    out << *++line;
  }
  if (rows.size() > limit) out << "  and " << rows.size() - limit << " more (--rows 0)\n";
}

/// The calls with the longest wait for late ranks.
void printLate(const StatsSum& sum, llvm::raw_ostream& out) {
  std::vector<Row> rows;
  for (const auto& [key, row] : sum.rows)
    rows.push_back(&row);
  const StatsRow all = totalOf(rows);
  if (all.late.empty()) return;
  llvm::erase_if(rows, [](Row row) { return row->late.empty(); });
  std::ranges::stable_sort(rows, std::greater{}, [](Row row) { return row->late.seconds(); });
  if (most_rows > 0 && rows.size() > most_rows) rows.resize(most_rows);
  out << all.late.text(all.calls.seconds) << '\n';
  std::vector<Record> records;
  for (const Row row : rows) {
    records.push_back({{"", cell(row->calls.function, 24), "function                "},
                       {"", bytesText(row->calls), "     bytes"},
                       {"", row->calls.calls, "     calls"},
                       {"", row->late.seconds(), "   waited s", {"%.3f"}},
                       {"", row->late.latest(), "for rank"},
                       {"", cell(row->calls.communicator, 25), "communicator"}});
  }
  out << tableText(records, 2);
}

void printText(const StatsSum& sum, llvm::raw_ostream& out) {
  if (sum.jobs == 0) {
    out << "jobs: 0\n";
    return;
  }
  std::uint64_t off = 0;
  for (const auto& [reason, jobs] : sum.off)
    off += jobs;
  out << "jobs: " << sum.jobs << " of " << sum.ranks << " ranks in all, ended "
      << dayText(sum.first_end) << " to " << dayText(sum.last_end) << ", torc off in " << off
      << '\n';
  for (const auto& [reason, jobs] : sum.off)
    out << "  " << llvm::right_justify(std::to_string(jobs), 6) << "  " << cell(reason, 90) << '\n';
  const std::vector<Row> served = rowsOf(sum, true), handed = rowsOf(sum, false);
  const StatsRow won = totalOf(served);
  const runtime::pmpi::CallRow &by_torc = won.calls, by_mpi = totalOf(handed).calls;
  const double seconds = by_torc.seconds + by_mpi.seconds;
  out << "served by torc: " << by_torc.calls << " calls, " << shortBytes(by_torc.bytes)
      << " bytes, " << formatted("%.3f s", by_torc.seconds)
      << formatted(" (%.1f %% of all calls' time)\n",
                   seconds > 0 ? 100 * by_torc.seconds / seconds : 0.0);
  if (won.measured_calls > 0) {
    out << "won: " << formatted("%.3f s", won.won_seconds) << " of ranks' time, in "
        << won.measured_calls << " calls whose time by MPI was measured\n";
  } else {
    out << "won: not known, as MPI's time was not measured (a tuned library, TORC_TUNE=1)\n";
  }
  printRows(served, true, out);
  out << "handed to MPI: " << by_mpi.calls << " calls, " << shortBytes(by_mpi.bytes) << " bytes, "
      << formatted("%.3f s\n", by_mpi.seconds);
  printRows(handed, false, out);
  if (llvm::any_of(handed, [](Row row) { return row->isMissing(); }))
    out << "  !: a library could serve it (an error under TORC_STRICT=1)\n";
  printLate(sum, out);
}

Record recordOf(const StatsSum& sum, std::size_t faults) {
  std::vector<Record> off;
  for (const auto& [reason, jobs] : sum.off)
    off.push_back({{"reason", reason}, {"jobs", jobs}});
  return {{"torc_stats_sum", 1},
          {"jobs", sum.jobs},
          {"ranks", sum.ranks},
          {"first_end_s", sum.first_end},
          {"last_end_s", sum.last_end},
          {"wrong_lines", faults},
          {"off", jsonOf(off)},
          {"served", jsonOf(recordsOf(rowsOf(sum, true)))},
          {"mpi", jsonOf(recordsOf(rowsOf(sum, false)))}};
}

/// The value of a label, in quotes: these texts need escapes only for \ and ".
std::string label(const std::string& text) {
  using nlohmann::json;
  return json(shown(text)).dump(-1, ' ', false, json::error_handler_t::replace);
}

/// Prints the format of https://prometheus.io/docs/instrumenting/exposition_formats/. Sums rows
/// over all sizes.
void printPrometheus(const StatsSum& sum, llvm::raw_ostream& out) {
  std::map<std::string, StatsRow> sums;  // by labels
  for (const auto& [key, row] : sum.rows) {
    const runtime::pmpi::CallRow& calls = row.calls;
    sums["{function=" + label(calls.function) + ",communicator=" + label(calls.communicator) +
         ",served_by=" + (row.isServed() ? "\"torc\"" : "\"mpi\"") + ",reason=" + label(calls.by) +
         '}']
        .add(row);
  }
  const auto head = [&](llvm::StringRef name, llvm::StringRef help) -> llvm::raw_ostream& {
    return out << "# HELP " << name << ' ' << help << "\n# TYPE " << name << " gauge\n";
  };
  head("torc_jobs", "Jobs.") << "torc_jobs " << sum.jobs << '\n';
  head("torc_job_ranks", "Their ranks.") << "torc_job_ranks " << sum.ranks << '\n';
  head("torc_job_end_timestamp_seconds", "When the last one ended.")
      << "torc_job_end_timestamp_seconds " << sum.last_end << '\n';
  head("torc_jobs_off", "Jobs without torc, and why.");
  for (const auto& [reason, jobs] : sum.off)
    out << "torc_jobs_off{reason=" << label(reason) << "} " << jobs << '\n';
  const auto each = [&](llvm::StringRef name, llvm::StringRef help, auto value) {
    head(name, help);
    for (const auto& [labels, row] : sums)
      out << name << labels << ' ' << nlohmann::json(value(row)).dump() << '\n';
  };
  each("torc_calls", "Calls over all ranks.", [](const StatsRow& row) { return row.calls.calls; });
  each("torc_call_bytes", "Bytes of their vectors.",
       [](const StatsRow& row) { return row.calls.bytes; });
  each("torc_call_seconds", "Time from call to completion, over all ranks.",
       [](const StatsRow& row) { return row.calls.seconds; });
  each("torc_won_seconds", "Time of ranks won against MPI, where that was measured.",
       [](const StatsRow& row) { return row.won_seconds; });
}

int run() {
  if (paths.empty()) wrongUsage("stats: of which files? torc stats FOLDER|FILE...");
  if (json && prometheus) wrongUsage("stats: --json and --prometheus: one of them");
  StatsSum sum;
  std::size_t faults = 0;
  for (const std::string& path : paths) {
    std::vector<std::string> files = {path};
    if (llvm::sys::fs::is_directory(path)) {
      files = orInputFault(filesOf(path));
    }
    for (const std::string& file : files) {
      if (llvm::Error error = addFile(file, sum, faults)) {
        inputFault(std::move(error));
        ++faults;
      }
    }
  }
  if (faults > kMostFaults) llvm::errs() << "and " << faults - kMostFaults << " more wrong lines\n";
  if (faults > 0 && sum.jobs == 0) return kInputFault;
  const auto print = [&](llvm::raw_ostream& out) {
    prometheus ? printPrometheus(sum, out) : printText(sum, out);
  };
  return printReport({recordOf(sum, faults)}, {json}, print, faults == 0 ? kSuccess : kInputFault);
}

}  // namespace stats_command

options::Command& kStatsCommand = stats_command::command;

}  // namespace torc::compiler
