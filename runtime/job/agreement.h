// Agreement: all ranks of a communicator come to one result, so that what fails on one fails on
// all and none waits for it.
#ifndef TORC_RUNTIME_JOB_AGREEMENT_H_
#define TORC_RUNTIME_JOB_AGREEMENT_H_

#include <array>
#include <cstdint>
#include <span>

#include <mpi.h>

#include "runtime/job/context.h"
#include "support/status.h"

namespace torc::runtime {

/// Something that must be the same on all ranks.
struct AgreedField {
  const char* name;  // "count"
  std::uint64_t value;
  bool printable;  // whether the value means something to a person
};
inline constexpr int kMaxAgreedFields = 6;

/// Which slots of the tag space are taken: one bit each.
inline constexpr int kTagSlots = 1024;
using TagMap = std::array<std::uint64_t, kTagSlots / 64>;

class Agreement {
 public:
  Agreement() = default;
  Agreement(const Agreement&) = delete;
  Agreement& operator=(const Agreement&) = delete;

  /// Works on `comm`, which returns errors; `context` goes on while ranks wait for each other.
  void open(torc_context* context, MPI_Comm comm);

  /// Collective: ok when `mine` is ok on all ranks and the fields are equal. Otherwise the same
  /// error everywhere: that of the lowest rank that failed, `rank 3: ...` unless all did; or
  /// `count differs between ranks: 10 on rank 0, 12 on rank 3`. `taken`, unless null, becomes the
  /// union of all ranks' maps.
  Status agree(const Status& mine, std::span<const AgreedField> fields = {},
               TagMap* taken = nullptr);

 private:
  Status combine(std::span<std::uint64_t> words, MPI_Op op);
  Status differ(const AgreedField& field, std::uint64_t least, std::uint64_t most);
  Status announce(const Status& mine, int code, int speaker, bool all_failed);

  torc_context* context_ = nullptr;
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
};

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_JOB_AGREEMENT_H_
