// Marks of threads in calls that wait inside MPI, and meetings before such calls.
#include "runtime/pmpi/engine/inside_mpi.h"

#include "runtime/pmpi/engine/engine.h"
#include "runtime/pmpi/engine/progress_thread.h"
#include "runtime/pmpi/engine/stall.h"
#include "runtime/transport/mpi_status.h"

namespace torc::runtime::pmpi {
namespace {

// MPI guarantees tags up to 32767.
constexpr int kMeetingTag = 32766;

template <typename Handle>
void meet(const Handle* handle, Handle null, int (*group_of)(Handle, MPI_Group*)) {
  MPI_Group group = MPI_GROUP_NULL;
  if (!mustMeet() || handle == nullptr || *handle == null) return;
  if (group_of(*handle, &group) != MPI_SUCCESS) return;
  meetGroup(group, kMeetingTag);
  PMPI_Group_free(&group);
}

/// A long wait is reported; but not in MPI_Finalize, which other ranks may enter much later.
void waitForAll(ServiceCollective& barrier) {
  static_cast<void>(await(barrier, [] {
    if (!torc_is_on.load()) return;
    EngineLock lock;
    if (engine->is_ending) return;
    tellOfStall("ranks meet before a call of MPI that they make together",
                "it waits for the others to come to that call");
  }));
}

/// Whether all members are ranks of MPI_COMM_WORLD.
bool isInWorld(MPI_Group group) {
  MPI_Group others = MPI_GROUP_NULL;
  int count = 1;
  PMPI_Group_difference(group, engine->library->world, &others);
  PMPI_Group_size(others, &count);
  if (others != MPI_GROUP_EMPTY) PMPI_Group_free(&others);
  return count == 0;
}

}  // namespace

void meet(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL) return;
  ServiceCollective barrier;
  barrier.barrier(comm);
  waitForAll(barrier);
}

void meetGroup(MPI_Group group, int tag) {
  int rank = MPI_UNDEFINED, size = 0;
  if (group == MPI_GROUP_NULL) return;  // MPI reports the error, once
  PMPI_Group_rank(group, &rank);
  PMPI_Group_size(group, &size);
  if (rank == MPI_UNDEFINED || tag < 0) return;   // MPI reports the error
  if (engine->meetings == MPI_COMM_NULL) return;  // freed: no operation is under way on any rank
  if (!isInWorld(group)) return;
  ServiceCollective barrier;
  // The upper half is for the creation of duplicates, and the highest tag for notices.
  barrier.disseminate(engine->meetings, tag % (highestTag(engine->meetings) / 2), rank, size, {},
                      group, engine->library->world);
  waitForAll(barrier);
}

void meetLeaders(MPI_Comm local, int local_leader, MPI_Comm peers, int remote_leader, int tag) {
  if (local == MPI_COMM_NULL) return;
  if (commRank(local) == local_leader && peers != MPI_COMM_NULL && tag >= 0) {
    MPI_Group group = MPI_GROUP_NULL, leaders = MPI_GROUP_NULL;
    int inter = 0, size = 0;
    PMPI_Comm_test_inter(peers, &inter);
    if (inter) {
      PMPI_Comm_remote_group(peers, &group);
    } else {
      PMPI_Comm_group(peers, &group);
    }
    PMPI_Group_size(group, &size);
    if (remote_leader >= 0 && remote_leader < size) {
      int ranks[] = {engine->world_rank, MPI_UNDEFINED};
      PMPI_Group_translate_ranks(group, 1, &remote_leader, engine->library->world, &ranks[1]);
      if (ranks[1] != MPI_UNDEFINED) {
        PMPI_Group_incl(engine->library->world, 2, ranks, &leaders);
        meetGroup(leaders, tag);
        PMPI_Group_free(&leaders);
      }
    }
    PMPI_Group_free(&group);
  }
  meet(local);
}

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
