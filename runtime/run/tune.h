// torc-run --tune: measures, on the ranks of a job, the schedules of a library and MPI's own
// collectives, and writes a copy of the library in which the fastest serve.
#ifndef TORC_RUNTIME_RUN_TUNE_H_
#define TORC_RUNTIME_RUN_TUNE_H_

#include "runtime/run/torc_run_options.h"
#include "support/status.h"

namespace torc::runtime {

/// Collective over MPI_COMM_WORLD. Prints a table on rank 0. The error is the same on all ranks;
/// the library itself is never written to.
Status tune(const RunOptions& options);

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_RUN_TUNE_H_
