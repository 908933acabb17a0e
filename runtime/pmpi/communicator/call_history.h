// Call history: the collective calls of a communicator in the order of this rank, with their
// failures. With it, waiting ranks check that they wait for the same call, and a call that fails on
// one rank fails on all. A call is named by its function and its ordinal among the calls of that
// function. Calls after a failed one are unaffected.
//
// A call that MPI refuses does not count. The other ranks may have omitted it, or the program makes
// another one in its place, for which they wait; or they wait in vain. That is known at the rank's
// next other MPI call. The rank notifies the others at once, since it may be inside MPI when they
// ask. A rank that only sends, for example to the root of an MPI_Gather, gets no error for such a
// call, as with MPI alone.
#ifndef TORC_RUNTIME_PMPI_COMMUNICATOR_CALL_HISTORY_H_
#define TORC_RUNTIME_PMPI_COMMUNICATOR_CALL_HISTORY_H_

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/non_copyable.h"
#include "runtime/pmpi/calls/collective_call.h"
#include "runtime/pmpi/communicator/notices.h"
#include "runtime/pmpi/process/progress.h"

namespace torc::runtime::pmpi {

struct CallFailure {
  CallNote call;              // of the rank where it failed, or where a rank waited for it
  std::uint64_t refused = 0;  // refused calls of that rank, which other ranks may have counted
  int code = 0;               // error class of MPI; kRefused: see codeOf
  std::string text;
};
/// The failure is a call that MPI has refused: each rank finds its own error class (codeOf).
inline constexpr int kRefused = -1;

/// The communicator, seen from its history.
class HistoryOwner {
 public:
  /// "3x2 sub-torus of 4x3x2".
  virtual const std::string& description() const = 0;
  /// Whether the program is in MPI_Finalize.
  virtual bool isEnding() const TORC_REQUIRES(engine_lock) = 0;
  /// Sends to `count` ranks from `first` on, except to this one. No-op if the ranks have not agreed
  /// on a number of the communicator. Throws std::bad_alloc.
  virtual void send(int first, int count, Notice& notice) const TORC_REQUIRES(engine_lock) = 0;
  /// A call has failed: operations may have to end.
  virtual void callHasFailed() TORC_REQUIRES(engine_lock) = 0;
  /// The program has made a call after those that MPI has refused on this rank.
  virtual void hasGoneOn() TORC_REQUIRES(engine_lock) = 0;

 protected:
  ~HistoryOwner() = default;
};

class CallHistory : NonCopyable {
 public:
  CallHistory(HistoryOwner& owner, int rank, int size) : owner_(owner), rank_(rank), size_(size) {}

  /// Numbers a collective call of the program, records its server, and compares it with the
  /// questions of waiting ranks.
  void note(CollectiveCall& call) TORC_REQUIRES(engine_lock) {
    call.ordinal = note(call.id(), noteOn(call));
    call.number = calls_made_;
  }
  /// The same with a note that is complete except for its number. Returns the ordinal; the number
  /// is `callsMade`.
  std::uint64_t note(CallId id, const CallNote& known) TORC_REQUIRES(engine_lock);
  /// MPI has refused a call on this rank: it does not count, whether or not other ranks have made
  /// it.
  void noteRefused(CallId id);
  /// The program has made another call: notifies the ranks that may wait.
  void tellRefused() TORC_REQUIRES(engine_lock);
  /// The program repeats the refused call: recalls the notice. Only the answers of the other ranks
  /// show whether they still wait for it. False: no notice was sent.
  bool recall(CallId id) TORC_REQUIRES(engine_lock);
  bool isRecalled() const { return recalls_under_way_ == 0; }
  std::uint64_t callsMade() const { return calls_made_; }

