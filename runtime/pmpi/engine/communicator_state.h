// State of a communicator of the program: its sub-torus, and, each in a class of its own
// (runtime/pmpi/communicator), the schedules used, the calls that wait, and the history of calls,
// of which some may have failed.
//
// The state is an attribute of the communicator. It outlives the communicator if that is freed
// while operations are under way.
//
//   attach: every rank alone finds the sub-torus of the members
//   setUp: all ranks confirm it and create the duplicate, a communicator of the same members for
//     messages of torc
#ifndef TORC_RUNTIME_PMPI_ENGINE_COMMUNICATOR_STATE_H_
#define TORC_RUNTIME_PMPI_ENGINE_COMMUNICATOR_STATE_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include <mpi.h>

#include "runtime/collectives/call_cache.h"
#include "runtime/job/geometry.h"
#include "runtime/job/library.h"
#include "runtime/job/reason.h"
#include "runtime/non_copyable.h"
#include "runtime/pmpi/calls/collective_call.h"
#include "runtime/pmpi/calls/repeated_call.h"
#include "runtime/pmpi/communicator/call_history.h"
#include "runtime/pmpi/communicator/cartesian_grid.h"
#include "runtime/pmpi/communicator/communicator_schedules.h"
#include "runtime/pmpi/process/progress.h"
#include "runtime/service/service_collective.h"

namespace torc::runtime::pmpi {

class CallTrials;
class Operation;

/// Number of freed communicators that had a state. Data kept about a handle is valid while this
/// number stays, as MPI may reuse the handle for another communicator.
inline std::atomic<std::uint64_t> communicators_freed{0};

/// Approximate number of communicators that the program has created and not freed.
inline std::atomic<int> program_communicators{0};
/// Whether the program may call MPI from several threads at once.
inline std::atomic<bool> program_has_threads{false};

/// Whether this rank may create another duplicate (communicator_set_up.cc).
enum class DuplicateSupply : std::uint8_t {
  kEnough,
  kUsedUp,  // torc has its share
  kScarce,  // the program has nearly all that MPI has: torc gives up its duplicates
};
DuplicateSupply duplicateSupply() TORC_REQUIRES(engine_lock);

// A communicator's name is a number that all its ranks compute without a message, from its creation
// on. Messages between ranks use it to name a communicator that is not set up yet.

/// Makes `keyval`, of the attribute that holds the name, and names MPI_COMM_WORLD.
void openNames(int& keyval);

/// After a collective creation of all ranks of `parent`: names `child`, unless it is MPI_COMM_NULL.
/// False: the parent has no name.
bool nameChild(MPI_Comm parent, MPI_Comm child);

/// The same on all ranks, and unique but for a probability of 2^-44; 0: no name.
std::uint64_t nameOf(MPI_Comm comm);

class CommunicatorState final : NonCopyable, private HistoryOwner {
 public:
  /// Local: creates the state of a communicator. Throws std::bad_alloc.
  static CommunicatorState* attach(MPI_Comm comm) TORC_EXCLUDES(engine_lock);
  /// The state of a communicator; nullptr if it has none.
  static CommunicatorState* of(MPI_Comm comm);

  /// Precondition: not in use. Frees the duplicate, which is local with MPICH.
  ~CommunicatorState() TORC_REQUIRES(engine_lock);

  /// Why no call is served; kServed if calls are served.
  Reason reason() const { return recognition_.why; }
  const std::string& reasonText() const { return recognition_.reason; }
  /// "3x2 sub-torus of 4x3x2", "5 ranks".
  const std::string& description() const override { return description_; }
  int rank() const { return rank_; }
  int size() const { return size_; }
  std::uint32_t shape() const { return recognition_.shape; }
  /// Whether the ranks are in the shape's order (Recognition::in_order).
  bool isInOrder() const { return recognition_.in_order; }
  /// The grid of neighbourhood collectives; none: they are not served.
  const std::optional<Grid>& grid() const { return grid_; }
  /// For a communicator that is set up: whether the duplicate has the grid, too.
  bool hasGridOnDuplicate() const { return has_grid_on_duplicate_; }
  /// Whether it has its duplicate.
  bool isSetUp() const { return geometry_ != nullptr; }
  /// The same on all ranks, and unique; 0: without a name and not set up.
  std::uint64_t id() const { return id_; }
  /// Whether all ranks have confirmed the recognition.
  bool isAgreed() const { return is_agreed_; }

  /// Collective, with progress: all ranks confirm the recognition, and make the duplicate or find
  /// the same reason for a fallback. An error concerns this rank alone, and stays: others may be
  /// ready. `call`: named in warnings of stalls. If it fails before all ranks have come, the
  /// communicator is unchanged, and the next call continues.
  Status setUp(const CollectiveCall* call) TORC_EXCLUDES(engine_lock);

