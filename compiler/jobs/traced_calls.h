// Collective calls of a trace: the ranks of each, their times, and the causes of delay.
#ifndef TORC_COMPILER_JOBS_TRACED_CALLS_H_
#define TORC_COMPILER_JOBS_TRACED_CALLS_H_

#include <cstdint>
#include <string>
#include <vector>

#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>

#include "compiler/view/late_ranks.h"

namespace torc::compiler {

/// The time of one rank in a call, in seconds.
struct CallTime {
  double late_s = 0;   // waiting for later ranks
  double wire_s = 0;   // then messages in flight
  double local_s = 0;  // then reductions or copies
  double own_s = 0;    // the rest, in torc

  double total() const { return late_s + wire_s + local_s + own_s; }
  CallTime& operator+=(const CallTime& other);
};

/// One collective call: the rounds of one number.
struct TracedCall {
  struct Rank {
    int rank = 0;
    CallTime time;
  };

  std::string function;  // "MPI_Allreduce"; for a round outside of a call "allreduce"
  std::uint64_t bytes = 0;
  double begin_s = 0;         // when the first rank arrives
  std::vector<Rank> ranks{};  // by number
  LastArrival last{};
};

struct TracedJob {
  std::vector<TracedCall> calls;  // of several ranks each, in order of begin
  std::uint64_t ranks = 0;
  std::uint64_t dropped = 0;  // events lost for lack of space in the trace
  bool has_causes = false;    // with messages and work: of calls only the wait for ranks is known
};

/// Reads the trace in the file `path` (docs/users/view.md). Errors: no trace, no call of several
/// ranks.
llvm::Expected<TracedJob> readCalls(llvm::StringRef path);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_JOBS_TRACED_CALLS_H_
