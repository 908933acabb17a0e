// Meetings before communicators are created.
#include "runtime/pmpi/engine/meeting.h"

#include <numeric>
#include <vector>

#include "runtime/pmpi/engine/engine.h"
#include "runtime/pmpi/engine/stall.h"
#include "runtime/pmpi/process/progress.h"
#include "runtime/transport/mpi_status.h"

namespace torc::runtime::pmpi {
namespace {

/// Ranks in MPI_COMM_WORLD; empty where one has none.
std::vector<int> worldRanks(MPI_Group group, int first, int count) {
  std::vector<int> ranks(static_cast<std::size_t>(count)), there(ranks.size());
  std::iota(ranks.begin(), ranks.end(), first);
  PMPI_Group_translate_ranks(group, count, ranks.data(), engine->library->world, there.data());
  for (const int rank : there) {
    if (rank == MPI_UNDEFINED) return {};
  }
  return there;
}

/// Told of, when it lasts; but not in MPI_Finalize, which other ranks may come to much later.
void await(int started, MPI_Request* request) {
  int code = started, done = 0;
  StallTimer stall;
  progressUntil([&] {
    if (code == MPI_SUCCESS) code = PMPI_Test(request, &done, MPI_STATUS_IGNORE);
    if (torc_is_on.load() && stall.isOver()) {
      EngineLock lock;
      if (!engine->is_ending) {
        tellOfStall("ranks meet before a call of MPI that they make together",
                    "it waits for the others to come to that call");
      }
    }
    return done || code != MPI_SUCCESS;
  });
}

/// A message without content to one world rank, and one from another.
void exchange(int to, int from, int program_tag) {
  if (engine->meetings == MPI_COMM_NULL) return;  // given up: nothing is under way anywhere
  // The upper half is for duplicates that are made, the highest tag that of notices.
  const int tag = program_tag % (highestTag(engine->meetings) / 2);
  MPI_Request receive = MPI_REQUEST_NULL, send = MPI_REQUEST_NULL;
  const int posted = PMPI_Irecv(nullptr, 0, MPI_BYTE, from, tag, engine->meetings, &receive);
  const int sent = PMPI_Isend(nullptr, 0, MPI_BYTE, to, tag, engine->meetings, &send);
  await(sent, &send);
  await(posted, &receive);
}

}  // namespace

void meet(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL) return;
  MPI_Request request = MPI_REQUEST_NULL;
  await(PMPI_Ibarrier(comm, &request), &request);
}

void meetGroup(MPI_Group group, int tag) {
  int rank = MPI_UNDEFINED, size = 0;
  if (group == MPI_GROUP_NULL) return;  // MPI says so, once
  PMPI_Group_rank(group, &rank);
  PMPI_Group_size(group, &size);
  if (rank == MPI_UNDEFINED || tag < 0) return;  // MPI says what is wrong
  const std::vector<int> ranks = worldRanks(group, 0, size);
  if (ranks.empty()) return;
  // Dissemination barrier: after step k each has heard of the 2^(k+1) - 1 before it.
  for (long step = 1; step < size; step *= 2)
    exchange(ranks[(rank + step) % size], ranks[(rank - step + size) % size], tag);
}

void meetLeaders(MPI_Comm local, int local_leader, MPI_Comm peers, int remote_leader, int tag) {
  if (local == MPI_COMM_NULL) return;
  int rank = 0;
  PMPI_Comm_rank(local, &rank);
  if (rank == local_leader && peers != MPI_COMM_NULL && tag >= 0) {
    MPI_Group group = MPI_GROUP_NULL;
    int inter = 0, size = 0;
    PMPI_Comm_test_inter(peers, &inter);
    if (inter) {
      PMPI_Comm_remote_group(peers, &group);
    } else {
      PMPI_Comm_group(peers, &group);
    }
    PMPI_Group_size(group, &size);
    if (remote_leader >= 0 && remote_leader < size) {
      const std::vector<int> other = worldRanks(group, remote_leader, 1);
      if (!other.empty()) exchange(other[0], other[0], tag);
    }
    PMPI_Group_free(&group);
  }
  meet(local);
}

}  // namespace torc::runtime::pmpi
