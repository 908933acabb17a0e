// Operation: one served call, from its arrival to its end. A persistent call is one operation with
// many rounds.
//
//   waiting --> running as a laid-out call ---------------------------------> complete
//      |  \---> running in MPI on the shadow, when the schedule cannot be used ---^
//      \------> persistent: agreeing on tags --> ready <--> running
//
// All members are used under the engine's lock, but for `complete`.
#ifndef TORC_RUNTIME_PMPI_OPERATION_H_
#define TORC_RUNTIME_PMPI_OPERATION_H_

#include <atomic>
#include <memory>

#include <mpi.h>

#include "runtime/agreement.h"
#include "runtime/collective.h"
#include "runtime/pmpi/collective_call.h"
#include "runtime/pmpi/communicator_state.h"
#include "runtime/pmpi/prepared_arguments.h"
#include "runtime/tag_ring.h"

namespace torc::pmpi {

class Operation {
 public:
  Operation(CommunicatorState& state, const CollectiveCall& call, const LibraryEntry& entry);
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;
  ~Operation();

  /// Sends the call on its way. It is complete (persistent: ready, or refused) some time later;
  /// one with a handle deletes itself then.
  void begin();

  /// From now on `complete` is told by the handle with this tag.
  void setHandle(int tag);

  /// At the head of its communicator's queue: does what can be done. True: leaves the queue.
  bool proceed();
  /// While MPI runs it: true when it is complete.
  bool testMpi();

  /// Rounds of a persistent operation.
  void startRound();
  /// The program has freed the handle: deletes the operation, now or when its round is complete.
  void freePersistent();

  /// Of a blocking call: complete. Of a persistent one: ready or refused. From any thread.
  bool settled() const { return settled_.load(std::memory_order_acquire); }
  /// Once settled: for the program. MPI_SUCCESS for a refused one, which is MPI's then.
  int code() const { return code_; }
  Reason reason() const { return call_.reason; }

  bool uses(int handle) const {
    return handle == call_.type || handle == call_.in_type || handle == call_.op;
  }

  CollectiveCall& call() { return call_; }
  const LibraryEntry& entry() const { return entry_; }

  // Of the engine's list.
  Operation* previous = nullptr;
  Operation* next = nullptr;

 private:
  void setUnderWay();
  bool proceedWith(torc_schedule& schedule);
  Status start(torc_schedule& schedule);
  bool agree(torc_schedule& schedule);
  Status layPersistent(torc_schedule& schedule, const TagMap& taken);
  void runInMpi();
  void refuse(Reason reason);
  void failed(const Status& status);
  void finishRound(int code);
  void settle();

  static void roundIsOver(torc_collective* collective, int result, void* cookie);

  CommunicatorState& state_;
  CollectiveCall call_;
  const LibraryEntry& entry_;
  PreparedArguments arguments_;
  torc_collective* collective_ =
      nullptr;  // laid out: of the cache, or a persistent operation's own
  bool has_tags_ = false;
  TagRange tags_;
  MPI_Request request_ = MPI_REQUEST_NULL;  // of MPI, or of the agreement
  std::unique_ptr<TagMap> taken_;           // while agreeing
  std::unique_ptr<torc_collective> own_;    // persistent
  int handle_ = -1;
  bool under_way_ = false;
  bool freed_ = false;
  int code_ = MPI_SUCCESS;
  std::atomic<bool> settled_{false};
};

}  // namespace torc::pmpi

#endif  // TORC_RUNTIME_PMPI_OPERATION_H_
