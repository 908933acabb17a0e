// Root counts: the tree, and the rounds. The parent of place p, counted from the root, is p without
// its lowest bit; its children are p + 2^k for all 2^k below that bit.
#include "runtime/pmpi/communicator/root_counts.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "runtime/transport/left_to_mpi.h"
#include "runtime/transport/mpi_status.h"
#include "support/message.h"

namespace torc::runtime::pmpi {
namespace {

constexpr std::size_t kWordBytes = sizeof(std::uint64_t);
constexpr const char* kWhat = "the counts of all ranks";

}  // namespace

int RootCounts::depth(int ranks) {
  return std::bit_width(static_cast<unsigned>(ranks) - 1);
}

RootCounts::RootCounts(torc_geometry& geometry, const TagRange& tags, int root, bool gathers)
    : geometry_(geometry),
      tags_(tags),
      root_(root),
      place_((geometry.rank - root + geometry.size) % geometry.size),
      gathers_(gathers),
      messages_(new Messages) {
  messages_->words.resize(static_cast<std::size_t>(geometry.size) + 1);
  messages_->requests.reserve(static_cast<std::size_t>(depth(geometry.size)) + 2);
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

void RootCounts::tellOwn(std::uint64_t bytes) {
  messages_->words[1] = bytes;
  messages_->length = 2;
}

void RootCounts::tell(std::uint64_t total, std::span<const std::uint64_t> counts) {
  messages_->words.front() = total;
  std::ranges::copy(counts, messages_->words.begin() + 1);
  messages_->length = counts.size() + 1;
}

StatusOr<bool> RootCounts::advance() {
  if (gathers_) return gather();
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

/// Each rank has counts of the ranks from itself on, in the end of all.
StatusOr<bool> RootCounts::gather() {
  Messages& messages = *messages_;
  const auto size = static_cast<std::size_t>(geometry_.size);
  for (;;) {
    int done = 0, code = PMPI_Testall(static_cast<int>(messages.requests.size()),
                                      messages.requests.data(), &done, MPI_STATUSES_IGNORE);
    if (code != MPI_SUCCESS) return mpiStatus(code, kWhat);
    if (!done) return false;
    const std::size_t known =
        messages.requests.empty() ? 1 : std::min(2 * (messages.length - 1), size);
    messages.requests.clear();
    messages.length = known + 1;
    if (known == size) break;
    const std::size_t some = std::min(known, size - known);
    const int step = static_cast<int>(known);
    code = start(false, &messages.words[1 + known], some, (geometry_.rank + step) % geometry_.size);
    if (code == MPI_SUCCESS) {
      code = start(true, &messages.words[1], some,
                   (geometry_.rank - step + geometry_.size) % geometry_.size);
    }
    if (code != MPI_SUCCESS) return mpiStatus(code, kWhat);
  }
  const auto counts = messages.words.begin() + 1;
  std::rotate(counts, messages.words.end() - geometry_.rank, messages.words.end());
  messages.words.front() = std::reduce(counts, messages.words.end());
  return true;
}

int RootCounts::start(bool sends, std::uint64_t* words, std::size_t count, int rank) {
  messages_->requests.push_back(MPI_REQUEST_NULL);
  MPI_Request* const request = &messages_->requests.back();
  const int bytes = static_cast<int>(count * kWordBytes);
  return sends ? PMPI_Isend(words, bytes, MPI_BYTE, rank, tags_.base, geometry_.comm, request)
               : PMPI_Irecv(words, bytes, MPI_BYTE, rank, tags_.base, geometry_.comm, request);
}

/// From the parent, as many words as may come.
int RootCounts::receive() {
  return start(false, messages_->words.data(), messages_->words.size(),
               rankOf(place_ & (place_ - 1)));
}

/// To the children, of which the one with most places behind it is first.
int RootCounts::sendOn() {
  is_sent_ = true;
  const int end = place_ == 0 ? 1 << depth(geometry_.size) : place_ & -place_;
  for (int step = end / 2; step > 0; step /= 2) {
    if (place_ + step >= geometry_.size) continue;
    const int code = start(true, messages_->words.data(), messages_->length, rankOf(place_ + step));
    if (code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

}  // namespace torc::runtime::pmpi
