// Offloading: sends calls of the program to dedicated ranks, by a rule that gives the same result
// on all ranks.
#ifndef TORC_RUNTIME_PMPI_DEDICATED_OFFLOAD_H_
#define TORC_RUNTIME_PMPI_DEDICATED_OFFLOAD_H_

#include <atomic>
#include <memory>

#include <mpi.h>

#include "runtime/dedicated/protocol.h"
#include "runtime/pmpi/calls/collective_call.h"
#include "runtime/pmpi/process/progress.h"
#include "settings/dedicated_ranks.h"

namespace torc::runtime::pmpi {

/// Whether the job has dedicated ranks, and this is none of them.
inline std::atomic<bool> has_dedicated{false};

inline bool mayOffload() {
  return has_dedicated.load(std::memory_order_relaxed) && !inside_torc;
}

/// `world` is the communicator of the program's ranks, `application` this rank's number in it.
void beginOffloading(std::unique_ptr<dedicated::Wire> wire, int application, MPI_Comm world,
                     const OffloadLimits& limits);

/// Precondition: all calls of this rank are complete.
void endOffloading();

/// Starts a call on dedicated ranks, and completes it if it blocks; for a persistent one creates
/// the request. The verdict has the outcome. False: no dedicated rank serves calls of that kind and
/// size; the operation is user-defined; it is the first call on a communicator and does not block;
/// or the communicator has one rank, or other ranks than the program's first ones.
bool offload(CollectiveCall& call, MPI_Request* request);

/// Starts the operation of a persistent request that has been started; false: not an offloaded
/// request. (Sancho et al. have no persistent form.)
bool startOffloaded(MPI_Request request);
/// Before such a request is freed; false: not an offloaded request.
bool forgetOffloaded(MPI_Request request);

/// All ranks of a new communicator call this: it announces the communicator to dedicated ranks, so
/// that its first call may be nonblocking.
void noteCommunicator(MPI_Comm comm);

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_DEDICATED_OFFLOAD_H_
