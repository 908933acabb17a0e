// Agreement by one reduction of ballots; the text of an error travels only when there is one.
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

struct FieldRange {
  std::uint64_t least = 0, most = 0;
  std::int32_t least_rank = 0, most_rank = 0;
};

struct Ballot {
  std::int32_t failures = 0;       // ranks that failed
  std::int32_t speaker = INT_MAX;  // the lowest of them
  std::int32_t code = 0;           // its StatusCode
  std::int32_t reserved = 0;
  std::array<FieldRange, kMaxAgreedFields> fields{};
  TagMap taken{};
};

void combine(const Ballot& from, Ballot& into) {
  into.failures += from.failures;
  if (from.speaker < into.speaker) {
    into.speaker = from.speaker;
    into.code = from.code;
  }
  for (int i = 0; i < kMaxAgreedFields; ++i) {
    const FieldRange& a = from.fields[i];
    FieldRange& b = into.fields[i];
    if (a.least < b.least || (a.least == b.least && a.least_rank < b.least_rank)) {
      b.least = a.least;
      b.least_rank = a.least_rank;
    }
    if (a.most > b.most || (a.most == b.most && a.most_rank < b.most_rank)) {
      b.most = a.most;
      b.most_rank = a.most_rank;
    }
  }
  for (std::size_t i = 0; i < into.taken.size(); ++i)
    into.taken[i] |= from.taken[i];
}

void combineBallots(void* from, void* into, int* count, MPI_Datatype*) {
  // Copied in and out: MPI does not promise alignment.
  for (int i = 0; i < *count; ++i) {
    Ballot a, b;
    std::byte* source = static_cast<std::byte*>(from) + i * sizeof(Ballot);
    std::byte* target = static_cast<std::byte*>(into) + i * sizeof(Ballot);
    std::memcpy(&a, source, sizeof(Ballot));
    std::memcpy(&b, target, sizeof(Ballot));
    combine(a, b);
    std::memcpy(target, &b, sizeof(Ballot));
  }
}

}  // namespace

void Agreement::open(torc_context* context, MPI_Comm comm) {
  context_ = context;
  comm_ = comm;
  PMPI_Comm_rank(comm, &rank_);
  PMPI_Comm_size(comm, &size_);
}

Status Agreement::makeType() {
  if (combine_ != MPI_OP_NULL) return {};
  int code = PMPI_Type_contiguous(sizeof(Ballot), MPI_BYTE, &type_);
  if (code == MPI_SUCCESS) code = PMPI_Type_commit(&type_);
  if (code == MPI_SUCCESS) code = PMPI_Op_create(combineBallots, 1, &combine_);
  return mpiStatus(code, "preparing agreement");
}

void Agreement::close() {
  int finalized = 0;
  PMPI_Finalized(&finalized);
  if (finalized) return;
  if (combine_ != MPI_OP_NULL) PMPI_Op_free(&combine_);
  if (type_ != MPI_DATATYPE_NULL) PMPI_Type_free(&type_);
}

Status Agreement::agree(const Status& mine, std::span<const AgreedField> fields, TagMap* taken) {
  Ballot ballot, result;
  if (!mine.ok()) {
    ballot.failures = 1;
    ballot.speaker = rank_;
    ballot.code = static_cast<std::int32_t>(mine.code());
  }
  for (std::size_t i = 0; i < fields.size(); ++i) {
    ballot.fields[i] = {fields[i].value, fields[i].value, rank_, rank_};
  }
  if (taken != nullptr) ballot.taken = *taken;
  if (Status status = makeType(); !status.ok()) return status;

  MPI_Request request = MPI_REQUEST_NULL;
  const int code = startAllreduce(&ballot, &result, 1, type_, combine_, comm_, &request);
  if (code != MPI_SUCCESS) return mpiStatus(code, "MPI_Iallreduce");
  if (Status status = context_->waitFor(&request, "MPI_Iallreduce"); !status.ok()) return status;

  if (result.failures > 0) {
    return announce(mine, result.code, result.speaker, result.failures == size_);
  }
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const FieldRange& range = result.fields[i];
    if (range.least == range.most) continue;
    if (!fields[i].printable) {
      return {StatusCode::kMismatch, message(fields[i].name, " differs between rank ",
                                             range.least_rank, " and rank ", range.most_rank)};
    }
    return {StatusCode::kMismatch,
            message(fields[i].name, " differs between ranks: ", range.least, " on rank ",
                    range.least_rank, ", ", range.most, " on rank ", range.most_rank)};
  }
  if (taken != nullptr) *taken = result.taken;
  return {};
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
