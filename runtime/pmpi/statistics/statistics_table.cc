// The table of statistics, for a person: header, calls served, calls handed to MPI, communicators.
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <tuple>

#include "runtime/pmpi/statistics/statistics.h"
#include "support/message.h"
#include "support/version.h"

namespace torc::runtime::pmpi {
namespace {

constexpr std::size_t kMostCommandLetters = 200;

/// Text in columns as wide as their longest cell.
class Columns {
 public:
  enum class Side { kLeft, kRight };

  explicit Columns(const std::vector<std::pair<const char*, Side>>& heads) {
    std::vector<std::string> row;
    for (const auto& [head, side] : heads) {
      row.push_back(head);
      sides_.push_back(side);
    }
    add(std::move(row));
  }

  /// A dash stands for an empty cell, so that columns stay columns to a program.
  void add(std::vector<std::string> row) {
    for (std::string& cell : row) {
      if (cell.empty()) cell = "-";
    }
    rows_.push_back(std::move(row));
  }

  std::string text() const {
    std::vector<std::size_t> widths(sides_.size());
    for (const auto& row : rows_) {
      for (std::size_t i = 0; i < row.size(); ++i)
        widths[i] = std::max(widths[i], row[i].size());
    }
    std::string text;
    for (const auto& row : rows_) {
      std::string line;
      for (std::size_t i = 0; i < row.size(); ++i) {
        const std::string blanks(widths[i] - row[i].size(), ' ');
        line += "  " + (sides_[i] == Side::kLeft ? row[i] + blanks : blanks + row[i]);
      }
      line.erase(line.find_last_not_of(' ') + 1);
      text += line + '\n';
    }
    return text;
  }

