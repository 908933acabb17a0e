// Presence: whether all ranks of the job have the interposer. What the ranks agree on at the start
// is a collective call that the ranks without it never make.
#ifndef TORC_RUNTIME_PMPI_PROCESS_PRESENCE_H_
#define TORC_RUNTIME_PMPI_PROCESS_PRESENCE_H_

#include <functional>
#include <string>

#include <mpi.h>

namespace torc::runtime::pmpi {

/// The ranks of this host, once MPI is initialised on all of them, as far as their launcher is
/// MPICH's and /proc can be read.
struct HostPresence {
  int without = 0;     // process of a rank that surely does without the interposer; 0: none seen
  bool speaks = true;  // the caller is the first of those that have it
  int ranks = 1;       // on this host
};

/// 50 ms.
void pauseBetweenLooks();

/// `proc` is where the system shows its processes. A rank is said to be without the interposer only
/// when two looks, with `pause` between them, have both read all of it and found MPI alone: what
/// cannot be read, or not to its end, is not known. The second look is at those of the first only.
HostPresence lookAtHost(const std::string& proc = "/proc",
                        const std::function<void()>& pause = pauseBetweenLooks);

/// Waits for all ranks of `comm`. After 10 s a rank that `speaks` says on stderr what is probably
/// missing.
void waitForRanks(MPI_Comm comm, bool speaks);

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_PROCESS_PRESENCE_H_
