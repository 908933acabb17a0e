// torc-run --tune: measures the schedules of a library and MPI's own collectives on the ranks of a
// job, and writes a copy of the library that uses the fastest.
#ifndef TORC_RUNTIME_RUN_TUNE_H_
#define TORC_RUNTIME_RUN_TUNE_H_

#include "runtime/run/torc_run_options.h"
#include "support/status.h"

namespace torc::runtime {

/// Collective over MPI_COMM_WORLD. Prints a table on rank 0. The error is the same on all ranks;
/// the library itself is never changed.
Status tune(const RunOptions& options);

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_RUN_TUNE_H_
