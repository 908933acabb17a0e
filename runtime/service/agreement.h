// Agreement: all ranks of a communicator come to one result, so that what fails on one fails on
// all and none waits for it.
#ifndef TORC_RUNTIME_SERVICE_AGREEMENT_H_
#define TORC_RUNTIME_SERVICE_AGREEMENT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <mpi.h>

#include "runtime/service/service_collective.h"
#include "support/status.h"

namespace torc::runtime {

/// A number of each rank.
struct AgreedField {
  const char* name = "";  // "count"
  std::uint64_t value = 0;
  bool printable = true;  // whether the value means something to a person
  bool compared = true;   // whether it must be the same on all ranks
};
inline constexpr int kMaxAgreedFields = 6;

/// Which slots of the tag space are taken: one bit each.
inline constexpr int kTagSlots = 1024;
using TagMap = std::array<std::uint64_t, kTagSlots / 64>;

class Agreement {
 public:
  /// Throws std::bad_alloc; nothing allocates before a vote begins.
  Agreement() = default;
  /// Works on `comm`, which returns errors; `meanwhile` is called while ranks wait for each other.
  void open(MPI_Comm comm, std::function<void()> meanwhile = {});

  /// Collective: ok when `mine` is ok on all ranks and the fields are equal. Otherwise the same
  /// error everywhere: that of the lowest rank that failed, `rank 3: ...` unless all did; or
  /// `count differs between ranks: 10 on rank 0, 12 on rank 3`. `taken`, unless null, becomes the
  /// union of all ranks' maps. An error of MPI's is this rank's alone.
  Status agree(const Status& mine, std::span<const AgreedField> fields = {},
               TagMap* taken = nullptr);
  /// Collective: gives rank 0's bytes to all ranks. Only this rank's memory may have run out: the
  /// caller agrees on the result.
  Status broadcast(std::vector<std::byte>& bytes);

  /// The same as `agree`, without waiting. `mine` and `taken` live until it is over.
  void start(const Status& mine, std::span<const AgreedField> fields = {}, TagMap* taken = nullptr);
  /// Does what can be done now: true when it is over.
  bool advance();
  /// Once it is over: what `agree` returns; and without the number of the rank that failed.
  Status result() const;
  const Status& error() const { return result_; }
  /// Of a field, likewise; where MPI has failed, this rank's.
  std::uint64_t least(std::size_t field) const { return ~votes_[3 + 2 * field]; }
  std::uint64_t most(std::size_t field) const { return votes_[2 + 2 * field]; }

  /// For other collectives on the communicator, in between.
  ServiceCollective& collective() { return *collective_; }
  Status wait() { return collective_->wait(meanwhile_); }

 private:
  enum class Step {
    kVote,   // did a rank fail, do fields differ?
    kText,   // the lowest rank that failed sends its message
    kWhere,  // which ranks have the least and the most of the field that differs?
    kTags,
    kDone,
  };

  void proceed();
  void allreduce(Step step, std::span<const std::uint64_t> words, MPI_Op op);
  void finish(const Status& status);

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  std::function<void()> meanwhile_;
  ServiceCollective::Pointer collective_ = ServiceCollective::make();

  Step step_ = Step::kDone;
  const Status* mine_ = nullptr;
  std::array<AgreedField, kMaxAgreedFields> fields_{};
  std::size_t field_ = 0, field_count_ = 0;  // the one that differs
  TagMap* taken_ = nullptr;
  // The most on any rank: of the lowest rank that failed, with its code; whether any did not; of
  // each field the value, and its complement.
  std::array<std::uint64_t, 2 + 2 * kMaxAgreedFields> votes_{};
  int speaker_ = -1;  // whose error the result is
  Status result_;
};

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_SERVICE_AGREEMENT_H_
