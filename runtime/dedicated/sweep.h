// Sweep: which ranks of a job TORC_DEDICATED=auto dedicates (Sancho et al., Section V.E: the
// microbenchmarks determine the ratio that is best for an application and system).
#ifndef TORC_RUNTIME_DEDICATED_SWEEP_H_
#define TORC_RUNTIME_DEDICATED_SWEEP_H_

#include <string>
#include <vector>

#include "settings/dedicated_ranks.h"
#include "support/status.h"

namespace torc::runtime::dedicated {

struct Sweep {
  DedicatedRanks chosen;  // the same on all ranks
  bool is_measured = false;
  std::string
      unwritten;  // on rank 0: why the file could not be written; empty: it is, or is not to
  bool is_unwritten = false;  // on all ranks
};

/// Collective over MPI_COMM_WORLD. `wanted` is of kind kAuto. Rank 0 reads the choice from `file`
/// if there is such a file; else all candidates are measured, and rank 0 writes the file. An empty
/// name: no file. A sum is by MPI's own allreduce where no rank is dedicated: the blocking one, or
/// with computation in between the nonblocking one. Errors, the same on all ranks: of a file that
/// cannot be read, or is of another job; and a dedicated rank's.
StatusOr<Sweep> sweepDedicatedRanks(const DedicatedRanks& wanted, const std::string& file,
                                    const std::vector<int>& node_of_rank);

}  // namespace torc::runtime::dedicated

#endif  // TORC_RUNTIME_DEDICATED_SWEEP_H_
