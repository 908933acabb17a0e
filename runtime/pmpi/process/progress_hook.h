// Progress hook: a function that MPI calls whenever it waits, in the thread that waits. Open MPI
// has that for its own parts: its nonblocking collectives are moved on so. torc's operations are,
// too, where no two threads of the program call MPI at a time.
#ifndef TORC_RUNTIME_PMPI_PROCESS_PROGRESS_HOOK_H_
#define TORC_RUNTIME_PMPI_PROCESS_PROGRESS_HOOK_H_

namespace torc::runtime::pmpi {

/// Whether this process's MPI has such a thing.
bool hasProgressHook();

/// False: MPI refuses it.
bool addProgressHook();

/// No-op where there is none.
void removeProgressHook();

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_PROCESS_PROGRESS_HOOK_H_
