// Call history: the collective calls of a communicator, as this rank has made them, and which have
// failed. By it ranks that wait find out whether they wait for the same call, and a call that has
// failed on one rank fails on all. A call is named by its function and by how many calls of that
// function came before it. What comes after a failed call is as good as before.
//
// A call that MPI refuses is no call. The other ranks may have left it out too, or the program
// makes another one in its place, which is then what they wait for; or they wait for nothing: that
// is known when the rank has gone on to any other call of MPI. It tells them so at once, since it
// may be inside MPI when they ask. Of such a call a rank that only sends, as to the root of an
// MPI_Gather, has no error: with MPI alone it would have gone on, too.
#ifndef TORC_RUNTIME_PMPI_COMMUNICATOR_CALL_HISTORY_H_
#define TORC_RUNTIME_PMPI_COMMUNICATOR_CALL_HISTORY_H_

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/pmpi/calls/call_note.h"
#include "runtime/pmpi/calls/collective_call.h"
#include "runtime/pmpi/communicator/notices.h"
#include "runtime/pmpi/process/engine_lock.h"

namespace torc::runtime::pmpi {

struct CallFailure {
  CallNote call;              // of the rank where it failed, or was waited for
  std::uint64_t refused = 0;  // calls of that rank, which may count on others
  int code = 0;               // error class of MPI; kRefused: see codeOf
  std::string text;
};
/// Of calls that MPI has refused: what they are for a rank it knows itself.
inline constexpr int kRefused = -1;

/// The communicator, as its history sees it.
class HistoryOwner {
 public:
  /// "3x2 sub-torus of 4x3x2".
  virtual const std::string& description() const = 0;
  /// Whether the program is in MPI_Finalize.
  virtual bool isEnding() const TORC_REQUIRES(engine_lock) = 0;
  /// To `count` ranks from `first` on, but not to this one. Nothing, where ranks have not agreed on
  /// a number of the communicator. Throws std::bad_alloc.
  virtual void send(int first, int count, Notice& notice) const TORC_REQUIRES(engine_lock) = 0;
  /// Operations may have to end.
  virtual void callHasFailed() TORC_REQUIRES(engine_lock) = 0;
  /// The program makes another call than those that MPI has refused on this rank.
  virtual void hasGoneOn() TORC_REQUIRES(engine_lock) = 0;

 protected:
  ~HistoryOwner() = default;
};

class CallHistory {
 public:
  CallHistory(HistoryOwner& owner, int rank, int size) : owner_(owner), rank_(rank), size_(size) {}
  CallHistory(const CallHistory&) = delete;
  CallHistory& operator=(const CallHistory&) = delete;

  /// Numbers a collective call of the program, remembers who makes it, and compares it with what
  /// waiting ranks have asked.
  void note(CollectiveCall& call, Maker maker) TORC_REQUIRES(engine_lock) {
    note(call, noteOn(call, maker));
  }
  /// The same with what is known of the call, but its number.
  void note(CollectiveCall& call, const CallNote& known) TORC_REQUIRES(engine_lock) {
    call.ordinal = note(call.id(), known);
    call.number = calls_made_;
  }
  /// The same of a call of which nothing else is needed. Its ordinal; its number is `callsMade`.
  std::uint64_t note(CallId id, const CallNote& known) TORC_REQUIRES(engine_lock);
  /// MPI has refused a call on this rank: it is none, whatever the other ranks have made of theirs.
  void noteRefused(CallId id);
  /// The program has gone on to something else: tells the ranks that may wait.
  void tellRefused() TORC_REQUIRES(engine_lock);
  /// It makes one after all: takes back what has been told. Whether it is the one that others wait
  /// for, or they have given that up, is known when they have answered. False: nothing was told.
  bool recall(CallId id) TORC_REQUIRES(engine_lock);
  bool isRecalled() const { return recalls_under_way_ == 0; }
  std::uint64_t callsMade() const { return calls_made_; }

  /// Why a call has failed, here or on another rank, perhaps before it was made here. nullptr: it
  /// has not.
  const CallFailure* failureOf(const CollectiveCall& call) const {
    return failureOf(call.id(), call.ordinal);
  }
  bool hasFailed(const CollectiveCall& call) const { return failureOf(call) != nullptr; }
  /// The failure's error class on this rank; MPI_SUCCESS where the call is over without an error.
  int codeOf(const CallFailure& failure) const;
  bool hasFailures() const { return !failures_.empty(); }
  /// Whether a call that is still to be made here may have failed on another rank.
  bool hasFailuresToCome() const { return has_failures_to_come_ || has_told_; }
  /// A call has failed on this rank, for all. Operations end later (Engine::endFailed).
  void fail(const CollectiveCall& call, int code, const std::string& text)
      TORC_REQUIRES(engine_lock);
  /// Answers what ranks have asked about calls to come, where that is known.
  void answerAsks() TORC_REQUIRES(engine_lock);

  /// A call stands still here: ends it, now or later, where a rank has told that MPI has refused
  /// it.
  void standsStill(const CollectiveCall& call) TORC_REQUIRES(engine_lock);
  /// Asks rank `to` how far it is, for a call that stands still.
  void ask(int to, const CollectiveCall& call) TORC_REQUIRES(engine_lock);
  /// Another rank's notice about this communicator.
  void take(const Notice& notice) TORC_REQUIRES(engine_lock);
  /// What rank `rank` has answered: "which has made 16 calls there"; empty: nothing.
  std::string answerOf(int rank) const;

 private:
  void send(int first, int count, Notice& notice) const TORC_REQUIRES(engine_lock);
  void sendToAll(Notice& notice) const TORC_REQUIRES(engine_lock);
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
  std::array<std::uint64_t, kCallIds> made_{};  // of each function
  std::array<CallNote, kNotes> notes_{};        // of the last calls, by number
  std::uint64_t calls_refused_ = 0;
  struct Refused {
    std::uint64_t calls = 0;  // since the last one that was not
    std::uint64_t told = 0;   // of them, to the other ranks, as the program has gone on
  };
  void setTold(Refused& refused, std::uint64_t told);
  std::array<Refused, kCallIds> refused_{};  // of each function
  bool has_told_ = false;                    // of any
  int recalls_under_way_ = 0;                // ranks that have not answered
  std::vector<Notice> refused_elsewhere_;  // what other ranks have told so, one of a function each
  std::deque<CallFailure> failures_;       // the last ones
  bool has_failures_to_come_ = false;
  std::vector<Notice> asks_;  // about calls to come
  struct Answer {
    std::uint64_t made = 0, refused = 0;  // calls
  };
  std::unordered_map<int, Answer> answers_;  // by rank
};

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_COMMUNICATOR_CALL_HISTORY_H_
