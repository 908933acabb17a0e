// A call that waits inside MPI: marks, and meetings.
#include "runtime/pmpi/job/inside_mpi.h"

#include "runtime/pmpi/communicators/meeting.h"
#include "runtime/pmpi/job/progress_thread.h"

namespace torc::pmpi {

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
  if (!is_counted_) {
    is_counted_ = true;
    threads_inside.fetch_add(1);
  }
  if (underWay() == 0 || wakeProgressThread()) return;
  is_watched_ = false;
  leave();
}

void InsideMpi::leave() {
  if (!is_counted_) return;
  is_counted_ = false;
  threads_inside.fetch_sub(1);
}

}  // namespace torc::pmpi
