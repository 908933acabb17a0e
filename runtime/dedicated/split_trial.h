// Trial: a job that is split into the program's ranks and dedicated ones for a while, to measure.
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
/// others, which call `program` with their side and their communicator; returns when all of these
/// have returned. `yields`: there are more ranks than cores. Errors: a dedicated rank's, for which
/// the others wait: it is to end the job.
Status tryRoles(const Roles& roles, bool yields,
                const std::function<void(Client& client, MPI_Comm own)>& program);

/// A sum of doubles over the program's ranks.
OffloadedCall sumOfDoubles(std::span<const double> in, std::span<double> out);

}  // namespace torc::runtime::dedicated

#endif  // TORC_RUNTIME_DEDICATED_SPLIT_TRIAL_H_