 private:
  std::vector<Side> sides_;
  std::vector<std::vector<std::string>> rows_;
};

/// With so many digits behind the point.
std::string fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.*f", digits, value);
  return text;
}

/// "4096", "64K", "1.5M": powers of 1024.
std::string bytesShort(std::uint64_t bytes) {
  constexpr char kLetters[] = {'K', 'M', 'G', 'T', 'P', 'E'};
  if (bytes < 10000) return std::to_string(bytes);
  double value = static_cast<double>(bytes);
  int letter = -1;
  do {
    value /= 1024;
    ++letter;
  } while (value >= 1024 && letter < 5);
  return fixed(value, value == std::floor(value) ? 0 : 1) + kLetters[letter];
}

std::string percent(double some, double whole) {
  return whole > 0 ? fixed(100 * some / whole, 1) : "0.0";
}

struct Total {
  std::uint64_t calls = 0, bytes = 0;
  double seconds = 0;
};

Total totalOf(const std::vector<CallRow>& rows, bool served) {
  Total total;
  for (const CallRow& row : rows) {
    if ((row.service == Service::kServed) != served) continue;
    total.calls += row.calls;
    total.bytes += row.bytes;
    total.seconds += row.seconds;
  }
  return total;
}

/// Served rows, or the others: those of the most time first.
std::vector<CallRow> sortedRows(const std::vector<CallRow>& all, bool served) {
  std::vector<CallRow> rows;
  std::ranges::copy_if(all, std::back_inserter(rows), [&](const CallRow& row) {
    return (row.service == Service::kServed) == served;
  });
  std::ranges::sort(rows, [](const CallRow& a, const CallRow& b) {
    // Equal times, as in tests: by signature, so that the order is the same in every run.
    return std::tie(b.seconds, a.function, a.communicator, a.size_class, a.datatype, a.operation,
                    a.by) < std::tie(a.seconds, b.function, b.communicator, b.size_class,
                                     b.datatype, b.operation, b.by);
  });
  return rows;
}

std::string callSection(const JobStatistics& statistics, bool served) {
  using enum Columns::Side;
  const Total total = totalOf(statistics.calls, served);
  std::string text =
      message(served ? "Calls served by torc: " : "Calls handed to MPI: ", total.calls, ", ",
              bytesShort(total.bytes), " bytes, ", fixed(total.seconds, 6), " s\n");
  if (total.calls == 0) return text;
  const double all_seconds = total.seconds + totalOf(statistics.calls, !served).seconds;
  Columns columns({{"function", kLeft},
                   {"communicator", kLeft},
                   {"datatype", kLeft},
                   {"operation", kLeft},
                   {"bytes/call", kRight},
                   {"ranks", kRight},
                   {"calls", kRight},
                   {"total s", kRight},
                   {"total %", kRight},
                   {"mean us", kRight},
                   {"min us", kRight},
                   {"max us", kRight},
                   {served ? "schedule" : "reason", kLeft}});
  bool marked = false;
  for (const CallRow& row : sortedRows(statistics.calls, served)) {
    const bool mark = row.service == Service::kShouldBeServed;
    marked = marked || mark;
    std::string bytes = bytesShort(row.least_bytes);
    if (row.datatype.empty() && !row.isRest()) {
      bytes.clear();  // not known
    } else if (row.least_bytes != row.most_bytes) {
      bytes += '-' + bytesShort(row.most_bytes);
    }
    columns.add({row.isRest() ? "other signatures" : row.function, row.communicator, row.datatype,
                 row.operation, bytes, std::to_string(row.ranks), std::to_string(row.calls),
                 fixed(row.seconds, 6), percent(row.seconds, all_seconds),
                 fixed(row.seconds / static_cast<double>(row.calls) * 1e6, 1),
                 fixed(row.least_seconds * 1e6, 1), fixed(row.most_seconds * 1e6, 1),
                 (mark ? "! " : "") + (row.isRest() ? "several" : row.by)});
  }
  text += columns.text();
  if (marked) text += "  !: an error under TORC_STRICT=1\n";
  return text;
}

std::string communicatorSection(const JobStatistics& statistics) {
  using enum Columns::Side;
  std::vector<CommunicatorRow> rows = statistics.communicators;
  std::ranges::sort(rows, [](const CommunicatorRow& a, const CommunicatorRow& b) {
    return std::tuple(!a.reason.empty(), b.used, a.description, a.reason) <
           std::tuple(!b.reason.empty(), a.used, b.description, b.reason);
  });
  std::uint64_t served = 0, others = 0;
  Columns columns({{"communicator", kLeft},
                   {"used", kRight},
                   {"torc's calls", kRight},
                   {"MPI's calls", kRight},
                   {"total s", kRight},
                   {"served by torc", kLeft}});
  for (const CommunicatorRow& row : rows) {
    (row.reason.empty() ? served : others) += row.used;
    columns.add({row.description, std::to_string(row.used), std::to_string(row.served),
                 std::to_string(row.handed), fixed(row.seconds, 6),
                 row.reason.empty() ? "yes" : "no: " + row.reason});
  }
  std::string text =
      message("Communicators: ", served, " that torc serves, ", others, " that it does not\n");
  return rows.empty() ? text : text + columns.text();
}

/// What TORC_TUNE has found; empty where nothing was tried.
std::string tuningSection(const JobStatistics& statistics) {
  using enum Columns::Side;
  if (statistics.trials == 0) return {};
  std::string text = message("Tried by TORC_TUNE: ", statistics.trials, " signatures, ",
                             statistics.ended, " of them to the end\n");
  if (statistics.tuned.empty()) return text + '\n';
  std::vector<TunedRow> rows = statistics.tuned;
  std::ranges::sort(rows, {}, [](const TunedRow& row) {
    return std::tie(row.function, row.communicator, row.bytes, row.by, row.seconds);
  });
  Columns columns({{"function", kLeft},
                   {"communicator", kLeft},
                   {"bytes/call", kRight},
                   {"calls tried", kRight},
                   {"library's us", kRight},
                   {"MPI's us", kRight},
                   {"fastest us", kRight},
                   {"serves since", kLeft}});
  for (const TunedRow& row : rows) {
    columns.add({row.function, row.communicator, bytesShort(row.bytes), std::to_string(row.calls),
                 fixed(row.own_seconds * 1e6, 2), fixed(row.mpi_seconds * 1e6, 2),
                 fixed(row.seconds * 1e6, 2), row.by});
  }
  text += columns.text();
  if (statistics.ended > rows.size()) {
    text += message("  and ", statistics.ended - rows.size(), " more\n");
  }
  return text + '\n';
}

std::string headerSection(const JobDescription& job, const JobStatistics& statistics) {
  std::string text;
  const auto line = [&](const char* name, const std::string& value) {
    text += message("  ", name, std::string(17 - std::strlen(name), ' '), value, '\n');
  };
  const RankFacts& sum = statistics.sum;
  const RankFacts& most = statistics.most;
  line("command", job.command);
  line("ranks", std::to_string(statistics.ranks));
  line("torc", std::string(kVersion) + (job.off.empty() ? "" : ", off: " + job.off));
  if (!job.off.empty()) return text;
  line("library", message(job.library, " (machine ", job.machine, ")"));
  line("partition", job.partition);
  line("schedules",
       message(most.schedules, " loaded, ", bytesShort(most.schedule_bytes), " bytes of at most ",
               bytesShort(job.memory_limit), " (most on a rank)"));
  line("persistent plans",
       message(sum.calls_found, " found, ", sum.plans_made, " made (all ranks); ",
               bytesShort(most.call_bytes), " bytes of at most ", bytesShort(job.cache_limit),
               " (most on a rank)"));
  line("messages", message(bytesShort(sum.put_bytes), " bytes by puts, ",
                           sum.ucx_bytes > 0 ? message(bytesShort(sum.ucx_bytes), " by UCX, ") : "",
                           bytesShort(sum.mpi_bytes), " by MPI (all ranks)"));
  line("shared memory",
       message(bytesShort(sum.segment_bytes), " bytes in ", sum.segments, " segments (all hosts)"));
  line("torc's set-up", message(fixed(most.setup_seconds * 1e3, 3), " ms (most on a rank)"));
  line("loading", message(fixed(most.load_seconds * 1e3, 3), " ms (most on a rank)"));
  return text;
}

}  // namespace

std::string statisticsTable(const JobDescription& job, const JobStatistics& statistics) {
  const std::string rule(72, '-');
  std::string text = "torc statistics " + rule.substr(16) + '\n' + headerSection(job, statistics);
  if (job.off.empty()) {
    text += '\n' + callSection(statistics, true) + '\n' + callSection(statistics, false) + '\n' +
            tuningSection(statistics) + communicatorSection(statistics);
  }
  return text + rule + '\n';
}

Status writeStatistics(const std::string& table, const std::string& file) {
  if (file.empty()) {
    std::fwrite(table.data(), 1, table.size(), stderr);
    return {};
  }
  std::FILE* out = std::fopen(file.c_str(), "w");
  bool good = out != nullptr && std::fwrite(table.data(), 1, table.size(), out) == table.size();
  if (out != nullptr) good = std::fclose(out) == 0 && good;
  if (good) return {};
  return {StatusCode::kIo, message("TORC_STATS: cannot write ", file, ": ", std::strerror(errno))};
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
