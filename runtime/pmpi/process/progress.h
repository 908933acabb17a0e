// Progress: flags that every wrapper tests first, and the loop of torc's own waits.
//
// MPI does not progress torc's operations. While one is under way on this rank, a wrapper of a
// blocking call ensures that they progress beside it (runtime/pmpi/engine/inside_mpi.h). Otherwise
// it calls MPI directly, at the cost of one relaxed load.
#ifndef TORC_RUNTIME_PMPI_PROCESS_PROGRESS_H_
#define TORC_RUNTIME_PMPI_PROCESS_PROGRESS_H_

#include <atomic>

#include <mpi.h>

#include "support/backoff.h"
#include "support/thread_annotations.h"

namespace torc::runtime::pmpi {

/// The engine's lock, for Clang's thread-safety analysis (support/thread_annotations.h). An
/// EngineLock (runtime/pmpi/engine/engine.h) holds it, also when no mutex is locked because there
/// is one thread.
class TORC_CAPABILITY("lock") EngineCapability {};
inline constexpr EngineCapability engine_lock;

/// Whether torc is on: from the end of MPI_Init to the beginning of MPI_Finalize, in a job whose
/// ranks have agreed on a library. The same on all ranks.
inline std::atomic<bool> torc_is_on{false};

/// Above 0 while blocking calls must make progress: the number of incomplete operations of this
/// rank, plus one if several threads of the program may call MPI, and so may start one at any time.
inline std::atomic<int> attention{0};
/// Value of `attention` while nothing is under way. Set before torc starts.
inline std::atomic<int> idle_attention{0};

/// Number of incomplete operations of this rank.
inline int underWay() {
  return attention.load(std::memory_order_relaxed) - idle_attention.load(std::memory_order_relaxed);
}

/// Whether MPI serves persistent collectives of the program.
inline std::atomic<bool> has_mpis_persistent{false};

/// Persistent requests of torc that the program holds.
inline std::atomic<int> persistent_handles{0};

/// Whether this thread is inside torc. MPI calls from there come from a user's reduction operation,
/// error handler or attribute callback: they go directly to MPI.
[[gnu::tls_model("initial-exec")]] inline thread_local bool inside_torc = false;

/// Whether MPI has refused a collective call of this rank, and the program has made no other MPI
/// call since then. It counts in `attention`, so that the next wrapper sees it.
inline std::atomic<bool> has_refused{false};
/// Whether this thread is still in the refused call, which falls back to MPI.
[[gnu::tls_model("initial-exec")]] inline thread_local bool in_refused = false;
/// The program has made another call: notifies the ranks that may wait for the refused one.
void goOn() TORC_EXCLUDES(engine_lock);

inline bool intercepts() {
  return torc_is_on.load(std::memory_order_relaxed) && !inside_torc;
}

inline bool mustProgress() {
  if (attention.load(std::memory_order_relaxed) <= 0 || inside_torc) return false;
  if (has_refused.load(std::memory_order_relaxed)) goOn();
  return attention.load(std::memory_order_relaxed) > 0;
}

/// Makes progress on all operations of this rank. Returns at once if another thread is doing so.
void advance() TORC_EXCLUDES(engine_lock);

/// Between two polls without progress: yields the core if that helps.
void rest(Backoff& backoff);

/// Whether the host has more ranks than cores: waiting calls yield at once.
inline std::atomic<bool> oversubscribed{false};

/// MPI_Wait with progress. `started` is the result of the call that made the request; an error is
/// returned at once.
int waitFor(int started, MPI_Request* request, MPI_Status* status = MPI_STATUS_IGNORE)
    TORC_EXCLUDES(engine_lock);

/// Calls look() -> bool until it returns true, with progress.
template <typename Look>
void progressUntil(Look look) TORC_EXCLUDES(engine_lock) {
  for (Backoff backoff; !look(); rest(backoff))
    advance();
}

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_PROCESS_PROGRESS_H_
