// torc-run --dedicated-sweep: finds the best ratio of dedicated ranks.
#ifndef TORC_RUNTIME_RUN_DEDICATED_SWEEP_H_
#define TORC_RUNTIME_RUN_DEDICATED_SWEEP_H_

#include "runtime/run/torc_run_options.h"
#include "support/status.h"

namespace torc::runtime {

/// Collective over MPI_COMM_WORLD. For each size in `options` (bytes of the vector), and each
/// possible ratio, measures sums of doubles among the ranks that are not dedicated: by MPI's
/// blocking and nonblocking allreduce, and by dedicated ranks; alone, and with computation between
/// start and wait (the microbenchmarks of Sancho et al., Figure 5). Prints a line for each, the
/// best ratio, and the condition for a gain (Section V.E).
Status sweepDedicated(const RunOptions& options);

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_RUN_DEDICATED_SWEEP_H_
