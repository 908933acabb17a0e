// InsideMpi: marks of threads in calls that wait inside MPI, and meetings before such calls.
#include "runtime/pmpi/engine/inside_mpi.h"

#include "runtime/pmpi/engine/meeting.h"
#include "runtime/pmpi/engine/progress_thread.h"

namespace torc::runtime::pmpi {
namespace {

// MPI guarantees tags up to 32767.
constexpr int kMeetingTag = 32766;

bool mustMeet() {
  return meets_before_calls.load(std::memory_order_relaxed) && !inside_torc;
}

template <typename Handle>
void meet(const Handle* handle, Handle null, int (*group_of)(Handle, MPI_Group*)) {
  MPI_Group group = MPI_GROUP_NULL;
  if (!mustMeet() || handle == nullptr || *handle == null) return;
  if (group_of(*handle, &group) != MPI_SUCCESS) return;
  meetGroup(group, kMeetingTag);
  PMPI_Group_free(&group);
}

}  // namespace

void meetWindow(const MPI_Win* window) {
  meet(window, MPI_WIN_NULL, PMPI_Win_get_group);
}

void meetFile(const MPI_File* file) {
  meet(file, MPI_FILE_NULL, PMPI_File_get_group);
}

bool canWatch() {
  return mpi_looks.load(std::memory_order_relaxed) ||
         thread_use.load(std::memory_order_relaxed) != ThreadUse::kNever;
}

void InsideMpi::enter(MPI_Comm ranks) {
  if (inside_torc) return;
  if (meets_before_calls.load(std::memory_order_relaxed)) meet(ranks);
  if (attention.load(std::memory_order_relaxed) <= 0) return;
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

}  // namespace torc::runtime::pmpi
