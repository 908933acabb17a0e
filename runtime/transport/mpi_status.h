// MPI's error texts, and properties of communicators.
//
// All of runtime/ calls MPI by its PMPI_ names. The interposer (runtime/pmpi/) defines the MPI_
// names to serve the program's calls: torc's own calls must bypass it, or it would count them,
// delay them for progress, and serve them itself.
#ifndef TORC_RUNTIME_TRANSPORT_MPI_STATUS_H_
#define TORC_RUNTIME_TRANSPORT_MPI_STATUS_H_

#include <vector>

#include <mpi.h>

#include "support/status.h"

namespace torc::runtime {

/// The status of an MPI call's return code: `MPI_Start: Invalid rank, error stack: ...`, one line.
Status mpiStatus(int code, const char* call);

/// The caller's rank in a communicator, and the number of its ranks.
inline int commRank(MPI_Comm comm) {
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  return rank;
}
inline int commSize(MPI_Comm comm) {
  int size = 1;
  PMPI_Comm_size(comm, &size);
  return size;
}

/// The ranks in group `to` of `count` ranks of a communicator, from `first` on; MPI_UNDEFINED: not
/// a member. Throws std::bad_alloc.
std::vector<int> translatedRanks(MPI_Comm comm, int first, int count, MPI_Group to);

/// The highest tag of messages on a communicator.
int highestTag(MPI_Comm comm);

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_TRANSPORT_MPI_STATUS_H_
