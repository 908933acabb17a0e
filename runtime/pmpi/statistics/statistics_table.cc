// The table of statistics for users: header, calls served, calls handed to MPI, communicators.
#include <algorithm>
#include <fstream>
#include <string_view>
#include <tuple>
#include <utility>

#include "runtime/pmpi/statistics/statistics.h"
#include "support/columns.h"
#include "support/message.h"
#include "support/version.h"

namespace torc::runtime::pmpi {
namespace {

constexpr std::size_t kMostCommandLetters = 200;
constexpr std::size_t kWidth = 100;  // of lines
constexpr bool kRight = true;        // of columns

/// Rows of two lines: names, and below them the numbers.
std::string twoLines(const Columns& names, const Columns& numbers) {
  const std::vector<std::string> first = names.lines(2, kWidth), second = numbers.lines(4, kWidth);
  std::string text;
  for (std::size_t i = 0; i < first.size(); ++i)
    text += first[i] + second[i];
  return text;
}

/// With `digits` digits behind the point.
std::string fixed(double value, int digits) {
  return formatted("%.*f", digits, value);
}

/// Microseconds, with a digit behind the point if there are at most four before it.
std::string micros(double seconds) {
  return fixed(seconds * 1e6, seconds < 1e-2 ? 1 : 0);
}

std::string percent(double some, double whole) {
  return whole > 0 ? fixed(100 * some / whole, 1) : "0.0";
}

bool isServed(const CallRow& row) {
  return row.service == Service::kServed;
}

CallRow totalOf(const std::vector<CallRow>& rows, bool served) {
  CallRow total;
  for (const CallRow& row : rows) {
    if (isServed(row) == served) add(row, total);
  }
  return total;
}

/// Served rows or the others, sorted by time, descending.
std::vector<CallRow> sortedRows(const std::vector<CallRow>& all, bool served) {
  std::vector<CallRow> rows;
  std::ranges::copy_if(all, std::back_inserter(rows),
                       [&](const CallRow& row) { return isServed(row) == served; });
  std::ranges::sort(rows, isAhead);
  return rows;
}

std::string bytesPerCall(const CallRow& row) {
  if (row.datatype.empty() && !row.isRest()) return {};  // unknown
  const std::string least = shortBytes(row.least_bytes);
  return row.least_bytes == row.most_bytes ? least : least + '-' + shortBytes(row.most_bytes);
}

std::string callSection(const JobStatistics& statistics, bool served) {
  const CallRow total = totalOf(statistics.calls, served);
  std::string text =
      message(served ? "Calls served by torc: " : "Calls handed to MPI: ", total.calls, ", ",
              shortBytes(total.bytes), " bytes, ", fixed(total.seconds, 6), " s\n");
  if (total.calls == 0) return text;
  const double all_seconds = total.seconds + totalOf(statistics.calls, !served).seconds;
  Columns names({{"function"}, {"communicator"}, {served ? "schedule" : "reason"}});
  Columns numbers({{"bytes/call", kRight},
                   {"ranks", kRight},
                   {"calls", kRight},
                   {"total s", kRight},
                   {"%", kRight},
                   {"mean us", kRight},
                   {"min us", kRight},
                   {"max us", kRight},
                   {"datatype, operation"}});
  bool marked = false;
  for (const CallRow& row : sortedRows(statistics.calls, served)) {
    const bool mark = row.service == Service::kShouldBeServed;
    marked = marked || mark;
    names.add({row.isRest() ? "other signatures" : row.function, row.communicator,
               (mark ? "! " : "") + (row.isRest() ? "several" : row.by)});
    numbers.add({bytesPerCall(row), std::to_string(row.ranks), std::to_string(row.calls),
                 fixed(row.seconds, row.seconds < 1000 ? 6 : 3), percent(row.seconds, all_seconds),
                 micros(row.seconds / static_cast<double>(row.calls)), micros(row.least_seconds),
                 micros(row.most_seconds),
                 row.datatype + (row.operation.empty() ? "" : ", ") + row.operation});
  }
  text += twoLines(names, numbers);
  if (marked) text += "  !: an error under TORC_STRICT=1\n";
  return text;
}

/// The calls with the longest wait for late ranks; empty without any.
std::string lateSection(const JobStatistics& statistics) {
  LateWaits late;
  double seconds = 0;
  std::vector<CallRow> rows;
  for (const CallRow& row : statistics.calls) {
    seconds += row.seconds;
    late.add(row);
    if (row.late_seconds > 0) rows.push_back(row);
  }
  if (rows.empty()) return {};
  std::ranges::sort(rows, [](const CallRow& a, const CallRow& b) {
    return a.late_seconds != b.late_seconds ? a.late_seconds > b.late_seconds : isAhead(a, b);
  });
  Columns table({{"function"},
                 {"bytes/call", kRight},
                 {"calls", kRight},
                 {"waited s", kRight},
                 {"for rank", kRight},
                 {"communicator"}});
  for (const CallRow& row : rows) {
    if (row.late_seconds < late.seconds() / 100) break;
    table.add({row.function, bytesPerCall(row), std::to_string(row.calls),
               fixed(row.late_seconds, 6), std::to_string(row.late_rank), row.communicator});
  }
  std::string text = message("Late ranks: ", late.text(seconds), '\n');
  for (const std::string& line : table.lines(2, kWidth))
    text += line;
  return text + '\n';
}

std::string communicatorSection(const JobStatistics& statistics) {
  std::vector<CommunicatorRow> rows = statistics.communicators;
  std::ranges::sort(rows, [](const CommunicatorRow& a, const CommunicatorRow& b) {
    return std::tuple(!a.reason.empty(), b.used, a.description, a.reason) <
           std::tuple(!b.reason.empty(), a.used, b.description, b.reason);
  });
  std::uint64_t served = 0, others = 0;
  Columns names({{"communicator"}, {"served by torc"}});
  Columns numbers(
      {{"used", kRight}, {"torc's calls", kRight}, {"MPI's calls", kRight}, {"total s", kRight}});
  for (const CommunicatorRow& row : rows) {
    (row.reason.empty() ? served : others) += row.used;
    names.add({row.description, row.reason.empty() ? "yes" : "no: " + row.reason});
    numbers.add({std::to_string(row.used), std::to_string(row.served), std::to_string(row.handed),
                 fixed(row.seconds, 6)});
  }
  std::string text =
      message("Communicators: ", served, " that torc serves, ", others, " that it does not\n");
  return rows.empty() ? text : text + twoLines(names, numbers);
}

/// Results of TORC_TUNE; empty without trials.
std::string tuningSection(const JobStatistics& statistics) {
  if (statistics.trials == 0) return {};
  std::string text = message("Tried by TORC_TUNE: ", statistics.trials, " signatures, ",
                             statistics.ended, " of them to the end\n");
  if (statistics.tuned.empty()) return text + '\n';
  std::vector<TunedRow> rows = statistics.tuned;
  std::ranges::sort(rows, {}, [](const TunedRow& row) {
    return std::tie(row.function, row.communicator, row.bytes, row.by, row.seconds);
  });
  Columns names({{"function"}, {"communicator"}, {"serves since"}});
  Columns numbers({{"bytes/call", kRight},
                   {"calls tried", kRight},
                   {"library's us", kRight},
                   {"MPI's us", kRight},
                   {"fastest us", kRight}});
  for (const TunedRow& row : rows) {
    names.add({row.function, row.communicator, row.by});
    numbers.add({shortBytes(row.bytes), std::to_string(row.calls), fixed(row.own_seconds * 1e6, 2),
                 fixed(row.mpi_seconds * 1e6, 2), fixed(row.seconds * 1e6, 2)});
  }
  text += twoLines(names, numbers);
  if (statistics.ended > rows.size()) {
    text += message("  and ", statistics.ended - rows.size(), " more\n");
  }
  return text + '\n';
}

template <typename Number>
std::string factText(Unit unit, Number number) {
  if (unit == kSeconds) return fixed(static_cast<double>(number) * 1e3, 3);
  return unit == kBytes ? shortBytes(static_cast<std::uint64_t>(number)) : std::to_string(number);
}

std::string headerSection(const JobDescription& job, const JobStatistics& statistics) {
  std::string text;
  const auto line = [&](std::string_view name, const std::string& value) {
    constexpr std::size_t kIndent = 19;
    text += message("  ", name, std::string(kIndent - 2 - name.size(), ' '),
                    wrapped(value, kIndent, kWidth), '\n');
  };
  line("command", job.command);
  line("ranks", std::to_string(statistics.ranks));
  line("torc", std::string(kVersion) + (job.off.empty() ? "" : ", off: " + job.off));
  if (!job.off.empty()) return text;
  line("library", message(job.library, " (machine ", job.machine, ")"));
  line("partition", job.partition);
  std::string name, facts;
  forFields(statistics.facts, [&](const auto& fact, auto number) {
    if (*fact.line != '\0' && !facts.empty()) line(name, std::exchange(facts, {}));
    if (*fact.line != '\0') name = fact.line;
    facts += factText(fact.unit, number) + fact.text;
  });
  line(name, facts);
  return text;
}

}  // namespace

std::string statisticsTable(const JobDescription& job, const JobStatistics& statistics) {
  const std::string rule(72, '-');
  std::string text = "torc statistics " + rule.substr(16) + '\n' + headerSection(job, statistics);
  if (job.off.empty()) {
    text += '\n' + callSection(statistics, true) + '\n' + callSection(statistics, false) + '\n' +
            lateSection(statistics) + tuningSection(statistics) + communicatorSection(statistics);
  }
  return text + rule + '\n';
}

std::string commandLine() {
  std::ifstream in("/proc/self/cmdline", std::ios::binary);
  std::string text, word;
  while (std::getline(in, word, '\0'))
    text += (text.empty() ? "" : " ") + word;
  if (text.size() > kMostCommandLetters) text = text.substr(0, kMostCommandLetters) + "...";
  return text;
}

}  // namespace torc::runtime::pmpi
