// Agreement: one reduction of words with MPI's predefined operations. An MPI object created for it
// could fail on one rank, for which the others would wait. The text of an error is sent only if
// there is one.
#include "runtime/service/agreement.h"

#include <algorithm>
#include <climits>
#include <new>
#include <utility>

#include "runtime/transport/mpi_status.h"
#include "support/backoff.h"
#include "support/message.h"

namespace torc::runtime {
namespace {

/// The lower the rank, the larger; never 0. It has 31 bits, so that a code fits beside it.
std::uint64_t precedence(int rank) {
  return static_cast<std::uint64_t>(INT_MAX - rank);
}

int rankOf(std::uint64_t precedence) {
  return INT_MAX - static_cast<int>(precedence);
}

}  // namespace

void Agreement::open(MPI_Comm comm, std::function<void()> meanwhile) {
  comm_ = comm;
  meanwhile_ = std::move(meanwhile);
  rank_ = commRank(comm);
}

void Agreement::allreduce(Step step, std::span<const std::uint64_t> words, MPI_Op op) {
  step_ = step;
  collective_->allreduce(comm_, words, op);
}

void Agreement::finish(const Status& status) {
  step_ = Step::kDone;
  result_ = status;
}

Status Agreement::result() const {
  return speaker_ < 0 ? result_ : result_.annotated(message("rank ", speaker_));
}

Status Agreement::agree(const Status& mine, std::span<const AgreedField> fields) {
  start(mine, fields);
  for (Backoff backoff; !advance(); backoff.afterLook()) {
    if (meanwhile_) meanwhile_();
  }
  return result();
}

void Agreement::start(const Status& mine, std::span<const AgreedField> fields) {
  mine_ = &mine;
  speaker_ = -1;
  field_count_ = fields.size();
  std::ranges::copy(fields, fields_.begin());
  votes_[0] = mine.ok() ? 0 : precedence(rank_) << 32 | static_cast<std::uint32_t>(mine.code());
  votes_[1] = mine.ok() ? 1 : 0;
  for (std::size_t i = 0; i < field_count_; ++i) {
    votes_[2 + 2 * i] = fields[i].value;
    votes_[3 + 2 * i] = ~fields[i].value;
  }
  allreduce(Step::kVote, std::span(votes_).first(2 + 2 * field_count_), MPI_MAX);
}

bool Agreement::advance() {
  while (step_ != Step::kDone) {
    if (!collective_->advance()) return false;
    const Status status = collective_->status();
    if (status.ok()) {
      proceed();
    } else {
      speaker_ = -1;
      finish(status);
    }
  }
  return true;
}

/// A step is complete.
void Agreement::proceed() {
  const std::span<const std::uint64_t> words = collective_->words();
  switch (step_) {
    case Step::kVote:
      std::ranges::copy(words, votes_.begin());
      if (votes_[0] != 0) {
        step_ = Step::kText;
        speaker_ = rankOf(votes_[0] >> 32);
        return collective_->broadcastText(comm_, mine_->message(), speaker_);
      }
      for (field_ = 0; field_ < field_count_; ++field_) {
        if (fields_[field_].compared && least(field_) != most(field_)) {
          const std::uint64_t own = fields_[field_].value;
          return allreduce(Step::kWhere,
                           std::array{own == least(field_) ? precedence(rank_) : 0,
                                      own == most(field_) ? precedence(rank_) : 0},
                           MPI_MAX);
        }
      }
      return finish({});
    case Step::kText:
      finish({static_cast<StatusCode>(static_cast<std::uint32_t>(votes_[0])), collective_->text()});
      if (votes_[1] == 0) speaker_ = -1;  // all failed
      return;
    case Step::kWhere: {
      const AgreedField& field = fields_[field_];
      const auto at = [&](std::uint64_t value, std::size_t word) {
        return message(field.printable ? message(value, " on ") : "", "rank ", rankOf(words[word]));
      };
      return finish(
          {StatusCode::kMismatch,
           message(field.name, field.printable ? " differs between ranks: " : " differs between ",
                   at(least(field_), 0), field.printable ? ", " : " and ", at(most(field_), 1))});
    }
    case Step::kDone:
      return;
  }
}

Status Agreement::broadcast(std::vector<std::byte>& bytes) {
  constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;  // MPI counts are int
  // The length, and often all bytes: with many ranks a step takes longer than these bytes.
  struct Beginning {
    std::uint64_t length;
    std::array<std::byte, 32 * 1024> bytes;
  };
  Beginning beginning;
  const std::size_t known = beginning.bytes.size();
  if (rank_ == 0) {
    beginning.length = bytes.size();
    std::copy_n(bytes.begin(), std::min(bytes.size(), known), beginning.bytes.begin());
  }
  collective_->broadcast(comm_, &beginning, sizeof(beginning), 0);
  if (Status status = wait(); !status.ok()) return status;
  const std::size_t length = beginning.length;
  Status room;
  try {
    bytes.resize(length);
    std::copy_n(beginning.bytes.begin(), std::min(length, known), bytes.begin());
  } catch (const std::bad_alloc&) {
    room = {StatusCode::kNoMemory, "out of memory"};
  }
  if (length <= known) return room;
  if (room = agree(room); !room.ok()) return room;
  for (std::size_t done = known; done < length; done += kMostAtOnce) {
    collective_->broadcast(comm_, bytes.data() + done, std::min(kMostAtOnce, length - done), 0);
    if (Status status = wait(); !status.ok()) return status;
  }
  return {};
}

}  // namespace torc::runtime
