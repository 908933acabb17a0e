// A call that waits inside MPI, where torc cannot look after its operations: it is made as the
// program made it, so that its errors are MPI's own, and operations go on all the same.
//
// Whoever looks after them then: MPI itself, in the thread that waits
// (runtime/pmpi/process/progress_hook.h), or the progress thread (progress_thread.h), while one is
// under way on the rank, or threads of the program may start one. Where neither can be on some
// rank, which all know, collective calls are preceded by a meeting of their ranks, with progress,
// so that none waits long inside MPI.
#ifndef TORC_RUNTIME_PMPI_ENGINE_INSIDE_MPI_H_
#define TORC_RUNTIME_PMPI_ENGINE_INSIDE_MPI_H_

#include <atomic>

#include <mpi.h>

#include "runtime/pmpi/process/progress.h"

namespace torc::runtime::pmpi {

/// Whether MPI looks after operations while it waits. Set before torc is on.
inline std::atomic<bool> mpi_looks{false};

/// Whether ranks meet before collective calls that wait inside MPI. The same on all ranks.
inline std::atomic<bool> meets_before_calls{false};

class InsideMpi {
 public:
  /// `ranks`: of whom all make the call; MPI_COMM_NULL: not known.
  explicit InsideMpi(MPI_Comm ranks = MPI_COMM_NULL) {
    if (mustProgress() || meets_before_calls.load(std::memory_order_relaxed)) enter(ranks);
  }
  /// An error handler of the program's may leave the call by longjmp, and this is not run: the
  /// thread's next call finds its mark.
  ~InsideMpi() {
    if (is_watched_) leave();
  }
  InsideMpi(const InsideMpi&) = delete;
  InsideMpi& operator=(const InsideMpi&) = delete;

  /// Whether operations are looked after now. Else, where something is under way, only a caller
  /// that looks itself makes progress.
  bool isWatched() const { return is_watched_; }

 private:
  void enter(MPI_Comm ranks);
  void leave();

  /// Whether this thread counts among `threads_inside`. True at the start of a call: the one before
  /// was left by longjmp, or this one is made by an error handler or an operation of the program's
  /// that MPI calls. (gold mistakes the places of such
  /// variables where they are local to a source file.)
  [[gnu::tls_model("initial-exec")]] static inline thread_local bool is_counted_ = false;

  bool is_watched_ = false;
};

/// Before a call that all ranks of a window or a file make: they meet, where they must.
void meetWindow(const MPI_Win* window);
void meetFile(const MPI_File* file);

/// Whether operations can be looked after while the program waits inside MPI.
bool canWatch();

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_ENGINE_INSIDE_MPI_H_
