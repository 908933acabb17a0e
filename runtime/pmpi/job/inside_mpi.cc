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
  return thread_use.load(std::memory_order_relaxed) != ThreadUse::kNever;
}

void InsideMpi::enter(MPI_Comm ranks) {
  if (inside_torc) return;
  if (meets_before_calls.load(std::memory_order_relaxed)) meet(ranks);
  if (!mustProgress()) return;
  advance();
  if (!canWatch()) return;
  is_marked_ = true;
  if (!is_inside) {
    is_inside = true;
    threads_inside.fetch_add(1);
  }
  if (underWay() == 0 || wakeProgressThread()) return;
  is_marked_ = false;
  leave();
}

void InsideMpi::leave() {
  if (!is_inside) return;
  is_inside = false;
  threads_inside.fetch_sub(1);
}

}  // namespace torc::pmpi
