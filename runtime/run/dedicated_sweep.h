// Which ratio of dedicated ranks is best here: torc-run --dedicated-sweep.
#ifndef TORC_RUNTIME_RUN_DEDICATED_SWEEP_H_
#define TORC_RUNTIME_RUN_DEDICATED_SWEEP_H_

#include "runtime/run/torc_run_options.h"
#include "support/status.h"

namespace torc::runtime {

/// Collective over MPI_COMM_WORLD. For each size of `options` (bytes of the vector), and each ratio
/// that the ranks allow, measures sums of doubles among the ranks that are not dedicated: by MPI's
/// blocking and nonblocking allreduce, and by dedicated ranks; alone, and with computation between
/// start and wait (the microbenchmarks of Sancho et al., Figure 5). Prints a line for each, the
/// best ratio, and when it pays (Section V.E).
Status sweepDedicated(const RunOptions& options);

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_RUN_DEDICATED_SWEEP_H_
