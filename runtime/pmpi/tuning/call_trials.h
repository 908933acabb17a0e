// Call trials: what TORC_TUNE=1 does with the blocking calls of a communicator. The first calls of
// a signature are served in turns by each schedule that the library has for them and by MPI's own
// function (trial.h); then all ranks agree on what was fastest, and that serves those that follow.
//
// A trial goes by what is the same on all ranks: the order of the calls on the communicator, what
// MPI demands to be alike of them, the library's index, and whether a file could be loaded. So all
// ranks are in the same turn in the same call, without a message.
#ifndef TORC_RUNTIME_PMPI_TUNING_CALL_TRIALS_H_
#define TORC_RUNTIME_PMPI_TUNING_CALL_TRIALS_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "runtime/collectives/call.h"
#include "runtime/pmpi/calls/collective_call.h"
#include "runtime/pmpi/calls/repeated_call.h"
#include "runtime/pmpi/engine/communicator_state.h"
#include "runtime/pmpi/tuning/trial.h"
#include "schedules/library/index.h"
#include "support/status.h"

namespace torc::runtime::pmpi {

/// What calls that are tried together have in common. All ranks know it alike. The datatype is no
/// part of it, as each rank may describe its data in its own way; nor is the root, which may be
/// another one in every call.
struct TrialKey {
  CallId id = CallId::kBarrier;
  bool has_one = false;     // no more than one schedule would do: for ordered sums, whole vectors
  bool is_of_user = false;  // by an operation of the user
  std::uint64_t bytes = 0;  // of the whole vector

  auto operator<=>(const TrialKey&) const = default;
};

/// What may serve the calls of a trial.
struct TrialCandidate {
  const LibraryEntry* entry = nullptr;  // of the index, or `made`; null: MPI's own function
  LibraryEntry made;
  bool is_loaded = false;
  // The repeated calls of this schedule alone, once it is loaded: the communicator's are of what
  // serves for good.
  std::unique_ptr<RepeatedCalls> repeated TORC_PT_GUARDED_BY(engine_lock);
};

/// The trial of one signature, or what came of it.
struct CallTrial {
  CallTrial(std::vector<std::unique_ptr<TrialCandidate>> all, std::size_t mpis,
            Trial::Length length);

  TrialCandidate& current() { return *candidates[trial.turn()]; }

  Trial trial;
  std::vector<std::unique_ptr<TrialCandidate>> candidates;  // by number; once it is over, none
  std::unique_ptr<TrialCandidate> winner;                   // once it is over
  double began = 0;  // seconds, of the call that is under way
};

/// The trials of one communicator. MPI demands that a program makes one collective call at a time
/// there: so they need no lock but for what other threads' progress uses, too.
class CallTrials final : public TuningState {
 public:
  /// Those of a communicator, made at the first call. Throws std::bad_alloc.
  static CallTrials& of(CommunicatorState& state);

  explicit CallTrials(CommunicatorState& state) : state_(state) {}
  CallTrials(const CallTrials&) = delete;
  CallTrials& operator=(const CallTrials&) = delete;

  /// Whether a call may be tried: it is blocking, the library says who serves it, and all ranks
  /// know its size. Its verdict is what `decide` has found.
  static bool mayTry(const CollectiveCall& call);

  /// Says by the call's verdict who serves a call that may be tried, on a communicator that is set
  /// up. If the call is on trial, call.trial is set, and its time begins. Waits for the other ranks
  /// where a schedule is tried for the first time. If the call fails meanwhile, that is no error of
  /// this function: the caller looks.
  Status choose(CollectiveCall& call, const Call& checked) TORC_EXCLUDES(engine_lock);

  /// Notes that a call on trial is over on this rank. After the last one of a trial it waits for
  /// the other ranks, and all agree on what was fastest. A call that has failed counts like others:
  /// all ranks are in the same turn afterwards.
  Status end(const CollectiveCall& call) TORC_EXCLUDES(engine_lock);

  void forgetSchedules() override TORC_REQUIRES(engine_lock) { trials_.clear(); }

 private:
  bool hasFailed(const CollectiveCall& call) const;
  CallTrial* trialOf(const CollectiveCall& call, const Call& checked);
  std::vector<std::unique_ptr<TrialCandidate>> candidates(const CollectiveCall& call,
                                                          const TrialKey& key) const;
  Status load(CollectiveCall& call, CallTrial& of);
  void finish(CallTrial& of, std::size_t winner);
  void tellOfResult(const CollectiveCall& call, const CallTrial& of, std::size_t winner) const;

  CommunicatorState& state_;
  std::map<TrialKey, std::unique_ptr<CallTrial>> trials_;
};

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_TUNING_CALL_TRIALS_H_
