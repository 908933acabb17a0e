// Presence: whether all ranks of the job have the interposer. The agreement of the ranks at the
// start is a collective call, which ranks without it never make.
#ifndef TORC_RUNTIME_PMPI_PROCESS_PRESENCE_H_
#define TORC_RUNTIME_PMPI_PROCESS_PRESENCE_H_

#include <functional>
#include <string>

#include <mpi.h>

namespace torc::runtime::pmpi {

/// The ranks of this host, once MPI is initialised on all of them, if MPICH or Open MPI has started
/// them and /proc can be read.
struct HostPresence {
  int without = 0;     // process of a rank that certainly lacks the interposer; 0: none seen
  bool speaks = true;  // the caller is the first of the ranks that have it
  int ranks = 1;       // on this host
};

/// 50 ms.
void pauseBetweenLooks();

/// `proc` is the path of /proc. A rank counts as without the interposer only if two readings, with
/// `pause` between them, were both complete and found MPI alone; incomplete readings do not count.
/// The second reading covers only the ranks found by the first.
HostPresence lookAtHost(const std::string& proc = "/proc",
                        const std::function<void()>& pause = pauseBetweenLooks);

/// Waits for all ranks of `comm`. After 10 s a rank that `speaks` prints the probable cause on
/// stderr.
void waitForRanks(MPI_Comm comm, bool speaks);

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_PROCESS_PRESENCE_H_
