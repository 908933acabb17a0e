// Findings of a thread of a run so far: the sum of all results, and its place, for the line printed
// by a failure.
#ifndef TORC_TESTS_RUNTIME_PMPI_PROGRAMS_ACTIVITIES_RECORD_H_
#define TORC_TESTS_RUNTIME_PMPI_PROGRAMS_ACTIVITIES_RECORD_H_

#include <cstdint>
#include <string>

namespace programs {

struct Record {
  uint64_t seed = 0;
  int program = 0;
  int thread = 0;
  int call = 0;  // of the current collective
  /// Sum of the hashes of all results of this thread: calls complete in any order.
  uint64_t hash = 0;
};

/// This thread's.
Record& record();

/// Adds the hash of a result of call `call`.
void addHash(int call, uint64_t hash);

/// Prints seed, program, thread, number of the call, rank and `text` in one line, and ends the job.
[[noreturn]] void fail(int call, const std::string& text);

/// `code` must be MPI_SUCCESS.
void check(int code, int call, const std::string& text);

}  // namespace programs

#endif  // TORC_TESTS_RUNTIME_PMPI_PROGRAMS_ACTIVITIES_RECORD_H_
