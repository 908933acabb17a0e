// Properties of every trace file.
#ifndef TORC_TESTS_RUNTIME_TRACE_TRACE_FACTS_H_
#define TORC_TESTS_RUNTIME_TRACE_TRACE_FACTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace torc::runtime {

/// A trace file as it was read.
struct TraceFacts {
  std::vector<std::string> faults;              // empty: all properties hold
  std::map<int, std::string> ranks;             // titles of the processes
  std::map<std::string, std::uint64_t> events;  // by name: "send", "allreduce", "MPI_Wait"
  std::map<std::string, std::uint64_t> rows;    // by name: threads of that name
  std::uint64_t flows = 0;
  std::uint64_t dropped = 0;
};

/// Reads the JSON of a trace and checks it:
///  - processes are ranks, with titles, in order; threads have names, and contain events;
///  - in a thread events do not overlap; times are not negative;
///  - every flow has one start, on a send, and one finish, on a receive; their ranks are each
///    other's peers, tags and bytes are equal, and the send starts before the receive ends.
TraceFacts readTrace(const std::string& text);

}  // namespace torc::runtime

#endif  // TORC_TESTS_RUNTIME_TRACE_TRACE_FACTS_H_
