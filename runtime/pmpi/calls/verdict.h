// Verdict: the server of a call, and the reason of a fallback. It is found in one place
// (engine/decide.h). It changes when the ranks together find another one, in the set-up of a
// communicator, in a trial or for an unusable schedule, and when the call fails.
#ifndef TORC_RUNTIME_PMPI_CALLS_VERDICT_H_
#define TORC_RUNTIME_PMPI_CALLS_VERDICT_H_

#include <mpi.h>

#include "runtime/job/reason.h"
#include "schedules/library/index.h"

namespace torc::runtime::pmpi {

class Verdict {
 public:
  /// No verdict yet.
  Verdict() = default;
  /// Falls back to MPI for this reason; kServed: dedicated ranks serve it.
  Verdict(Reason reason)
      : kind_(reason == Reason::kServed ? Kind::kServed : Kind::kMpis), reason_(reason) {}
  /// The schedule of this entry of the index, or of a trial; the entry outlives the call.
  Verdict(const LibraryEntry& entry) : kind_(Kind::kServed), entry_(&entry) {}
  /// The call has ended, with this error class for the program.
  static Verdict over(int code) {
    Verdict verdict;
    verdict.kind_ = Kind::kOver;
    verdict.code_ = code;
    return verdict;
  }

  bool isOpen() const { return kind_ == Kind::kOpen; }
  bool isMpis() const { return kind_ == Kind::kMpis; }
  bool isOver() const { return kind_ == Kind::kOver; }
  /// Reason of the fallback; otherwise kServed.
  Reason reason() const { return reason_; }
  /// Error class for the program of a call that does not fall back.
  int code() const { return code_; }
  /// nullptr: no schedule serves it.
  const LibraryEntry* entry() const { return entry_; }

 private:
  enum class Kind : std::uint8_t { kOpen, kServed, kMpis, kOver };

  Kind kind_ = Kind::kOpen;
  Reason reason_ = Reason::kServed;
  int code_ = MPI_SUCCESS;
  const LibraryEntry* entry_ = nullptr;
};

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_CALLS_VERDICT_H_
