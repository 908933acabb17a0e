// All ranks of a job: errors that are the same on all of them, and a description of their hosts.
#ifndef TORC_RUNTIME_RUN_WORLD_JOB_WORLD_H_
#define TORC_RUNTIME_RUN_WORLD_JOB_WORLD_H_

#include <string>

#include <mpi.h>

#include "schedules/topology/topology.h"
#include "support/status.h"

namespace torc::runtime {

/// Collective. The error of the lowest rank with one, on all ranks.
Status agreed(const Status& mine, MPI_Comm comm = MPI_COMM_WORLD);

/// The error of the C API's last call, if `code` is an error.
Status apiStatus(int code);

/// Collective over MPI_COMM_WORLD. The ranks of the job, their hosts and MPI, in a line for users;
/// on rank 0.
std::string describeJob(const Topology& topology, bool oversubscribed);

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_RUN_WORLD_JOB_WORLD_H_
