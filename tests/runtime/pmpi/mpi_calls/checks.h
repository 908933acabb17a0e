// Counted checks of the MPI programs here, which have no knowledge of torc: failures, and the total
// number.
#ifndef TORC_TESTS_RUNTIME_PMPI_MPI_CALLS_CHECKS_H_
#define TORC_TESTS_RUNTIME_PMPI_MPI_CALLS_CHECKS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace mpi_calls {

/// Counts one check; a failed one is reported with rank and text, the first ten of a rank in full.
/// Any thread.
void check(bool holds, const std::string& text);

/// `code` must be MPI_SUCCESS.
void checkCall(int code, const std::string& text);

/// Called by a failed check, which is then not counted; null: nothing.
extern void (*on_failure)(const std::string& text);

/// Checks of this rank so far, and those that failed.
int64_t checkCount();
int64_t failureCount();

/// Adds up the numbers of all ranks, by messages, as the collectives are under test.
void sumOnRank0(std::vector<uint64_t>& numbers);

/// Collective over MPI_COMM_WORLD: prints, on rank 0, "NAME: 1234 checks on 4 ranks, 0 failed", and
/// returns the exit status: 0 if this rank's checks (on rank 0 all ranks') held, and there were
/// any.
int summarize(const char* name);

}  // namespace mpi_calls

#endif  // TORC_TESTS_RUNTIME_PMPI_MPI_CALLS_CHECKS_H_
