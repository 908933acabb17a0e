// Progress: what every wrapper asks first, and how torc's own waits wait.
//
// MPI knows nothing of torc's operations: while one is under way on this rank, a wrapper of a
// blocking call sees to it that they go on beside it (runtime/pmpi/engine/inside_mpi.h). While none
// is, it calls MPI straight; that costs one relaxed load.
#ifndef TORC_RUNTIME_PMPI_PROCESS_PROGRESS_H_
#define TORC_RUNTIME_PMPI_PROCESS_PROGRESS_H_

#include <atomic>

#include <mpi.h>

#include "runtime/pmpi/process/engine_lock.h"
#include "support/backoff.h"

namespace torc::runtime::pmpi {

/// Whether torc is on: from the end of MPI_Init to the beginning of MPI_Finalize, in a job whose
/// ranks have agreed on a library. The same on all ranks.
inline std::atomic<bool> torc_is_on{false};

/// Above 0 while blocking calls must make progress: operations of this rank that are not complete,
/// and one more where threads of the program call MPI at a time, and may start one at any time.
inline std::atomic<int> attention{0};
/// Its value while nothing is under way. Set before torc is on.
inline std::atomic<int> idle_attention{0};

/// Operations of this rank that are not complete.
inline int underWay() {
  return attention.load(std::memory_order_relaxed) - idle_attention.load(std::memory_order_relaxed);
}

/// Whether the program has made persistent collectives that are MPI's.
inline std::atomic<bool> has_mpis_persistent{false};

/// Persistent requests of torc that the program holds.
inline std::atomic<int> persistent_handles{0};

/// Whether this thread is inside torc. MPI calls that come from there are a user's reduction
/// operation, error handler or attribute callback: they go to MPI straight.
[[gnu::tls_model("initial-exec")]] inline thread_local bool inside_torc = false;

/// Whether MPI has refused a collective call of this rank, and the program has not gone on to
/// another call of MPI since then. It counts in `attention`, so that the next wrapper finds out.
inline std::atomic<bool> has_refused{false};
/// Whether this thread is still in the refused call, which it hands to MPI.
[[gnu::tls_model("initial-exec")]] inline thread_local bool in_refused = false;
/// The program has gone on: tells the ranks that may wait for such a call.
void goOn() TORC_EXCLUDES(engine_lock);

inline bool intercepts() {
  return torc_is_on.load(std::memory_order_relaxed) && !inside_torc;
}

inline bool mustProgress() {
  if (attention.load(std::memory_order_relaxed) <= 0 || inside_torc) return false;
  if (has_refused.load(std::memory_order_relaxed)) goOn();
  return attention.load(std::memory_order_relaxed) > 0;
}

/// Does what can be done now for all operations of this rank. Where another thread is at it,
/// returns at once.
void advance() TORC_EXCLUDES(engine_lock);

/// Between two fruitless looks: lets others run when that helps.
class Pause {
 public:
  void operator()();

 private:
  Backoff backoff_;
};

/// Whether ranks outnumber the cores of this host: waiting calls yield at once.
inline std::atomic<bool> oversubscribed{false};

/// MPI_Wait with progress. The result of `started`, the call that made the request, comes first.
int waitFor(int started, MPI_Request* request, MPI_Status* status = MPI_STATUS_IGNORE)
    TORC_EXCLUDES(engine_lock);

/// Calls look() -> bool until it is true, with progress.
template <typename Look>
void progressUntil(Look look) TORC_EXCLUDES(engine_lock) {
  for (Pause pause; !look(); pause())
    advance();
}

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_PROCESS_PROGRESS_H_
