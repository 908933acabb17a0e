// What torc knows of a communicator of the program: which sub-torus it is, the schedules
// that it has used, the calls on it that wait, and whether one has failed.
//
// The state hangs on the communicator as an attribute. It outlives the communicator when that is
// freed while operations are under way.
//
//   attach: what the members are, found by every rank alone
//   setUp: all ranks confirm it and make the shadow, a communicator of the same members for torc's
//     messages
//   fail: a call has failed on a rank; it fails on all
#ifndef TORC_RUNTIME_PMPI_ENGINE_COMMUNICATOR_STATE_H_
#define TORC_RUNTIME_PMPI_ENGINE_COMMUNICATOR_STATE_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include <mpi.h>

#include "runtime/collectives/call_cache.h"
#include "runtime/job/geometry.h"
#include "runtime/job/library.h"
#include "runtime/job/schedule.h"
#include "runtime/job/schedule_load.h"
#include "runtime/pmpi/calls/call_note.h"
#include "runtime/pmpi/calls/collective_call.h"
#include "runtime/pmpi/calls/reason.h"
#include "runtime/pmpi/calls/repeated_call.h"
#include "runtime/pmpi/engine/notices.h"
#include "runtime/transport/tag_space.h"
#include "schedules/library/index.h"

namespace torc::runtime::pmpi {

/// What waits for its turn on a communicator.
class Turn {
 public:
  virtual ~Turn() = default;
  /// At the head of the queue: does what can be done. True: leaves the queue, and may be gone.
  virtual bool proceed() = 0;
  /// Its call has failed: leaves the queue.
  virtual void giveUp() = 0;
  /// Whether it has.
  virtual bool hasFailed() const = 0;
};

/// What tuning keeps with a communicator.
class TuningState {
 public:
  virtual ~TuningState() = default;
  /// Its schedules are about to be freed.
  virtual void forgetSchedules() = 0;
};

/// A file of the library on one communicator.
struct CommunicatorSchedule {
  enum class Stage {
    kUnused,
    kReady,
    kFailed,  // on all ranks
    kBroken,  // MPI has failed on this rank, which the others do not know
  };
  Stage stage = Stage::kUnused;
  std::string fault;  // why it is broken
  torc_schedule* schedule = nullptr;
  // Of the loaded one, with TORC_TUNE, alike on all ranks:
  int trials = 0;           // that are under way and have it
  bool is_claimed = false;  // a call that is not on trial has used it, or will
};

/// Communicators with a state that were freed: what is remembered of a handle holds while this
/// stays, as MPI may give the handle to another communicator.
inline std::atomic<std::uint64_t> communicators_freed{0};

/// Communicators that the program has made and not freed, about.
inline std::atomic<int> program_communicators{0};
/// Whether the program may call MPI from several threads at once.
inline std::atomic<bool> program_has_threads{false};

/// Whether this rank can have another shadow (shadow_exchange.cc).
enum class ShadowSupply : std::uint8_t {
  kEnough,
  kUsedUp,  // torc has its share
  kScarce,  // the program has nearly all that MPI has: torc gives up what it can
};
/// With the lock.
ShadowSupply shadowSupply();

class CommunicatorState {
 public:
  /// Local: looks at a communicator for the first time. Throws std::bad_alloc.
  static CommunicatorState* attach(MPI_Comm comm);
  /// Of a communicator; nullptr where it has none.
  static CommunicatorState* of(MPI_Comm comm);

  CommunicatorState(const CommunicatorState&) = delete;
  CommunicatorState& operator=(const CommunicatorState&) = delete;
  /// Not in use. Frees the shadow, which with MPICH waits for nobody.
  ~CommunicatorState();

  /// Why no call is served; kServed where they are.
  Reason reason() const { return reason_; }
  const std::string& reasonText() const { return reason_text_; }
  /// "3x2 sub-torus of 4x3x2", "5 ranks".
  const std::string& description() const { return description_; }
  int rank() const { return rank_; }
  int size() const { return size_; }
  std::uint32_t shape() const { return shape_; }
  /// Whether its ranks are in the order of the shape's (Recognition::in_order).
  bool isInOrder() const { return is_in_order_; }
  /// Whether it has its shadow.
  bool isSetUp() const { return geometry_ != nullptr; }
  /// The same on all ranks, and no other communicator's; 0: not set up.
  std::uint64_t id() const { return id_; }

