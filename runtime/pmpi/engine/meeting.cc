// Meetings: barriers with progress before communicators are created.
#include "runtime/pmpi/engine/meeting.h"

#include "runtime/pmpi/engine/engine.h"
#include "runtime/pmpi/engine/stall.h"
#include "runtime/transport/mpi_status.h"

namespace torc::runtime::pmpi {
namespace {

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

}  // namespace torc::runtime::pmpi
