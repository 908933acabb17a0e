// A summary of a job's statistics, for the user at the job's end.
#ifndef TORC_COMPILER_JOBS_JOB_SUMMARY_H_
#define TORC_COMPILER_JOBS_JOB_SUMMARY_H_

#include <string>
#include <vector>

#include "compiler/jobs/stats_sum.h"

namespace torc::compiler {

/// At most three lines: calls served of all calls, the time in them, and a remedy. `cores`: of the
/// host that all ranks are on; 0: of several, or not known.
std::vector<std::string> summaryOf(const StatsSum& sum, unsigned cores, bool was_tuned);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_JOBS_JOB_SUMMARY_H_
