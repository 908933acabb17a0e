// Rootless call: serves a call with a root by the schedule of a collective without one
// (CollectiveRow::rootless), which gives all ranks the root's data or result. It also serves a
// reduce_scatter by an allreduce whose sums are in the order of ranks (CollectiveRow::ordered).
//
// Other buffers replace those that a rank does not have. A rank that contributes nothing
// contributes zeros, neutral for MPI_BOR. A rank without a result, or with only a block of it,
// receives into memory that is freed once the block has been copied.
#ifndef TORC_RUNTIME_COLLECTIVES_ROOTLESS_CALL_H_
#define TORC_RUNTIME_COLLECTIVES_ROOTLESS_CALL_H_

#include <cstddef>

#include "runtime/collectives/call.h"
#include "runtime/non_copyable.h"
#include "runtime/transport/data_memory.h"
#include "schedules/collective.h"
#include "support/status.h"

namespace torc::runtime {

class RootlessCall : NonCopyable {
 public:
  /// `call`, which has its lists, on rank `rank` of `ranks`, served by a schedule of `served_by`.
  /// Throws std::bad_alloc.
  Status prepare(const Call& call, Collective served_by, int rank, int ranks);
  /// Binds the buffers and the reduction of a call with the same key.
  void bind(const Call& call);

  /// After a round: copies the caller's part of the result.
  void finishRound();

  /// The call for the schedule.
  const Call& call() const { return call_; }
  /// Memory for data, in bytes. Zeros are never written, and so use none.
  std::size_t dataBytes() const { return dropped_.bytes(); }

 private:
  void countBytes();

  Call call_;
  bool sums_bytes_ = false;  // MPI_BYTE by MPI_BOR, in the next two members; otherwise the caller's
  ElementType byte_;
  Reduction bits_;
  bool gets_zeros_ = false, drops_ = false;
  bool keeps_own_ = false;  // keeps the own block of the dropped data
  std::size_t own_bytes_ = 0, own_offset_ = 0;
  std::byte* own_home_ = nullptr;  // destination of the own block
  DataMemory zeros_, dropped_;
};

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_COLLECTIVES_ROOTLESS_CALL_H_
