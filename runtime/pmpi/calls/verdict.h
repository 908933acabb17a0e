// Verdict: who serves a call, and, of one that is MPI's, why. It is found in one place (decide.h),
// and changed where ranks together find another one: in the set-up of a communicator, in a trial,
// and where a schedule cannot be used.
#ifndef TORC_RUNTIME_PMPI_CALLS_VERDICT_H_
#define TORC_RUNTIME_PMPI_CALLS_VERDICT_H_

#include "runtime/pmpi/calls/reason.h"
#include "schedules/library/index.h"

namespace torc::runtime::pmpi {

class Verdict {
 public:
  /// MPI, for this reason; kServed: dedicated ranks.
  Verdict(Reason reason) : reason_(reason) {}
  /// The schedule of this entry of the index, or of a trial, which outlives the call.
  Verdict(const LibraryEntry& entry) : reason_(Reason::kServed), entry_(&entry) {}

  bool isMpis() const { return reason_ != Reason::kServed; }
  /// Why it is MPI's; else kServed.
  Reason reason() const { return reason_; }
  /// nullptr: no schedule serves it.
  const LibraryEntry* entry() const { return entry_; }

 private:
  Reason reason_;
  const LibraryEntry* entry_ = nullptr;
};

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_CALLS_VERDICT_H_
