// Sums of what jobs have counted: lines of JSON, as TORC_STATS=json:FILE appends them.
#ifndef TORC_COMPILER_JOBS_STATS_SUM_H_
#define TORC_COMPILER_JOBS_STATS_SUM_H_

#include <cstdint>
#include <map>
#include <string>

#include <llvm/ADT/StringRef.h>

#include "runtime/pmpi/statistics/statistics_rows.h"

namespace torc::compiler {

/// Calls that are alike, of many jobs: the fields that are in sums, without the schedule.
struct StatsRow {
  runtime::pmpi::CallRow calls;
  std::uint64_t measured_calls = 0;  // of which the time of MPI's own is known
  double won_seconds = 0;            // of these

  bool isServed() const { return calls.service == runtime::pmpi::Service::kServed; }
  /// A library could have served them.
  bool isMissing() const { return calls.service == runtime::pmpi::Service::kShouldBeServed; }
  void add(const StatsRow& other);
};

struct StatsSum {
  std::uint64_t jobs = 0;
  std::uint64_t ranks = 0;                    // of all jobs
  std::uint64_t first_end = 0, last_end = 0;  // seconds since 1970; of jobs
  std::map<std::string, std::uint64_t> off;   // jobs by the reason for which torc was off
  std::map<std::string, StatsRow> rows;       // by keyOf their calls

  /// Adds a job. Nothing is added where the line is wrong, but for a job behind a torn one; what is
  /// wrong is returned: `calls/3: no 'bytes'`. What stands before the object is passed over:
  /// syslog's time and host.
  std::string addLine(llvm::StringRef line);
};

}  // namespace torc::compiler

#endif  // TORC_COMPILER_JOBS_STATS_SUM_H_