  /// Collective, with progress: confirms what the communicator is, and makes its shadow; or finds
  /// why torc serves nothing there, alike on all ranks. An error is this rank's alone, and stays:
  /// others may be ready. `call`: for whom, where somebody waits too long.
  Status setUp(const CollectiveCall* call);
  /// Before a blocking call on one that has no shadow: after some, it is to be set up once more.
  /// Alike on all ranks. Throws std::bad_alloc.
  void tryAgain();

  /// Of a communicator that has one.
  MPI_Comm shadow() const { return geometry_->comm; }
  torc_geometry& geometry() { return *geometry_; }
  CallCache& calls() { return *calls_; }
  const std::unique_ptr<CallCache>& callCache() const { return calls_; }
  RepeatedCalls& repeatedCalls() { return repeated_; }

  /// The program's; MPI_COMM_SELF once it is freed.
  MPI_Comm communicatorForErrors() const { return comm_ != MPI_COMM_NULL ? comm_ : MPI_COMM_SELF; }
  void communicatorFreed() { comm_ = MPI_COMM_NULL; }
  bool inUse() const { return operations > 0; }
  /// Whether operations are under way or waiting; persistent ones may be idle.
  bool isBusy() const { return under_way > 0; }
  /// Whether a call could start at once: none is waiting, or using message tags.
  bool isIdle() const {
    return under_way == 0 && queue_.empty() && geometry_->one_shot_tags.held() == 0;
  }

  /// Calls pass the queue in the order in which the program makes them, so that whatever they do
  /// together with other ranks on the shadow comes in the same order everywhere. Throws.
  void enqueue(Turn* turn);
  void dequeue(Turn* turn);
  /// Gives up what waits although its call has failed.
  void endQueue();
  /// Moves the queue on; true when it is empty.
  bool proceed();
  /// The trial of a call, which is under way, has this file's schedule, or has it no longer. What
  /// none has, and no call outside of trials has claimed, is freed.
  void holdSchedule(std::uint32_t file) { ++schedules_[file].trials; }
  void letGoOfSchedule(std::uint32_t file);
  /// A call that is not on trial uses it. Throws std::bad_alloc.
  void claimSchedule(std::uint32_t file) { schedules_[file].is_claimed = true; }
  /// A file that could not be loaded for a trial: whatever needs it tries again.
  void forgetFailedLoad(std::uint32_t file);
  /// Moves the loading of an entry's file on; nullptr until it is loaded, or cannot be. Only for
  /// the turn at the head of the queue. Ranks that ask for different files load one after the
  /// other, all of them on all ranks. Throws.
  CommunicatorSchedule* load(const LibraryEntry& entry);

  // ---- Calls and their failures

  /// Numbers a collective call of the program, remembers who makes it, and compares it with what
  /// waiting ranks have asked. With the lock, as all below.
  void note(CollectiveCall& call, Maker maker) { note(call, noteOn(call, maker)); }
  /// The same with what is known of the call, but its number.
  void note(CollectiveCall& call, const CallNote& known);
  /// MPI has refused a call on this rank: it is none, whatever the other ranks have made of theirs.
  void noteRefused(CallId id);

  struct Failure {
    CallId id = CallId::kBarrier;
    std::uint64_t ordinal = 0;
    std::uint64_t number = 0;   // on the rank where it failed, or was waited for
    std::uint64_t refused = 0;  // calls of that rank, which may count on others
    int code = 0;               // error class of MPI
    std::string text;
  };
  /// Why a call has failed, here or on another rank, perhaps before it was made here. nullptr: it
  /// has not.
  const Failure* failureOf(CallId id, std::uint64_t ordinal) const;
  bool hasFailed(const CollectiveCall& call) const {
    return failureOf(call.id, call.ordinal) != nullptr;
  }
  /// Whether a call that is still to be made here has failed on another rank.
  bool hasFailuresToCome() const { return has_failures_to_come_; }
  /// A call has failed on this rank, for all. Operations end later (Engine::endFailed).
  void fail(const CollectiveCall& call, int code, const std::string& text);
  /// The program is in MPI_Finalize: answers what ranks have asked about calls to come.
  void answerAsks();

