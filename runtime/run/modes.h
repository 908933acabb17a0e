// Modes of torc-run that run no program. All are collective over MPI_COMM_WORLD and print on rank
// 0.
#ifndef TORC_RUNTIME_RUN_MODES_H_
#define TORC_RUNTIME_RUN_MODES_H_

#include "runtime/run/torc_run_options.h"
#include "support/status.h"

namespace torc::runtime {

/// --tune: measures the schedules of a library and MPI's own collectives on the ranks of a job, and
/// writes a copy of the library that uses the fastest. Prints a table. The error is the same on all
/// ranks; the library itself is never changed.
Status tune(const RunOptions& options);

/// --calibrate: measures the links, cores and memory of a job, and writes a description of the
/// machine. Prints the results. The error is the same on all ranks; then there is no file.
Status calibrate(const RunOptions& options);

/// --dedicated-sweep: finds the best ratio of dedicated ranks. For each size in `options` (bytes of
/// the vector), and each possible ratio, measures sums of doubles among the ranks that are not
/// dedicated: by MPI's blocking and nonblocking allreduce, and by dedicated ranks; alone, and with
/// computation between start and wait (the microbenchmarks of Sancho et al., Figure 5). Prints a
/// line for each, the best ratio, and the condition for a gain (Section V.E).
Status sweepDedicated(const RunOptions& options);

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_RUN_MODES_H_
