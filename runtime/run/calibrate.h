// torc-run --calibrate: measures the links, cores and memory of a job, and writes a description of
// the machine.
#ifndef TORC_RUNTIME_RUN_CALIBRATE_H_
#define TORC_RUNTIME_RUN_CALIBRATE_H_

#include "runtime/run/torc_run_options.h"
#include "support/status.h"

namespace torc::runtime {

/// Collective over MPI_COMM_WORLD. Prints the results on rank 0. The error is the same on all
/// ranks; then there is no file.
Status calibrate(const RunOptions& options);

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_RUN_CALIBRATE_H_
