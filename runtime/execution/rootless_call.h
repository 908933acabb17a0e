// Rootless call: a call with a root, served by the schedule of the collective that gives all ranks
// what this one gives or takes at its root (CollectiveRow::rootless).
//
// What a rank has not got is put in its place: where it contributes nothing, zeros, which a sum by
// MPI_BOR leaves out; where it gets nothing, memory that is let go.
#ifndef TORC_RUNTIME_EXECUTION_ROOTLESS_CALL_H_
#define TORC_RUNTIME_EXECUTION_ROOTLESS_CALL_H_

#include <cstddef>

#include "runtime/execution/call.h"
#include "runtime/execution/data_memory.h"
#include "schedules/collective.h"
#include "support/status.h"

namespace torc {

class RootlessCall {
 public:
  RootlessCall() = default;
  RootlessCall(const RootlessCall&) = delete;
  RootlessCall& operator=(const RootlessCall&) = delete;

  /// `call`, which has its lists, on rank `rank` of `ranks`. Throws std::bad_alloc.
  Status prepare(const Call& call, int rank, int ranks);
  /// To the buffers and the reduction of a call alike.
  void bind(const Call& call);

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
  DataMemory zeros_, dropped_;
};

}  // namespace torc

#endif  // TORC_RUNTIME_EXECUTION_ROOTLESS_CALL_H_
