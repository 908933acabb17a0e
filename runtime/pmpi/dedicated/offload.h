// Offloading: calls of the program that go to dedicated ranks, by a rule that all ranks follow
// alike.
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

/// Whether there are dedicated ranks, which this one is not.
inline std::atomic<bool> has_dedicated{false};

inline bool mayOffload() {
  return has_dedicated.load(std::memory_order_relaxed) && !inside_torc;
}

/// `world` is the communicator of the program's ranks, of which this is `application`.
void beginOffloading(std::unique_ptr<dedicated::Wire> wire, int application, MPI_Comm world,
                     const OffloadLimits& limits);

/// All calls of this rank are complete.
void endOffloading();

/// A call that goes to dedicated ranks is started, and if it blocks completed; of a persistent one
/// the request is made; its verdict says how it ended. False: of that kind and size none does; the
/// operation is the program's own; it is the first call on a communicator and does not block; or
/// the communicator has one rank, or others than the program's first ones.
bool offload(CollectiveCall& call, MPI_Request* request);

/// Starts what stands behind a persistent request that has been started; false: it is none of
/// these. (Sancho et al. have no persistent form.)
bool startOffloaded(MPI_Request request);
/// Such a request is about to be freed; false: it is none of these.
bool forgetOffloaded(MPI_Request request);

/// A communicator has been made, by all of its ranks: dedicated ranks hear of it, so that its first
/// call may be one that does not block.
void noteCommunicator(MPI_Comm comm);

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_DEDICATED_OFFLOAD_H_
