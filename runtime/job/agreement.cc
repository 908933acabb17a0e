// Agreement by one reduction of words with MPI's own operations: what a rank would have to make for
// it, it might fail to make, and the others would wait. The text of an error travels only when
// there is one.
#include "runtime/job/agreement.h"

#include <algorithm>
#include <climits>
#include <cstring>
#include <string>

#include "runtime/transport/mpi_status.h"
#include "runtime/transport/smpi.h"
#include "support/message.h"

namespace torc::runtime {
namespace {

constexpr int kTextBytes = 768;

/// The lower a rank is, the larger; never 0. Of 31 bits: MPICH 4.0.2's MPI_MAX takes words of type
/// MPI_UINT64_T for signed ones.
std::uint64_t precedence(int rank) {
  return static_cast<std::uint64_t>(INT_MAX - rank);
}

int rankOf(std::uint64_t precedence) {
  return INT_MAX - static_cast<int>(precedence);
}

}  // namespace

void Agreement::open(torc_context* context, MPI_Comm comm) {
  context_ = context;
  comm_ = comm;
  PMPI_Comm_rank(comm, &rank_);
  PMPI_Comm_size(comm, &size_);
}

/// Collective: into `words` on all ranks.
Status Agreement::combine(std::span<std::uint64_t> words, MPI_Op op) {
  std::array<std::uint64_t, kTagSlots / 64> mine{};
  std::ranges::copy(words, mine.begin());
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = startAllreduce(mine.data(), words.data(), static_cast<int>(words.size()),
                                  MPI_UINT64_T, op, comm_, &request);
  if (code != MPI_SUCCESS) return mpiStatus(code, "MPI_Iallreduce");
  return context_->waitFor(&request, "MPI_Iallreduce");
}

Status Agreement::agree(const Status& mine, std::span<const AgreedField> fields, TagMap* taken) {
  // The largest of each counts: of the lowest rank that failed, with its code; whether any did not;
  // of each field the most, and the complement of the least.
  std::array<std::uint64_t, 2 + 2 * kMaxAgreedFields> words{};
  if (!mine.ok()) words[0] = precedence(rank_) << 32 | static_cast<std::uint32_t>(mine.code());
  words[1] = mine.ok() ? 1 : 0;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    words[2 + 2 * i] = fields[i].value;
    words[3 + 2 * i] = ~fields[i].value;
  }
  if (Status status = combine(words, MPI_MAX); !status.ok()) return status;

  if (words[0] != 0) {
    return announce(mine, static_cast<int>(static_cast<std::uint32_t>(words[0])),
                    rankOf(words[0] >> 32), words[1] == 0);
  }
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::uint64_t most = words[2 + 2 * i], least = ~words[3 + 2 * i];
    if (least != most) return differ(fields[i], least, most);
  }
  return taken == nullptr ? Status() : combine(*taken, MPI_BOR);
}

/// Finds out on which ranks.
Status Agreement::differ(const AgreedField& field, std::uint64_t least, std::uint64_t most) {
  std::array<std::uint64_t, 2> ranks = {field.value == least ? precedence(rank_) : 0,
                                        field.value == most ? precedence(rank_) : 0};
  if (Status status = combine(ranks, MPI_MAX); !status.ok()) return status;
  const int least_rank = rankOf(ranks[0]), most_rank = rankOf(ranks[1]);
  if (!field.printable) {
    return {StatusCode::kMismatch,
            message(field.name, " differs between rank ", least_rank, " and rank ", most_rank)};
  }
  return {StatusCode::kMismatch, message(field.name, " differs between ranks: ", least, " on rank ",
                                         least_rank, ", ", most, " on rank ", most_rank)};
}

/// Spreads the speaker's message.
Status Agreement::announce(const Status& mine, int code, int speaker, bool all_failed) {
  char text[kTextBytes] = "";
  if (rank_ == speaker) {
    const std::size_t length = std::min<std::size_t>(mine.message().size(), kTextBytes - 1);
    std::memcpy(text, mine.message().data(), length);
  }
  MPI_Request request = MPI_REQUEST_NULL;
  const int result = startBroadcast(text, kTextBytes, MPI_CHAR, speaker, comm_, &request);
  if (result != MPI_SUCCESS) return mpiStatus(result, "MPI_Ibcast");
  if (Status status = context_->waitFor(&request, "MPI_Ibcast"); !status.ok()) return status;
  text[kTextBytes - 1] = '\0';
  return {static_cast<StatusCode>(code),
          all_failed ? std::string(text) : message("rank ", speaker, ": ", text)};
}

}  // namespace torc::runtime
