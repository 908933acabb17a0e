#include "runtime/service/service_collective.h"

#include <algorithm>
#include <bit>

#include "runtime/transport/left_to_mpi.h"
#include "runtime/transport/mpi_status.h"
#include "runtime/transport/smpi.h"
#include "support/backoff.h"

namespace torc::runtime {

void ServiceCollective::begin(const char* call, std::span<const std::uint64_t> words) {
  call_ = call;
  count_ = words.size();
  std::ranges::copy(words, words_.begin());
  rounds_ = 0;
}

void ServiceCollective::allreduce(MPI_Comm comm, std::span<const std::uint64_t> words, MPI_Op op) {
  begin("MPI_Iallreduce", words);
  // MPI_MAX of MPICH 4.0.2 treats MPI_UINT64_T as signed; other MPIs do not.
  code_ = startAllreduce(&requests_[0], MPI_IN_PLACE, words_.data(), static_cast<int>(count_),
                         op == MPI_MAX ? MPI_INT64_T : MPI_UINT64_T, op, comm);
}

void ServiceCollective::broadcast(MPI_Comm comm, void* data, std::size_t bytes, int root) {
  begin("MPI_Ibcast");
  code_ = startBroadcast(&requests_[0], data, static_cast<int>(bytes), MPI_BYTE, root, comm);
}

void ServiceCollective::broadcastText(MPI_Comm comm, std::span<const char> text, int root) {
  words_ = {};
  std::ranges::copy(text.first(std::min(text.size(), kTextBytes - 1)),
                    reinterpret_cast<char*>(words_.data()));
  broadcast(comm, words_.data(), kTextBytes, root);
}

void ServiceCollective::allgather(MPI_Comm comm, const void* mine, void* all, std::size_t bytes) {
  begin("MPI_Iallgather");
  code_ = startAllgather(&requests_[0], mine, static_cast<int>(bytes), MPI_BYTE, all,
                         static_cast<int>(bytes), MPI_BYTE, comm);
}

void ServiceCollective::barrier(MPI_Comm comm) {
  begin("MPI_Ibarrier");
  code_ = startBarrier(&requests_[0], comm);
}

void ServiceCollective::disseminate(MPI_Comm comm, int tag, int rank, int size,
                                    std::span<const std::uint64_t> words, MPI_Group members,
                                    MPI_Group of_comm) {
  begin("a message between ranks that agree", words);
  comm_ = comm;
  tag_ = tag;
  round_ = 0;
  rounds_ = std::bit_width(static_cast<unsigned>(size) - 1);
  for (int round = 0; round < rounds_; ++round) {
    const int distance = 1 << round;
    peers_[2 * round] = static_cast<int>((std::int64_t{rank} + distance) % size);
    peers_[2 * round + 1] = (rank - distance + size) % size;
  }
  code_ = MPI_SUCCESS;
  if (members != MPI_GROUP_NULL) {
    const std::array<int, 2 * kMostRounds> numbers = peers_;
    code_ =
        PMPI_Group_translate_ranks(members, 2 * rounds_, numbers.data(), of_comm, peers_.data());
  }
  if (code_ == MPI_SUCCESS && rounds_ > 0) code_ = exchange();
}

/// Starts a round of dissemination.
int ServiceCollective::exchange() {
  const int bytes = static_cast<int>(count_ * sizeof(std::uint64_t));
  const int code = PMPI_Irecv(words_.data() + kMostWords, bytes, MPI_BYTE, peers_[2 * round_ + 1],
                              tag_, comm_, &requests_[0]);
  if (code != MPI_SUCCESS) return code;
  return PMPI_Isend(words_.data(), bytes, MPI_BYTE, peers_[2 * round_], tag_, comm_, &requests_[1]);
}

bool ServiceCollective::advance() {
  while (code_ == MPI_SUCCESS && isUnderWay()) {
    int done = 1;
    code_ = kSimulated ? PMPI_Waitall(2, requests_, MPI_STATUSES_IGNORE)
                       : PMPI_Testall(2, requests_, &done, MPI_STATUSES_IGNORE);
    if (code_ != MPI_SUCCESS) break;
    if (!done) return false;
    if (rounds_ == 0) break;
    for (std::size_t i = 0; i < count_; ++i)
      words_[i] |= words_[kMostWords + i];
    if (++round_ < rounds_) code_ = exchange();
  }
  return true;
}

Status ServiceCollective::status() const {
  return mpiStatus(code_, call_);
}

Status ServiceCollective::wait(const std::function<void()>& meanwhile) {
  for (Backoff backoff; !advance(); backoff.afterLook()) {
    if (meanwhile) meanwhile();
  }
  return status();
}

bool ServiceCollective::isUnderWay() const {
  return requests_[0] != MPI_REQUEST_NULL || requests_[1] != MPI_REQUEST_NULL;
}

void ServiceCollective::cancel() noexcept {
  is_cancelled_ |= isUnderWay();
  for (MPI_Request& request : requests_) {
    // MPI's nonblocking collectives cannot be cancelled.
    if (request != MPI_REQUEST_NULL && rounds_ > 0) {
      PMPI_Cancel(&request);
      PMPI_Request_free(&request);
    }
    request = MPI_REQUEST_NULL;
  }
}

void ServiceCollective::Deleter::operator()(ServiceCollective* collective) const noexcept {
  collective->cancel();
  if (collective->isCancelled()) {
    leaveToMpi(collective);
  } else {
    delete collective;
  }
}

}  // namespace torc::runtime
