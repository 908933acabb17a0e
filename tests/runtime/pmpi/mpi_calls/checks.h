// Counting checks of the MPI programs here, which know nothing of torc: what failed, and how much
// was checked at all.
#ifndef TORC_TESTS_RUNTIME_PMPI_MPI_CALLS_CHECKS_H_
#define TORC_TESTS_RUNTIME_PMPI_MPI_CALLS_CHECKS_H_

#include <cstdint>
#include <string>

namespace mpi_calls {

/// Counts one check; a failed one is reported with rank and text, the first ten of a rank in full.
/// Any thread.
void check(bool holds, const std::string& text);

/// `code` must be MPI_SUCCESS.
void checkCall(int code, const std::string& text);

/// What a failed check calls, in place of being counted; null: nothing.
extern void (*on_failure)(const std::string& text);

/// Checks of this rank so far, and those that failed.
int64_t checkCount();
int64_t failureCount();

/// Collective over MPI_COMM_WORLD: prints, on rank 0, "NAME: 1234 checks on 4 ranks, 0 failed", and
/// returns the exit status: 0 when every rank's checks held and there were any.
int summarize(const char* name);

}  // namespace mpi_calls

#endif  // TORC_TESTS_RUNTIME_PMPI_MPI_CALLS_CHECKS_H_
