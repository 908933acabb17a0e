// Collective calls of a trace: which ranks made each, when, and where their time went.
#ifndef TORC_COMPILER_JOBS_TRACED_CALLS_H_
#define TORC_COMPILER_JOBS_TRACED_CALLS_H_

#include <cstdint>
#include <string>
#include <vector>

#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>

namespace torc::compiler {

/// The time of one rank in a call, in seconds.
struct CallTime {
  double late_s = 0;   // waits for ranks that arrive later
  double wire_s = 0;   // then has messages under way
  double local_s = 0;  // then reduces or copies
  double own_s = 0;    // the rest, in torc

  double total() const { return late_s + wire_s + local_s + own_s; }
  CallTime& operator+=(const CallTime& other);
};

/// One collective call. Messages between ranks show that they are in the same call.
struct TracedCall {
  struct Rank {
    int rank = 0;
    CallTime time;
  };

  std::string function;  // "MPI_Allreduce"; of a round outside of a call "allreduce"
  std::uint64_t bytes = 0;
  double begin_s = 0;         // when the first rank arrives
  std::vector<Rank> ranks{};  // by number
  int last = 0;               // the rank that arrives last
  double late_by_s = 0;       // after the median of the ranks
};

struct TracedJob {
  std::vector<TracedCall> calls;  // of several ranks each, by begin
  std::uint64_t ranks = 0;
  std::uint64_t dropped = 0;  // events that the trace had no room for
};

/// Reads the trace in the file `path` (docs/users/view.md). Errors: no trace, no call of several
/// ranks.
llvm::Expected<TracedJob> readCalls(llvm::StringRef path);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_JOBS_TRACED_CALLS_H_
