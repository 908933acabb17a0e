// Tag vote: its steps.
#include "runtime/pmpi/communicator/tag_vote.h"

#include <bit>
#include <cstddef>
#include <utility>

#include "runtime/transport/left_to_mpi.h"
#include "runtime/transport/mpi_status.h"

namespace torc::runtime::pmpi {

std::uint32_t TagVote::tagCount(int ranks) {
  return static_cast<std::uint32_t>(std::bit_width(static_cast<unsigned>(ranks) - 1));
}

TagVote::TagVote(torc_geometry& geometry, const TagRange& tags, std::uint64_t signature,
                 bool has_memory)
    : geometry_(geometry),
      tags_(tags),
      ballots_(
          new Ballots{.mine = {geometry.takenTags(), signature, ~signature, has_memory ? 0u : 1u},
                      .arriving = {}}) {}

TagVote::~TagVote() {
  bool is_mpis = false;
  for (MPI_Request& request : requests_) {
    if (request == MPI_REQUEST_NULL) continue;
    is_mpis = true;
    PMPI_Cancel(&request);
    PMPI_Request_free(&request);
  }
  if (is_mpis) leaveToMpi(std::move(ballots_));
}

StatusOr<bool> TagVote::advance() {
  const bool is_waiting = requests_[0] != MPI_REQUEST_NULL || requests_[1] != MPI_REQUEST_NULL;
  if (!is_waiting && step_ < tags_.count) {
    if (const int code = exchange(); code != MPI_SUCCESS)
      return mpiStatus(code, "a vote on tags and memory");
  }
  while (step_ < tags_.count) {
    int done = 0;
    int code = PMPI_Testall(2, requests_, &done, MPI_STATUSES_IGNORE);
    if (code == MPI_SUCCESS && !done) return false;
    if (code == MPI_SUCCESS) {
      merge();
      if (++step_ < tags_.count) code = exchange();
    }
    if (code != MPI_SUCCESS) return mpiStatus(code, "a vote on tags and memory");
  }
  return true;
}

/// Begins a step.
int TagVote::exchange() {
  const int distance = 1 << step_, rank = geometry_.rank, size = geometry_.size;
  const int tag = tags_.base + static_cast<int>(step_);
  const int code = PMPI_Irecv(&ballots_->arriving, sizeof(Ballot), MPI_BYTE,
                              (rank + size - distance) % size, tag, geometry_.comm, &requests_[0]);
  if (code != MPI_SUCCESS) return code;
  return PMPI_Isend(&ballots_->mine, sizeof(Ballot), MPI_BYTE, (rank + distance) % size, tag,
                    geometry_.comm, &requests_[1]);
}

void TagVote::merge() {
  Ballot& mine = ballots_->mine;
  const Ballot& arrived = ballots_->arriving;
  for (std::size_t i = 0; i < mine.taken.size(); ++i)
    mine.taken[i] |= arrived.taken[i];
  mine.signature |= arrived.signature;
  mine.complement |= arrived.complement;
  mine.without_memory |= arrived.without_memory;
}

}  // namespace torc::runtime::pmpi
