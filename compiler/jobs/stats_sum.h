// Sums of statistics of jobs: lines of JSON, as TORC_STATS=json:FILE appends them.
#ifndef TORC_COMPILER_JOBS_STATS_SUM_H_
#define TORC_COMPILER_JOBS_STATS_SUM_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <llvm/ADT/StringRef.h>

#include "runtime/pmpi/statistics/statistics_rows.h"

namespace torc::compiler {

/// Equal calls of many jobs: the fields of sums, without the schedule.
struct StatsRow {
  runtime::pmpi::CallRow calls;
  std::uint64_t measured_calls = 0;  // with a known time of MPI's own function
  double won_seconds = 0;            // saved by these
  runtime::pmpi::LateWaits late;     // of jobs with one numbering of ranks

  bool isServed() const { return calls.service == runtime::pmpi::Service::kServed; }
  /// Whether a library could have served them.
  bool isMissing() const { return calls.service == runtime::pmpi::Service::kShouldBeServed; }
  void add(const StatsRow& other);
};

struct StatsSum {
  std::uint64_t jobs = 0;
  std::uint64_t ranks = 0;                    // of all jobs
  std::uint64_t first_end = 0, last_end = 0;  // seconds since 1970; of jobs
  std::map<std::string, std::uint64_t> off;   // number of jobs by the reason why torc was off
  std::map<std::string, StatsRow> rows;       // by keyOf their calls

  /// Adds a job. A malformed line adds nothing, except for a job after a truncated line; the fault
  /// is returned: `calls/3: no 'bytes'`. Text before the object is skipped: syslog's time and host.
  std::string addLine(llvm::StringRef line);
};

/// At most three lines: calls served of all calls, the time in them, and a remedy. `cores`: of the
/// host that all ranks are on; 0: of several, or not known.
std::vector<std::string> summaryOf(const StatsSum& sum, unsigned cores, bool was_tuned);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_JOBS_STATS_SUM_H_
