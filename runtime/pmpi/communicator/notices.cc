// Notices: send and receive.
#include "runtime/pmpi/communicator/notices.h"

#include "runtime/transport/left_to_mpi.h"
#include "runtime/transport/mpi_status.h"

namespace torc::runtime::pmpi {

void Notices::open(MPI_Comm comm) {
  comm_ = comm;
  tag_ = highestTag(comm);
  is_open_ = true;
}

void Notices::close() {
  Notice ignored;
  while (receive(ignored)) {
  }
  for (Sent& sent : sent_) {
    int done = 0;
    PMPI_Test(&sent.request, &done, MPI_STATUS_IGNORE);
    // MPI may still read messages that it has not sent yet.
    if (!done) leaveToMpi(std::move(sent.notice));
  }
  sent_.clear();
  comm_ = MPI_COMM_NULL;
}

void Notices::send(int world_rank, const Notice& notice) {
  if (!is_open_) return;
  // Not before each: a notice to all ranks would otherwise test as many messages for each one.
  if (sent_.size() >= looks_at_) {
    std::erase_if(sent_, [](Sent& sent) {
      int done = 0;
      return PMPI_Test(&sent.request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done;
    });
    looks_at_ = 2 * sent_.size() + kLeastKept;
  }
  sent_.push_back({MPI_REQUEST_NULL, std::make_unique<Notice>(notice)});
  const int code = PMPI_Isend(sent_.back().notice.get(), sizeof(Notice), MPI_BYTE, world_rank, tag_,
                              comm_, &sent_.back().request);
  if (code != MPI_SUCCESS) sent_.pop_back();
}

bool Notices::receive(Notice& notice) {
  if (comm_ == MPI_COMM_NULL) return false;
  int found = 0;
  MPI_Status status;
  if (PMPI_Iprobe(MPI_ANY_SOURCE, tag_, comm_, &found, &status) != MPI_SUCCESS || !found) {
    return false;
  }
  const int code = PMPI_Recv(&notice, sizeof(Notice), MPI_BYTE, status.MPI_SOURCE, tag_, comm_,
                             MPI_STATUS_IGNORE);
  notice.text[Notice::kTextBytes - 1] = '\0';
  return code == MPI_SUCCESS;
}

}  // namespace torc::runtime::pmpi
