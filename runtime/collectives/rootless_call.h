// Rootless call: a call with a root, served by the schedule of the collective that gives all ranks
// what this one gives or takes at its root (CollectiveRow::rootless); or a reduce_scatter, served
// by an allreduce whose sums are in the order of ranks (CollectiveRow::ordered).
//
// What a rank has not got is put in its place: where it contributes nothing, zeros, which a sum by
// MPI_BOR leaves out; where it gets nothing, or a block of what it would get, memory that is let go
// once the block has been copied.
#ifndef TORC_RUNTIME_COLLECTIVES_ROOTLESS_CALL_H_
#define TORC_RUNTIME_COLLECTIVES_ROOTLESS_CALL_H_

#include <cstddef>

#include "runtime/collectives/call.h"
#include "runtime/transport/data_memory.h"
#include "schedules/collective.h"
#include "support/status.h"

namespace torc::runtime {

class RootlessCall {
 public:
  RootlessCall() = default;
  RootlessCall(const RootlessCall&) = delete;
  RootlessCall& operator=(const RootlessCall&) = delete;

  /// `call`, which has its lists, on rank `rank` of `ranks`, served by a schedule of `served_by`.
  /// Throws std::bad_alloc.
  Status prepare(const Call& call, Collective served_by, int rank, int ranks);
  /// To the buffers and the reduction of a call alike.
  void bind(const Call& call);

  /// After a round: what the caller gets of what has come.
  void finishRound();

  /// What is laid out.
  const Call& call() const { return call_; }
  /// Memory for data, in bytes. That of zeros is never written, and so takes none.
  std::size_t dataBytes() const { return dropped_.bytes(); }

 private:
  void countBytes();

  Call call_;
  bool sums_bytes_ = false;  // MPI_BYTE by MPI_BOR, which follow; else the caller's
  ElementType byte_;
  Reduction bits_;
  bool gets_zeros_ = false, drops_ = false;
  bool keeps_own_ = false;  // of what is dropped, the own block
  std::size_t own_bytes_ = 0, own_offset_ = 0;
  std::byte* own_home_ = nullptr;  // where that goes
  DataMemory zeros_, dropped_;
};

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_COLLECTIVES_ROOTLESS_CALL_H_
