// What torc knows of a communicator of the program: which sub-torus it is, and, each in a class of
// its own (runtime/pmpi/communicator), the schedules that it has used, the calls on it that wait,
// and those that were made, of which some may have failed.
//
// The state hangs on the communicator as an attribute. It outlives the communicator when that is
// freed while operations are under way.
//
//   attach: what the members are, found by every rank alone
//   setUp: all ranks confirm it and make the duplicate, a communicator of the same members for
//   torc's
//     messages
#ifndef TORC_RUNTIME_PMPI_ENGINE_COMMUNICATOR_STATE_H_
#define TORC_RUNTIME_PMPI_ENGINE_COMMUNICATOR_STATE_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <mpi.h>

#include "runtime/collectives/call_cache.h"
#include "runtime/job/geometry.h"
#include "runtime/job/library.h"
#include "runtime/job/reason.h"
#include "runtime/pmpi/calls/collective_call.h"
#include "runtime/pmpi/calls/repeated_call.h"
#include "runtime/pmpi/communicator/call_history.h"
#include "runtime/pmpi/communicator/cartesian_grid.h"
#include "runtime/pmpi/communicator/communicator_schedules.h"
#include "runtime/pmpi/communicator/turn_queue.h"
#include "runtime/pmpi/process/engine_lock.h"
#include "runtime/service/service_collective.h"

namespace torc::runtime::pmpi {

/// What tuning keeps with a communicator.
class TuningState {
 public:
  virtual ~TuningState() = default;
  /// Its schedules are about to be freed.
  virtual void forgetSchedules() TORC_REQUIRES(engine_lock) = 0;
};

/// Communicators with a state that were freed: what is remembered of a handle holds while this
/// stays, as MPI may give the handle to another communicator.
inline std::atomic<std::uint64_t> communicators_freed{0};

/// Communicators that the program has made and not freed, about.
inline std::atomic<int> program_communicators{0};
/// Whether the program may call MPI from several threads at once.
inline std::atomic<bool> program_has_threads{false};

/// Whether this rank can have another duplicate (duplicate_supply.cc).
enum class DuplicateSupply : std::uint8_t {
  kEnough,
  kUsedUp,  // torc has its share
  kScarce,  // the program has nearly all that MPI has: torc gives up what it can
};
DuplicateSupply duplicateSupply() TORC_REQUIRES(engine_lock);

class CommunicatorState final : private HistoryOwner {
 public:
  /// Local: looks at a communicator for the first time. Throws std::bad_alloc.
  static CommunicatorState* attach(MPI_Comm comm) TORC_EXCLUDES(engine_lock);
  /// Of a communicator; nullptr where it has none.
  static CommunicatorState* of(MPI_Comm comm);

  CommunicatorState(const CommunicatorState&) = delete;
  CommunicatorState& operator=(const CommunicatorState&) = delete;
  /// Not in use. Frees the duplicate, which with MPICH waits for nobody.
  ~CommunicatorState() TORC_REQUIRES(engine_lock);

  /// Why no call is served; kServed where they are.
  Reason reason() const { return reason_; }
  const std::string& reasonText() const { return reason_text_; }
  /// "3x2 sub-torus of 4x3x2", "5 ranks".
  const std::string& description() const override { return description_; }
  int rank() const { return rank_; }
  int size() const { return size_; }
  std::uint32_t shape() const { return shape_; }
  /// Whether its ranks are in the order of the shape's (Recognition::in_order).
  bool isInOrder() const { return is_in_order_; }
  /// By which neighbourhood collectives are served; none: they are not.
  const std::optional<Grid>& grid() const { return grid_; }
  /// Of one that is set up: whether the duplicate has it, too.
  bool hasGridOnDuplicate() const { return has_grid_on_duplicate_; }
  /// Whether it has its duplicate.
  bool isSetUp() const { return geometry_ != nullptr; }
  /// The same on all ranks, and no other communicator's; 0: it has no name, and is not set up.
  std::uint64_t id() const { return id_; }
  /// Whether all ranks have confirmed what it is.
  bool isAgreed() const { return is_agreed_; }

  /// Collective, with progress: confirms what the communicator is, and makes its duplicate; or
  /// finds why torc serves nothing there, alike on all ranks. An error is this rank's alone, and
  /// stays: others may be ready. `call`: for whom, where somebody waits too long. Where that is
  /// over before all ranks have come, the communicator is as before, and the next call goes on from
  /// there.
  Status setUp(const CollectiveCall* call) TORC_EXCLUDES(engine_lock);

