// Call trials: TORC_TUNE=1 for the blocking calls of a communicator. The schedules that the library
// has for a signature and MPI's own function serve its first calls in turn (trial.h); then all
// ranks agree on the fastest, which serves the following calls.
//
// A trial depends only on facts that are the same on all ranks: the order of the calls on the
// communicator, their arguments that MPI requires to be equal, the library's index, and whether a
// file could be loaded. So all ranks are in the same turn in the same call, without a message.
#ifndef TORC_RUNTIME_PMPI_TUNING_CALL_TRIALS_H_
#define TORC_RUNTIME_PMPI_TUNING_CALL_TRIALS_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "runtime/collectives/call.h"
#include "runtime/non_copyable.h"
#include "runtime/pmpi/calls/collective_call.h"
#include "runtime/pmpi/calls/repeated_call.h"
#include "runtime/pmpi/engine/communicator_state.h"
#include "runtime/pmpi/tuning/trial.h"
#include "runtime/service/service_collective.h"
#include "schedules/library/index.h"
#include "support/status.h"

namespace torc::runtime::pmpi {

/// Common properties of calls on one trial, the same on all ranks. The datatype is not part of it,
/// as each rank may describe its data in its own way; nor is the root, which may differ between
/// calls.
struct TrialKey {
  CallId id = CallId::kBarrier;
  bool has_one = false;     // only one schedule is suitable: for ordered sums, whole vectors
  bool is_of_user = false;  // with a user-defined operation
  std::uint64_t bytes = 0;  // of the whole vector

  auto operator<=>(const TrialKey&) const = default;
};

/// A candidate for the calls of a trial.
struct TrialCandidate {
  const LibraryEntry* entry = nullptr;  // of the index, or `made`; null: MPI's own function
  LibraryEntry made;
  // The repeated calls of this schedule alone: the communicator's own store is for calls outside of
  // trials.
  std::unique_ptr<RepeatedCalls> repeated TORC_PT_GUARDED_BY(engine_lock);
};

/// The trial of one signature, or its result.
struct CallTrial {
  CallTrial(std::vector<std::unique_ptr<TrialCandidate>> all, std::size_t mpis,
            Trial::Length length);

  TrialCandidate& current() { return *candidates[trial.turn()]; }

  Trial trial;
  std::vector<std::unique_ptr<TrialCandidate>> candidates;      // by number; empty after the end
  std::unique_ptr<TrialCandidate> winner;                       // after the end
  ServiceCollective::Pointer vote = ServiceCollective::make();  // on the times; until the end
  double began = 0;                                             // seconds, of the call under way
};

/// The trials of one communicator. MPI requires that a program makes one collective call at a time
/// there: so they need the lock only for data that other threads' progress uses, too.
class CallTrials : NonCopyable {
 public:
  /// The trials of a communicator, created at the first call. Throws std::bad_alloc.
  static CallTrials& of(CommunicatorState& state);

  explicit CallTrials(CommunicatorState& state) : state_(state) {}

  /// Whether a call may be on trial: it is blocking, the library has a choice for it, and all ranks
  /// know its size. Its verdict comes from `decide`.
  static bool mayTry(const CollectiveCall& call);

  /// Sets the verdict of a call that may be on trial, on a communicator that is set up. If the call
  /// is on trial, sets call.trial and starts its time. Throws std::bad_alloc.
  void choose(CollectiveCall& call, const Call& checked) TORC_EXCLUDES(engine_lock);

  /// Whether the candidate of a call on trial could not be loaded: it is excluded then, and the
  /// call gets back the library's verdict, for another choice. If the library's own choice cannot
  /// be loaded, the trial ends: calls are then served, or fall back, as without a trial.
  bool leavesOut(CollectiveCall& call) TORC_EXCLUDES(engine_lock);

  /// Notes that a call on trial has ended on this rank. After the last one of a trial it waits for
  /// the other ranks, and all agree on the fastest. A failed call counts like others: all ranks are
  /// in the same turn afterwards.
  Status end(const CollectiveCall& call) TORC_EXCLUDES(engine_lock);

 private:
  CallTrial* trialOf(const CollectiveCall& call, const Call& checked);
  std::vector<std::unique_ptr<TrialCandidate>> candidates(const CollectiveCall& call,
                                                          const TrialKey& key) const;
  void finish(CallTrial& of, std::size_t winner);
  void tellOfResult(const CollectiveCall& call, const CallTrial& of, std::size_t winner) const;

  CommunicatorState& state_;
  std::map<TrialKey, std::unique_ptr<CallTrial>> trials_;
};

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_TUNING_CALL_TRIALS_H_
