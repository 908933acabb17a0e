// Split trial: temporarily splits a job into the program's ranks and dedicated ones, for
// measurements.
#ifndef TORC_RUNTIME_DEDICATED_SPLIT_TRIAL_H_
#define TORC_RUNTIME_DEDICATED_SPLIT_TRIAL_H_

#include <functional>
#include <span>

#include <mpi.h>

#include "runtime/dedicated/client.h"
#include "runtime/dedicated/roles.h"
#include "support/status.h"

namespace torc::runtime::dedicated {

/// Collective over MPI_COMM_WORLD, with the same roles on all ranks. Dedicated ranks serve the
/// others, which call `program` with their client and their communicator; returns when all of these
/// have returned. `yields`: there are more ranks than cores. Errors: of a dedicated rank, for which
/// the others wait: the caller must end the job.
Status tryRoles(const Roles& roles, bool yields,
                const std::function<void(Client& client, MPI_Comm own)>& program);

/// The call for a sum of doubles over the program's ranks.
OffloadedCall sumOfDoubles(std::span<const double> in, std::span<double> out);

}  // namespace torc::runtime::dedicated

#endif  // TORC_RUNTIME_DEDICATED_SPLIT_TRIAL_H_
