// What is told of calls: statistics, errors, warnings.
#ifndef TORC_RUNTIME_PMPI_CALL_REPORT_H_
#define TORC_RUNTIME_PMPI_CALL_REPORT_H_

#include <string>

#include "runtime/pmpi/collective_call.h"
#include "schedules/library_index.h"

namespace torc::pmpi {

/// Takes the time, where statistics are kept.
void beginCall(CollectiveCall& call);

/// The call is complete, or MPI has it: `entry` is what it was served from, or null; call.reason
/// says why it was not.
void endCall(const CollectiveCall& call, const LibraryEntry* entry);

/// An error of one call, on stderr: `torc: error: rank 3: MPI_Allreduce: ...`.
void complain(const CollectiveCall& call, const std::string& text);

/// A warning that all ranks have alike, on stderr of rank 0 of the communicator; each text once.
void warnOnce(int rank, const std::string& text);

/// "MPI_Iallreduce": a row's function of this form.
const char* functionName(CallId id, Form form);

}  // namespace torc::pmpi

#endif  // TORC_RUNTIME_PMPI_CALL_REPORT_H_
