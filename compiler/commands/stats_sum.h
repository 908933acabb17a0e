// Sums of what jobs have counted: lines of JSON, as TORC_STATS=json:FILE appends them.
#ifndef TORC_COMPILER_COMMANDS_STATS_SUM_H_
#define TORC_COMPILER_COMMANDS_STATS_SUM_H_

#include <compare>
#include <cstdint>
#include <limits>
#include <map>
#include <string>

#include <llvm/ADT/StringRef.h>

namespace torc::compiler {

/// What makes calls of different jobs alike. Whose schedule served is left out.
struct StatsKey {
  bool served = false;
  bool missing = false;  // a library could have served it
  std::string function;
  std::string communicator;
  std::string reason;       // why MPI got the calls
  unsigned size_class = 0;  // bit width of the most bytes of a call

  auto operator<=>(const StatsKey&) const = default;
};

struct StatsCounts {
  std::uint64_t calls = 0, bytes = 0;
  std::uint64_t least_bytes = std::numeric_limits<std::uint64_t>::max(), most_bytes = 0;
  double seconds = 0;
  std::uint64_t measured_calls = 0;  // of which the time of MPI's own is known
  double won_seconds = 0;            // of these

  void add(const StatsCounts& other);
};

struct StatsSum {
  std::uint64_t jobs = 0;
  std::uint64_t ranks = 0;                    // of all jobs
  std::uint64_t first_end = 0, last_end = 0;  // seconds since 1970; of jobs
  std::map<std::string, std::uint64_t> off;   // jobs by the reason for which torc was off
  std::map<StatsKey, StatsCounts> rows;

  /// Adds a job. Nothing is added where the line is wrong, but for a job behind a torn one; what is
  /// wrong is returned: `calls/3: no 'bytes'`. What stands before the object is passed over:
  /// syslog's time and host.
  std::string addLine(llvm::StringRef line);
};

}  // namespace torc::compiler

#endif  // TORC_COMPILER_COMMANDS_STATS_SUM_H_
