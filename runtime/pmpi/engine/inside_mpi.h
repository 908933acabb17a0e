// A call that waits inside MPI, where torc itself makes no progress. The call is made as the
// program made it, so that its errors come from MPI itself, and operations still progress.
//
// Meanwhile MPI makes the progress, in the waiting thread, or the progress thread does
// (progress_thread.h), while an operation is under way or may be started by another thread. If some
// rank has neither, as all ranks know, the ranks of a collective call first meet: a barrier with
// progress, so that none waits long inside MPI. The same holds before MPI creates a communicator: a
// rank that still waits for an operation of torc elsewhere would never arrive there.
#ifndef TORC_RUNTIME_PMPI_ENGINE_INSIDE_MPI_H_
#define TORC_RUNTIME_PMPI_ENGINE_INSIDE_MPI_H_

#include <atomic>

#include <mpi.h>

#include "runtime/non_copyable.h"
#include "runtime/pmpi/process/progress.h"

namespace torc::runtime::pmpi {

/// Whether MPI calls torc's progress during its waits. Set before torc starts.
inline std::atomic<bool> mpi_looks{false};

/// Whether ranks meet before collective calls that wait inside MPI. The same on all ranks.
inline std::atomic<bool> meets_before_calls{false};
inline bool mustMeet() {
  return meets_before_calls.load(std::memory_order_relaxed) && intercepts();
}

class InsideMpi : NonCopyable {
 public:
  /// `ranks`: communicator whose ranks all make the call; MPI_COMM_NULL: unknown.
  explicit InsideMpi(MPI_Comm ranks = MPI_COMM_NULL) {
    if (mustProgress() || meets_before_calls.load(std::memory_order_relaxed)) enter(ranks);
  }
  /// The program's error handler may leave the call by longjmp, which skips this destructor: the
  /// thread's next call finds the mark.
  ~InsideMpi() {
    if (is_watched_) leave();
  }

  /// Whether operations progress now without this thread. Otherwise, if something is under way, the
  /// caller must poll.
  bool isWatched() const { return is_watched_; }

 private:
  void enter(MPI_Comm ranks);
  void leave();

  /// Whether this thread counts among `threads_inside`. At the start of a call it is true if
  /// longjmp has left the previous one. It is also true if MPI has called the program's error
  /// handler or operation, which makes this call. (The linker gold misplaces such variables if they
  /// are local to a source file.)
  [[gnu::tls_model("initial-exec")]] static inline thread_local bool is_counted_ = false;

  bool is_watched_ = false;
};

/// All ranks of `comm`, an intra- or intercommunicator. No-op for MPI_COMM_NULL.
void meet(MPI_Comm comm) TORC_EXCLUDES(engine_lock);

/// All ranks of a group that contains the caller; `tag` separates meetings of several threads.
/// No-op if some members are outside of MPI_COMM_WORLD.
void meetGroup(MPI_Group group, int tag) TORC_EXCLUDES(engine_lock);

/// The two groups of a future intercommunicator: `local`, and the remote leader's rank in `peers`,
/// which is significant at the local leader only.
void meetLeaders(MPI_Comm local, int local_leader, MPI_Comm peers, int remote_leader, int tag)
    TORC_EXCLUDES(engine_lock);

/// Before a call of all ranks of a window or a file: the ranks meet, if they must.
void meetWindow(const MPI_Win* window);
void meetFile(const MPI_File* file);

/// Whether operations can progress while the program waits inside MPI.
bool canWatch();

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_ENGINE_INSIDE_MPI_H_
