// Operation: one served call, from its start to its completion. A persistent call is one operation
// with many rounds.
//
//   waiting --> running by a persistent plan ------------------------------------> complete
//      |  \---> running in MPI on the duplicate, when the schedule cannot be used ---^
//      |        (a blocking call then falls back to MPI, in the thread that called it)
//      \------> agreeing, if it is long or persistent, on memory and tags --> running, as above
//                   \---> persistent: ready <--> running
//
// From every state a failure of the communicator ends the operation (giveUp).
#ifndef TORC_RUNTIME_PMPI_ENGINE_OPERATION_H_
#define TORC_RUNTIME_PMPI_ENGINE_OPERATION_H_

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include <mpi.h>

#include "runtime/collectives/call.h"
#include "runtime/collectives/plan.h"
#include "runtime/non_copyable.h"
#include "runtime/pmpi/calls/collective_call.h"
#include "runtime/pmpi/calls/packing.h"
#include "runtime/pmpi/engine/communicator_state.h"
#include "runtime/pmpi/engine/stall.h"
#include "runtime/pmpi/process/progress.h"
#include "runtime/transport/tag_space.h"

namespace torc::runtime::pmpi {

class Operation : NonCopyable {
 public:
  /// `checked`: the checked form of `call`, still without its lists. The verdict of `call` must be
  /// a schedule. Throws std::bad_alloc.
  Operation(CommunicatorState& state, const CollectiveCall& call, const Call& checked)
      TORC_REQUIRES(engine_lock);
  ~Operation() TORC_REQUIRES(engine_lock);

  /// Starts the call. It completes (persistent: is ready, or refused) some time later; one with a
  /// handle is freed then. An error here fails the call.
  void begin() TORC_REQUIRES(engine_lock);

  /// Instead of `begin`: continues a round of `repeated` that has begun with these tags.
  void takeOver(const TagRange& tags, RepeatedCall& repeated) TORC_REQUIRES(engine_lock);

  /// Gives the program `request`, through which it learns of the end of a round. Throws
  /// std::bad_alloc.
  Status makeHandle(MPI_Request* request) TORC_REQUIRES(engine_lock);

  /// At the head of its communicator's queue: makes progress. True: leaves the queue, and may be
  /// freed.
  bool proceed() TORC_REQUIRES(engine_lock);
  /// The call has failed, here or on another rank: ends it, if it is under way.
  void giveUp() TORC_REQUIRES(engine_lock);
  /// Whether it has failed and is still under way.
  bool hasFailed() const TORC_REQUIRES(engine_lock) {
    return under_way_ && state_.history().hasFailed(call_);
  }
  /// Adds `seconds` of waiting by the program.
  void watch(double seconds) TORC_REQUIRES(engine_lock);
  /// While MPI serves it: true when complete.
  bool testMpi() TORC_REQUIRES(engine_lock);

  /// Starts a round of a persistent operation.
  void startRound() TORC_REQUIRES(engine_lock);
  /// The program has freed the request: the operation is freed, now or after its round.
  void freePersistent() TORC_REQUIRES(engine_lock);

  /// A blocking call is complete or left to MPI; a persistent one is ready or left to MPI. From any
  /// thread.
  bool settled() const { return settled_.load(std::memory_order_acquire); }
  /// Precondition: settled().
  Verdict verdict() const { return code_ == MPI_SUCCESS ? call_.verdict : Verdict::over(code_); }

  const CollectiveCall& call() const { return call_; }
  /// Precondition: the call was served.
  torc_schedule* schedule() const { return schedule_; }

  // Links of the engine's list.
  Operation* previous TORC_GUARDED_BY(engine_lock) = nullptr;
  Operation* next TORC_GUARDED_BY(engine_lock) = nullptr;

 private:
  void holdHandles() TORC_REQUIRES(engine_lock);
  void setUnderWay() TORC_REQUIRES(engine_lock);
  bool proceedInTurn() TORC_REQUIRES(engine_lock);
  Reason whyNot(torc_schedule& schedule, std::uint32_t round_tags) const TORC_REQUIRES(engine_lock);
  bool proceedWith(torc_schedule& schedule) TORC_REQUIRES(engine_lock);
  bool takeTags(std::uint32_t count) TORC_REQUIRES(engine_lock);
  void releaseTags() TORC_REQUIRES(engine_lock);
  bool needsVote(const torc_schedule& schedule) const;
  Status prepare(torc_schedule& schedule) TORC_REQUIRES(engine_lock);
  void dropPrepared(const torc_schedule& schedule) TORC_REQUIRES(engine_lock);
  Status start() TORC_REQUIRES(engine_lock);
  Status startPlan();
  bool agree(torc_schedule& schedule) TORC_REQUIRES(engine_lock);
  Status layPersistent(torc_schedule& schedule, const TagMap& taken) TORC_REQUIRES(engine_lock);
  void runInMpi() TORC_REQUIRES(engine_lock);
  void leaveToMpi(Reason reason) TORC_REQUIRES(engine_lock);
  void failed(const Status& status) TORC_REQUIRES(engine_lock);
  void finishRound(int code) TORC_REQUIRES(engine_lock);
  void forgetHandle() TORC_REQUIRES(engine_lock);
  void settle() TORC_REQUIRES(engine_lock);
  bool isRunning() const { return plan_ != nullptr && plan_->active; }
  std::uint64_t progressMade() const;
  std::string whatIsWaitedFor() const TORC_REQUIRES(engine_lock);
  void lookForEnded() TORC_REQUIRES(engine_lock);
  void askOthers() TORC_REQUIRES(engine_lock);

  static void roundIsOver(Plan& plan, const Status& status, void* cookie)
      TORC_REQUIRES(engine_lock);

  CommunicatorState& state_;
  CollectiveCall call_;
  KeptLists kept_;  // lists of the program, named by `call_`
  Call checked_;
  // The derived datatypes among those of the call.
  std::vector<MPI_Datatype> held_types_;
  MPI_Op held_op_ = MPI_OP_NULL;
  torc_schedule* schedule_ = nullptr;
  std::optional<Packing> packing_{std::in_place};
  std::unique_ptr<Plan> persistent_;  // of a persistent call
  Plan* plan_ = nullptr;              // once it can start: `persistent_`, or one of a cache
  RepeatedCall* repeated_ = nullptr;  // owner of the plan; null: the cache
  bool has_tags_ = false;
  TagRange tags_;
  MPI_Request request_ = MPI_REQUEST_NULL;  // of MPI
  bool votes_ = false;                      // while its ranks agree on tags and memory
  int handle_ = -1;
  MPI_Request handle_request_ = MPI_REQUEST_NULL;
  StallWatch stall_;
  bool under_way_ = false;
  bool freed_ = false;
  int code_ = MPI_SUCCESS;
  std::atomic<bool> settled_{false};
};

/// The MPI error class for an error of torc.
int errorClass(const Status& status);

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_ENGINE_OPERATION_H_
