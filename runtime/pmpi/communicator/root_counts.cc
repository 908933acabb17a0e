// Root counts: the tree. The parent of place p, counted from the root, is p without its lowest bit;
// its children are p + 2^k for all 2^k below that bit.
#include "runtime/pmpi/communicator/root_counts.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "runtime/transport/left_to_mpi.h"
#include "runtime/transport/mpi_status.h"
#include "support/message.h"

namespace torc::runtime::pmpi {
namespace {

constexpr std::size_t kWordBytes = sizeof(std::uint64_t);

}  // namespace

int RootCounts::depth(int ranks) {
  return std::bit_width(static_cast<unsigned>(ranks) - 1);
}

RootCounts::RootCounts(torc_geometry& geometry, const TagRange& tags, int root)
    : geometry_(geometry),
      tags_(tags),
      root_(root),
      place_((geometry.rank - root + geometry.size) % geometry.size),
      messages_(new Messages) {
  messages_->words.resize(static_cast<std::size_t>(geometry.size) + 1);
  messages_->requests.reserve(static_cast<std::size_t>(depth(geometry.size)) + 1);
}

RootCounts::~RootCounts() {
  bool is_mpis = false;
  for (MPI_Request& request : messages_->requests) {
    if (request == MPI_REQUEST_NULL) continue;
    is_mpis = true;
    PMPI_Cancel(&request);
    PMPI_Request_free(&request);
  }
  if (is_mpis) leaveToMpi(std::move(messages_));
}

void RootCounts::tell(std::uint64_t total, std::span<const std::uint64_t> counts) {
  messages_->words.front() = total;
  std::ranges::copy(counts, messages_->words.begin() + 1);
  messages_->length = counts.size() + 1;
}

StatusOr<bool> RootCounts::advance() {
  constexpr const char* kWhat = "the root's counts";
  std::vector<MPI_Request>& requests = messages_->requests;
  int code = MPI_SUCCESS;
  if (messages_->length == 0 && requests.empty()) code = receive();
  if (code == MPI_SUCCESS && messages_->length == 0) {
    int done = 0, bytes = 0;
    MPI_Status status;
    code = PMPI_Test(&requests.front(), &done, &status);
    if (code == MPI_SUCCESS && !done) return false;
    if (code == MPI_SUCCESS) code = PMPI_Get_count(&status, MPI_BYTE, &bytes);
    if (code == MPI_SUCCESS) {
      requests.clear();
      const std::size_t words = static_cast<std::size_t>(bytes) / kWordBytes;
      const bool is_whole = words == 1 || words == messages_->words.size();
      if (!is_whole || static_cast<std::size_t>(bytes) != words * kWordBytes) {
        return Status(StatusCode::kTruncated,
                      message(kWhat, " come in ", bytes, " bytes: the ranks' calls differ"));
      }
      messages_->length = words;
    }
  }
  if (code == MPI_SUCCESS && !is_sent_) code = sendOn();
  if (code != MPI_SUCCESS) return mpiStatus(code, kWhat);
  int done = 0;
  code =
      PMPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE);
  if (code != MPI_SUCCESS) return mpiStatus(code, kWhat);
  return done != 0;
}

/// From the parent, as many words as may come.
int RootCounts::receive() {
  messages_->requests.push_back(MPI_REQUEST_NULL);
  return PMPI_Irecv(messages_->words.data(), static_cast<int>(messages_->words.size() * kWordBytes),
                    MPI_BYTE, rankOf(place_ & (place_ - 1)), tags_.base, geometry_.comm,
                    &messages_->requests.back());
}

/// To the children, of which the one with most places behind it is first.
int RootCounts::sendOn() {
  is_sent_ = true;
  const int end = place_ == 0 ? 1 << depth(geometry_.size) : place_ & -place_;
  for (int step = end / 2; step > 0; step /= 2) {
    if (place_ + step >= geometry_.size) continue;
    messages_->requests.push_back(MPI_REQUEST_NULL);
    const int code = PMPI_Isend(
        messages_->words.data(), static_cast<int>(messages_->length * kWordBytes), MPI_BYTE,
        rankOf(place_ + step), tags_.base, geometry_.comm, &messages_->requests.back());
    if (code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

}  // namespace torc::runtime::pmpi
