// Operation: one served call, from its arrival to its end. A persistent call is one operation with
// many rounds.
//
//   waiting --> running by a persistent plan ------------------------------------> complete
//      |  \---> running in MPI on the duplicate, when the schedule cannot be used ---^
//      |        (a blocking call is MPI's then, and made by whoever has made it)
//      \------> agreeing, if it is long or persistent, on memory and tags --> running, as above
//                   \---> persistent: ready <--> running
//
// From everywhere a failure of the communicator leads to the end (giveUp).
#ifndef TORC_RUNTIME_PMPI_ENGINE_OPERATION_H_
#define TORC_RUNTIME_PMPI_ENGINE_OPERATION_H_

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include <mpi.h>

#include "runtime/collectives/call.h"
#include "runtime/collectives/collective.h"
#include "runtime/pmpi/calls/collective_call.h"
#include "runtime/pmpi/calls/packing.h"
#include "runtime/pmpi/communicator/turn_queue.h"
#include "runtime/pmpi/engine/communicator_state.h"
#include "runtime/pmpi/engine/stall.h"
#include "runtime/pmpi/process/engine_lock.h"
#include "runtime/transport/tag_space.h"

namespace torc::runtime::pmpi {

class Operation final : public Turn {
 public:
  /// `checked`: what `call` has become; it has no lists yet. Throws std::bad_alloc.
  /// Its verdict is a schedule.
  Operation(CommunicatorState& state, const CollectiveCall& call, const Call& checked)
      TORC_REQUIRES(engine_lock);
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;
  ~Operation() override TORC_REQUIRES(engine_lock);

  /// Sends the call on its way. It is complete (persistent: ready, or refused) some time later;
  /// one with a handle is gone then. What fails here fails the call.
  void begin() TORC_REQUIRES(engine_lock);

  /// Instead of that: goes on with a round of `repeated`, which has begun with these tags.
  void takeOver(const TagRange& tags, RepeatedCall& repeated) TORC_REQUIRES(engine_lock);

  /// From now on the program has `request`, and is told by it of the end of a round. Throws
  /// std::bad_alloc.
  Status makeHandle(MPI_Request* request) TORC_REQUIRES(engine_lock);

  /// At the head of its communicator's queue: does what can be done. True: leaves the queue.
  bool proceed() override TORC_REQUIRES(engine_lock);
  /// The call has failed, here or on another rank: ends it, where it is under way.
  void giveUp() override TORC_REQUIRES(engine_lock);
  /// Whether it is under way although it has failed.
  bool hasFailed() const override TORC_REQUIRES(engine_lock) {
    return under_way_ && state_.history().hasFailed(call_);
  }
  /// The program has waited for so many seconds more.
  void watch(double seconds) TORC_REQUIRES(engine_lock);
  /// While MPI runs it: true when it is complete.
  bool testMpi() TORC_REQUIRES(engine_lock);

  /// Rounds of a persistent operation.
  void startRound() TORC_REQUIRES(engine_lock);
  /// The program has freed the handle: the operation goes, now or when its round is complete.
  void freePersistent() TORC_REQUIRES(engine_lock);

  /// Of a blocking call: complete, or MPI's. Of a persistent one: ready, or MPI's. From any
  /// thread.
  bool settled() const { return settled_.load(std::memory_order_acquire); }
  /// Once settled.
  Verdict verdict() const { return code_ == MPI_SUCCESS ? call_.verdict : Verdict::over(code_); }

  const CollectiveCall& call() const { return call_; }
  /// Of a call that was served.
  torc_schedule* schedule() const { return schedule_; }

  // Of the engine's list.
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
  Status startCollective();
  bool agree(torc_schedule& schedule) TORC_REQUIRES(engine_lock);
  Status layPersistent(torc_schedule& schedule, const TagMap& taken) TORC_REQUIRES(engine_lock);
  void runInMpi() TORC_REQUIRES(engine_lock);
  void leaveToMpi(Reason reason) TORC_REQUIRES(engine_lock);
  void failed(const Status& status) TORC_REQUIRES(engine_lock);
  void finishRound(int code) TORC_REQUIRES(engine_lock);
  void forgetHandle() TORC_REQUIRES(engine_lock);
  void settle() TORC_REQUIRES(engine_lock);
  bool isRunning() const { return collective_ && collective_->active; }
  std::uint64_t progressMade() const;
  std::string whatIsWaitedFor() const TORC_REQUIRES(engine_lock);
  void lookForEnded() TORC_REQUIRES(engine_lock);
  void askOthers() TORC_REQUIRES(engine_lock);

  static void roundIsOver(torc_collective* collective, int result, void* cookie)
      TORC_REQUIRES(engine_lock);

  CommunicatorState& state_;
  CollectiveCall call_;
  KeptLists kept_;  // lists of the program, which `call_` names
  Call checked_;
  // Which it holds: not what MPI predefines.
  std::vector<MPI_Datatype> held_types_;
  MPI_Op held_op_ = MPI_OP_NULL;
  const LibraryEntry* entry_;
  torc_schedule* schedule_ = nullptr;
  std::optional<Packing> packing_{std::in_place};
  std::unique_ptr<PersistentPlan> persistent_;  // while its ranks agree
  std::optional<torc_collective> collective_;   // once it is laid out
  RepeatedCall* repeated_ = nullptr;            // whose persistent plan this is; null: the cache's
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

/// The error class in which a program hears of a failure of torc.
int errorClass(const Status& status);

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_ENGINE_OPERATION_H_
