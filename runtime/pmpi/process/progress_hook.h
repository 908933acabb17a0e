// Progress hook: a function that MPI calls while it waits, in the waiting thread. Open MPI has one
// for its own components, such as nonblocking collectives. torc's operations use it, too, unless
// several threads of the program may call MPI at a time.
#ifndef TORC_RUNTIME_PMPI_PROCESS_PROGRESS_HOOK_H_
#define TORC_RUNTIME_PMPI_PROCESS_PROGRESS_HOOK_H_

namespace torc::runtime::pmpi {

/// Whether this process's MPI has a progress hook.
bool hasProgressHook();

/// False: MPI refuses the function.
bool addProgressHook();

/// No-op without a hook.
void removeProgressHook();

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_PROCESS_PROGRESS_HOOK_H_