  /// Precondition: there is a duplicate.
  MPI_Comm duplicate() const TORC_REQUIRES(engine_lock) { return geometry_->comm; }
  torc_geometry& geometry() TORC_REQUIRES(engine_lock) { return *geometry_; }
  CallCache& calls() TORC_REQUIRES(engine_lock) { return *calls_; }
  const std::unique_ptr<CallCache>& callCache() const TORC_REQUIRES(engine_lock) { return calls_; }
  /// Common actions of its ranks by messages: first the wait for all of them, which may be
  /// interrupted and continued, then votes on calls, one at a time. Throws std::bad_alloc.
  ServiceCollective& service() {
    if (service_->isCancelled()) service_ = ServiceCollective::make();
    return *service_;
  }
  CommunicatorSchedules& schedules() TORC_REQUIRES(engine_lock) { return *schedules_; }
  RepeatedCalls& repeatedCalls() TORC_REQUIRES(engine_lock) { return repeated_; }

  CallHistory& history() TORC_REQUIRES(engine_lock) { return history_; }
  const CallHistory& history() const TORC_REQUIRES(engine_lock) { return history_; }

  /// The program's communicator; MPI_COMM_SELF once it is freed.
  MPI_Comm communicatorForErrors() const TORC_REQUIRES(engine_lock) {
    return comm_ != MPI_COMM_NULL ? comm_ : MPI_COMM_SELF;
  }
  void communicatorFreed() TORC_REQUIRES(engine_lock) { comm_ = MPI_COMM_NULL; }
  bool inUse() const TORC_REQUIRES(engine_lock) { return operations > 0; }
  /// Whether operations are running or waiting; persistent ones may be inactive.
  bool isBusy() const TORC_REQUIRES(engine_lock) { return under_way > 0; }
  /// Whether a call could start at once: no call waits or uses message tags.
  bool isIdle() const TORC_REQUIRES(engine_lock) {
    return under_way == 0 && queue_.empty() && geometry_->one_shot_tags.held() == 0;
  }

  /// Calls pass the queue in the program's order. So the common actions of ranks on the duplicate
  /// have the same order on all ranks. Throws.
  void enqueue(Operation* operation) TORC_REQUIRES(engine_lock);
  void leaveQueue(Operation* operation) TORC_REQUIRES(engine_lock) {
    std::erase(queue_, operation);
  }
  /// Makes progress on the calls in the queue; true when it is empty.
  bool proceed() TORC_REQUIRES(engine_lock);

  // With TORC_TUNE (runtime/pmpi/tuning). Used by the thread of a blocking call.
  std::shared_ptr<CallTrials> trials;

  CommunicatorState* next_freed = nullptr;          // of the engine's list
  std::uint32_t number = 0;                         // in the statistics
  int operations TORC_GUARDED_BY(engine_lock) = 0;  // all existing ones
  int under_way TORC_GUARDED_BY(engine_lock) = 0;   // of these, waiting or running

 private:
  CommunicatorState(MPI_Comm comm, int rank, int size)
      : comm_(comm), rank_(rank), size_(size), history_(*this, rank, size) {}

  bool isEnding() const override TORC_REQUIRES(engine_lock);
  void send(int first, int count, Notice& notice) const override TORC_REQUIRES(engine_lock);
  void callHasFailed() override TORC_REQUIRES(engine_lock);
  void hasGoneOn() override TORC_REQUIRES(engine_lock);

  /// Words that ranks combine in a vote.
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

  /// Copy of MPI's answers about a communicator, as repeated queries take longer.
  struct Found {
    MPI_Comm comm;
    std::uint64_t freed;  // communicators_freed at that time
    CommunicatorState* state;
  };
  // Not in a source file: see InsideMpi.
  [[gnu::tls_model("initial-exec")]] static inline thread_local Found last_found_;

  MPI_Comm comm_;
  int rank_, size_;
  Recognition recognition_;  // without its map once the geometry has that
  std::string description_;
  std::optional<Grid> grid_;
  bool has_grid_on_duplicate_ = false;
  std::uint64_t id_ = 0;
  bool is_agreed_ = false;
  ServiceCollective::Pointer service_;  // for communicators that may be set up

  Status fault_;  // why the set-up failed
  std::unique_ptr<torc_geometry> geometry_ TORC_PT_GUARDED_BY(engine_lock);  // of the duplicate
  std::unique_ptr<CommunicatorSchedules> schedules_ TORC_GUARDED_BY(engine_lock);  // likewise
  std::unique_ptr<CallCache> calls_ TORC_GUARDED_BY(engine_lock);  // their persistent plans
  RepeatedCalls repeated_ TORC_GUARDED_BY(engine_lock){calls_};
  std::deque<Operation*> queue_ TORC_GUARDED_BY(engine_lock);
  CallHistory history_ TORC_GUARDED_BY(engine_lock);
};

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_ENGINE_COMMUNICATOR_STATE_H_