  /// The failure of a call, here or on another rank, perhaps before it was made here. nullptr: it
  /// has not failed.
  const CallFailure* failureOf(const CollectiveCall& call) const {
    return failureOf(call.id(), call.ordinal);
  }
  bool hasFailed(const CollectiveCall& call) const { return failureOf(call) != nullptr; }
  /// The failure's error class on this rank; MPI_SUCCESS if the call ends without an error.
  int codeOf(const CallFailure& failure) const;
  bool hasFailures() const { return !failures_.empty(); }
  /// Whether another rank may have failed a call that this rank has not made yet.
  bool hasFailuresToCome() const { return has_failures_to_come_ || has_told_; }
  /// The call has failed on this rank: it fails on all. Operations end later (Engine::endFailed).
  void fail(const CollectiveCall& call, int code, const std::string& text)
      TORC_REQUIRES(engine_lock);
  /// Answers questions of other ranks about calls that this rank has made since.
  void answerAsks() TORC_REQUIRES(engine_lock);

  /// A call stalls here: ends it, now or later, if MPI has refused it on another rank.
  void standsStill(const CollectiveCall& call) TORC_REQUIRES(engine_lock);
  /// Asks rank `to` for its state, because of a call that stalls.
  void ask(int to, const CollectiveCall& call) TORC_REQUIRES(engine_lock);
  /// Another rank's notice about this communicator.
  void take(const Notice& notice) TORC_REQUIRES(engine_lock);
  /// The answer of rank `rank`: "which has made 16 calls there"; empty: no answer.
  std::string answerOf(int rank) const;

 private:
  void send(int first, int count, Notice notice) const TORC_REQUIRES(engine_lock);
  void sendToAll(const Notice& notice) const TORC_REQUIRES(engine_lock);
  void sendRefused(CallId id, std::uint64_t calls) TORC_REQUIRES(engine_lock);
  void takeRefused(const Notice& notice) TORC_REQUIRES(engine_lock);
  void endRefused() TORC_REQUIRES(engine_lock);
  bool consider(const Notice& asked) TORC_REQUIRES(engine_lock);
  void takeOver(const Notice& notice) TORC_REQUIRES(engine_lock);
  void differ(const CallNote& mine, const Notice& asked) TORC_REQUIRES(engine_lock);
  CallFailure failureOfAsked(const Notice& asked, const std::string& text) const;
  void fail(const CallFailure& failure, const CallFailure* instead = nullptr)
      TORC_REQUIRES(engine_lock);
  const CallFailure* failureOf(CallId id, std::uint64_t ordinal) const;
  bool remember(const CallFailure& failure) TORC_REQUIRES(engine_lock);
  void complainOf(const CallFailure& failure) const;
  void spread(const CallFailure& failure, const CallFailure* instead) TORC_REQUIRES(engine_lock);
  void skipFailures(CallId next);
  const CallNote* noteOf(CallId id, std::uint64_t ordinal) const;

  HistoryOwner& owner_;
  const int rank_, size_;
  static constexpr std::size_t kNotes = 32, kFailures = 32;
  std::uint64_t calls_made_ = 0;
  std::array<std::uint64_t, kCallIds> made_{};  // by function
  std::array<CallNote, kNotes> notes_{};        // last calls, by number
  std::uint64_t calls_refused_ = 0;
  struct Refused {
    std::uint64_t calls = 0;  // since the last call that was not refused
    std::uint64_t told = 0;   // number already sent to the other ranks
  };
  void setTold(Refused& refused, std::uint64_t told);
  std::array<Refused, kCallIds> refused_{};  // by function
  bool has_told_ = false;                    // for any function
  int recalls_under_way_ = 0;                // ranks that have not answered
  std::vector<Notice> refused_elsewhere_;    // refused calls of other ranks, one per function
  std::deque<CallFailure> failures_;         // the last ones
  bool has_failures_to_come_ = false;
  std::vector<Notice> asks_;  // about calls to come
  struct Answer {
    std::uint64_t made = 0, refused = 0;  // calls
  };
  std::unordered_map<int, Answer> answers_;  // by rank
};

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_COMMUNICATOR_CALL_HISTORY_H_