  /// Of a communicator that has one.
  MPI_Comm duplicate() const TORC_REQUIRES(engine_lock) { return geometry_->comm; }
  torc_geometry& geometry() TORC_REQUIRES(engine_lock) { return *geometry_; }
  CallCache& calls() TORC_REQUIRES(engine_lock) { return *calls_; }
  const std::unique_ptr<CallCache>& callCache() const TORC_REQUIRES(engine_lock) { return calls_; }
  /// What its ranks do together by messages: the wait for all of them, which may be given up and
  /// taken up again, then votes on calls, one at a time. Throws std::bad_alloc.
  ServiceCollective& service() {
    if (service_->isCancelled()) service_ = ServiceCollective::make();
    return *service_;
  }
  CommunicatorSchedules& schedules() TORC_REQUIRES(engine_lock) { return *schedules_; }
  RepeatedCalls& repeatedCalls() TORC_REQUIRES(engine_lock) { return repeated_; }

  CallHistory& history() TORC_REQUIRES(engine_lock) { return history_; }
  const CallHistory& history() const TORC_REQUIRES(engine_lock) { return history_; }

  /// The program's; MPI_COMM_SELF once it is freed.
  MPI_Comm communicatorForErrors() const TORC_REQUIRES(engine_lock) {
    return comm_ != MPI_COMM_NULL ? comm_ : MPI_COMM_SELF;
  }
  void communicatorFreed() TORC_REQUIRES(engine_lock) { comm_ = MPI_COMM_NULL; }
  bool inUse() const TORC_REQUIRES(engine_lock) { return operations > 0; }
  /// Whether operations are under way or waiting; persistent ones may be idle.
  bool isBusy() const TORC_REQUIRES(engine_lock) { return under_way > 0; }
  /// Whether a call could start at once: none is waiting, or using message tags.
  bool isIdle() const TORC_REQUIRES(engine_lock) {
    return under_way == 0 && queue_.isEmpty() && geometry_->one_shot_tags.held() == 0;
  }

  /// Calls pass the queue in the order in which the program makes them, so that whatever they do
  /// together with other ranks on the duplicate comes in the same order everywhere. Throws.
  void enqueue(Turn* turn) TORC_REQUIRES(engine_lock);
  TurnQueue& queue() TORC_REQUIRES(engine_lock) { return queue_; }

  // With TORC_TUNE. By the thread that makes a blocking call.
  std::unique_ptr<TuningState> tuning;

  CommunicatorState* next_freed = nullptr;          // of the engine's list
  std::uint32_t number = 0;                         // in the statistics
  int operations TORC_GUARDED_BY(engine_lock) = 0;  // all that exist
  int under_way TORC_GUARDED_BY(engine_lock) = 0;   // of them, waiting or running

 private:
  CommunicatorState(MPI_Comm comm, int rank, int size)
      : comm_(comm), rank_(rank), size_(size), history_(*this, rank, size) {}

  bool isEnding() const override TORC_REQUIRES(engine_lock);
  void send(int first, int count, Notice& notice) const override TORC_REQUIRES(engine_lock);
  void callHasFailed() override TORC_REQUIRES(engine_lock);
  void hasGoneOn() override TORC_REQUIRES(engine_lock);

  /// What ranks tell each other.
  using Votes = std::array<std::uint64_t, 4>;

  void recognise();
  void describe();
  Status combine(Votes& votes, MPI_Op op, const CollectiveCall* call);
  Status agree(const CollectiveCall* call);
  bool awaitMembers(const CollectiveCall& call);
  Status setUpOnce(const CollectiveCall* call);
  void setId(std::uint64_t id) TORC_REQUIRES(engine_lock);
  Status makeGeometry(MPI_Comm duplicate) TORC_REQUIRES(engine_lock);
  void dropGeometry() TORC_REQUIRES(engine_lock);
  std::uint64_t callsVote() const TORC_REQUIRES(engine_lock);
  Status giveUpDuplicates(const CollectiveCall* call);

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
  std::optional<Grid> grid_;
  bool has_grid_on_duplicate_ = false;
  std::uint64_t id_ = 0;
  bool is_agreed_ = false;
  ServiceCollective::Pointer service_;  // of one that may be set up

  std::unique_ptr<Recognition> recognition_;                                 // until it is set up
  Status fault_;                                                             // why it could not be
  std::unique_ptr<torc_geometry> geometry_ TORC_PT_GUARDED_BY(engine_lock);  // over the duplicate
  std::unique_ptr<CommunicatorSchedules> schedules_ TORC_GUARDED_BY(engine_lock);  // likewise
  std::unique_ptr<CallCache> calls_ TORC_GUARDED_BY(engine_lock);  // laid out from these
  RepeatedCalls repeated_ TORC_GUARDED_BY(engine_lock){calls_};
  TurnQueue queue_ TORC_GUARDED_BY(engine_lock);
  CallHistory history_ TORC_GUARDED_BY(engine_lock);
};

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_ENGINE_COMMUNICATOR_STATE_H_