  /// Asks rank `to` how far it is, for a call that stands still.
  void ask(int to, const CollectiveCall& call);
  /// Another rank's notice about this communicator.
  void take(const Notice& notice);
  /// What rank `rank` has answered: "which has made 16 calls there"; empty: nothing.
  std::string answerOf(int rank) const;

  // With TORC_TUNE. By the thread that makes a blocking call.
  std::unique_ptr<TuningState> tuning;

  CommunicatorState* next_freed = nullptr;  // of the engine's list
  std::uint32_t number = 0;                 // in the statistics
  int operations = 0;                       // all that exist
  int under_way = 0;                        // of them, waiting or running

 private:
  CommunicatorState(MPI_Comm comm, int rank, int size) : comm_(comm), rank_(rank), size_(size) {}
  /// What ranks tell each other; the largest of each counts.
  using Votes = std::array<std::uint64_t, 5>;

  void recognise();
  void describe();
  Status combine(Votes& votes, const CollectiveCall* call);
  Status agree(const CollectiveCall* call, MPI_Comm* shadow);
  Status setUpOnce(const CollectiveCall* call);
  Status makeGeometry(MPI_Comm shadow);
  void dropGeometry();
  bool canGiveShadow(MPI_Comm to) const;
  std::uint64_t findGiver(bool may_be_in_use, const std::vector<std::uint64_t>& tried);
  MPI_Comm giveShadow();
  void doWithoutShadow();
  StatusOr<MPI_Comm> takeShadow(ShadowSupply supply, std::uint64_t giver,
                                const CollectiveCall* call);
  Status giveUpJobs(const CollectiveCall* call);
  void send(int first, int count, Notice& notice) const;
  bool consider(const Notice& asked);
  void differ(const CallNote& mine, const Notice& asked);
  void failAsked(const Notice& asked, const std::string& text);
  void fail(Failure failure, int from = -1);
  const Failure* remember(Failure failure);
  void spread(const Failure& failure);
  void skipFailures(CallId next);
  const CallNote* noteOf(CallId id, std::uint64_t ordinal) const;
  void endLoad();

  /// What MPI would say again of a communicator. It takes longer to be asked than to be remembered.
  struct Found {
    MPI_Comm comm;
    std::uint64_t freed;  // communicators, by then
    CommunicatorState* state;
  };
  // Not in a source file: see InsideMpi.
  [[gnu::tls_model("initial-exec")]] static inline thread_local Found last_found_;

  MPI_Comm comm_;
  int rank_, size_;
  Reason reason_ = Reason::kServed;
  std::string reason_text_, description_;
  std::uint32_t shape_ = 0;
  bool is_in_order_ = false;
  std::uint64_t id_ = 0;

  std::unique_ptr<Recognition> recognition_;  // until it is set up
  Status fault_;                              // why it could not be
  std::unique_ptr<torc_geometry> geometry_;   // over the shadow
  std::unique_ptr<CallCache> calls_;
  RepeatedCalls repeated_{calls_};
  std::unordered_map<std::uint32_t, CommunicatorSchedule> schedules_;  // by file
  std::unique_ptr<ScheduleLoad> load_;  // of one of them, or of one that another rank asks for
  std::uint32_t loads_file_ = 0;
  LibraryEntry of_others_;  // what `load_` is for, where other ranks ask for it
  std::deque<Turn*> queue_;

  static constexpr std::size_t kNotes = 32, kFailures = 32;
  std::uint64_t calls_made_ = 0;
  std::array<std::uint64_t, kCallIds> made_{};  // of each function
  std::uint64_t calls_seen_ = 0;          // by the last search for a shadow that can be given away
  int searches_unused_ = 0;               // since then
  std::uint64_t tries_again_at_ = 0;      // calls made, where it has no shadow
  std::array<CallNote, kNotes> notes_{};  // of the last calls, by number
  std::uint64_t calls_refused_ = 0;
  // By function: calls made when one was refused, and 0 once another has been made; one more.
  std::array<std::uint64_t, kCallIds> refused_after_{};
  std::deque<Failure> failures_;  // the last ones
  bool has_failures_to_come_ = false;
  std::vector<Notice> asks_;  // about calls to come
  struct Answer {
    std::uint64_t made = 0, refused = 0;  // calls
  };
  std::unordered_map<int, Answer> answers_;  // by rank
};

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_ENGINE_COMMUNICATOR_STATE_H_
