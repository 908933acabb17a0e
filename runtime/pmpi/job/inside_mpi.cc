// A call that waits inside MPI: marks, and meetings.
#include "runtime/pmpi/job/inside_mpi.h"

#include "runtime/pmpi/communicators/meeting.h"
#include "runtime/pmpi/job/progress_thread.h"

namespace torc::pmpi {
namespace {

/// Whether this thread counts among `threads_inside`. True at the start of a call: the one before
/// was left by longjmp, or this one is made by an error handler or an operation of the program's
/// that MPI calls.
[[gnu::tls_model("initial-exec")]] thread_local bool is_inside = false;

}  // namespace

bool canWatch() {
  return mpi_looks.load(std::memory_order_relaxed) ||
         thread_use.load(std::memory_order_relaxed) != ThreadUse::kNever;
}

void InsideMpi::enter(MPI_Comm ranks) {
  if (inside_torc) return;
  if (meets_before_calls.load(std::memory_order_relaxed)) meet(ranks);
  if (!mustProgress()) return;
  if (underWay() > 0) advance();
  is_watched_ = canWatch();
  if (!is_watched_ || mpi_looks.load(std::memory_order_relaxed)) return;
  if (!is_inside) {
    is_inside = true;
    threads_inside.fetch_add(1);
  }
  if (underWay() == 0 || wakeProgressThread()) return;
  is_watched_ = false;
  leave();
}

void InsideMpi::leave() {
  if (!is_inside) return;
  is_inside = false;
  threads_inside.fetch_sub(1);
}

}  // namespace torc::pmpi
