// Agreement: all ranks of a communicator get the same result, so that an error on one rank fails on
// all, and none waits for it.
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
  bool printable = true;  // whether users understand the value
  bool compared = true;   // whether it must be the same on all ranks
};
inline constexpr int kMaxAgreedFields = 6;

class Agreement {
 public:
  /// Throws std::bad_alloc; nothing allocates before a vote begins.
  Agreement() = default;
  /// Uses `comm`, which must return errors; `meanwhile` is called while ranks wait for each other.
  void open(MPI_Comm comm, std::function<void()> meanwhile = {});

  /// Collective: ok if `mine` is ok on all ranks and the fields are equal. Otherwise the same error
  /// on all ranks: that of the lowest rank that failed, `rank 3: ...` unless all did; or `count
  /// differs between ranks: 10 on rank 0, 12 on rank 3`. An MPI error concerns this rank alone.
  Status agree(const Status& mine, std::span<const AgreedField> fields = {});
  /// Collective: broadcasts rank 0's bytes. Only an out-of-memory error concerns this rank alone:
  /// the caller then agrees on the result.
  Status broadcast(std::vector<std::byte>& bytes);

  /// The same as `agree`, without waiting. `mine` must outlive it.
  void start(const Status& mine, std::span<const AgreedField> fields = {});
  /// Makes progress; true when complete.
  bool advance();
  /// When complete: the result of `agree`; and the same without the number of the failed rank.
  Status result() const;
  const Status& error() const { return result_; }
  /// The least value of a field, likewise; this rank's value after an MPI error.
  std::uint64_t least(std::size_t field) const { return ~votes_[3 + 2 * field]; }
  std::uint64_t most(std::size_t field) const { return votes_[2 + 2 * field]; }

  /// For other collectives on the communicator, in between.
  ServiceCollective& collective() { return *collective_; }
  Status wait() { return collective_->wait(meanwhile_); }

 private:
  enum class Step {
    kVote,   // has a rank failed, do fields differ?
    kText,   // the lowest rank that failed sends its message
    kWhere,  // which ranks have the least and the greatest value of the field that differs?
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
  std::size_t field_ = 0, field_count_ = 0;  // `field_`: the one that differs
  // Maxima over the ranks: the lowest rank that failed, with its code; whether any did not fail; of
  // each field the value, and its complement.
  std::array<std::uint64_t, 2 + 2 * kMaxAgreedFields> votes_{};
  int speaker_ = -1;  // the rank of the error in the result
  Status result_;
};

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_SERVICE_AGREEMENT_H_
