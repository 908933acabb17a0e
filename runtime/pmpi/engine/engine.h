// Engine: the one global state of the interposer, from MPI_Init to MPI_Finalize.
#ifndef TORC_RUNTIME_PMPI_ENGINE_ENGINE_H_
#define TORC_RUNTIME_PMPI_ENGINE_ENGINE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <mpi.h>

#include "runtime/collectives/call_cache.h"
#include "runtime/job/context.h"
#include "runtime/job/library.h"
#include "runtime/pmpi/calls/handle.h"
#include "runtime/pmpi/calls/held_handles.h"
#include "runtime/pmpi/communicator/notices.h"
#include "runtime/pmpi/process/busy_time.h"
#include "runtime/pmpi/process/engine_lock.h"
#include "runtime/pmpi/statistics/statistics.h"
#include "settings/settings.h"

namespace torc::runtime::pmpi {

class CommunicatorState;
class Operation;

/// Members without a guard are set before torc is on, and never change.
class Engine {
 public:
  explicit Engine(const Settings& given) : settings(given), call_memory(given.cache) {}
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Does what can be done now for everything that is under way.
  void advance() TORC_REQUIRES(engine_lock);
  /// Whether nothing is: what a call waits for itself is then all there is to look at.
  bool isIdle() const TORC_REQUIRES(engine_lock) {
    return context.isIdle() && in_mpi.empty() && waiting.empty() && !has_failed_states &&
           abandoned_.empty() && !hasAbandoned();
  }
  /// A look that is not one of `advance`: now and then at the notices of other ranks.
  void countLook() TORC_REQUIRES(engine_lock);

  /// Operations that are not complete, and persistent ones.
  void add(Operation* operation) TORC_REQUIRES(engine_lock);
  /// Frees one, which nothing refers to.
  void destroy(Operation* operation) TORC_REQUIRES(engine_lock);

  /// The operation behind a persistent handle; nullptr for other requests.
  Operation* persistentOperation(MPI_Request request) const TORC_REQUIRES(engine_lock);

  /// The program's error handler on a communicator is to be told, outside of the lock.
  void report(CommunicatorState& state, int code) TORC_REQUIRES(engine_lock);
  /// MPI has refused a call of this rank; the program has gone on to another one.
  void noteRefused() TORC_REQUIRES(engine_lock);
  void tellRefused() TORC_REQUIRES(engine_lock);

  /// Tells one: false: there is none left.
  bool takeReport(MPI_Comm* comm, int* code) TORC_REQUIRES(engine_lock);

  /// Its communicator is freed: the state goes with its last operation. Needs no lock, which
  /// another thread may hold that waits for MPI, while MPI calls this.
  void abandon(CommunicatorState* state);
  bool hasAbandoned() const { return freed_.load(std::memory_order_relaxed) != nullptr; }
  void destroyAbandoned() TORC_REQUIRES(engine_lock);

  /// At the end: all persistent operations, and all states.
  void destroyAll() TORC_REQUIRES(engine_lock);

  /// torc_context::moves, by any thread.
  std::uint64_t moves() const TORC_NO_THREAD_SAFETY_ANALYSIS {
    return context.moves.load(std::memory_order_relaxed);
  }
  /// Of a job that is traced: set before torc is on, unlike the rest of the context.
  Trace* trace() const TORC_NO_THREAD_SAFETY_ANALYSIS { return context.trace.get(); }

  const Settings settings;      // agreed by all ranks
  bool has_nonblocking = true;  // whether a collective of the program may be pending while it waits
                                // for something else; the same on all ranks
  std::unique_ptr<torc_library> library;
  std::unique_ptr<Statistics> statistics;  // null: not kept
  bool follows_mpis = false;  // whether something is done at the end of a call that MPI has made
  int keyval = MPI_KEYVAL_INVALID;  // of the attribute that is a communicator's state
  int names = MPI_KEYVAL_INVALID;   // and of its name
  int world_rank = 0;
  // Of the ranks of MPI_COMM_WORLD, for runtime/pmpi/engine/meeting.h; given up where the
  // program needs all that MPI has (duplicate_supply.cc).
  MPI_Comm meetings = MPI_COMM_NULL;

  BusyTime settingUp TORC_GUARDED_BY(engine_lock);  // MPI_Init, and communicators later
  BusyTime loading TORC_GUARDED_BY(engine_lock);    // of schedules, to the last rank's
  torc_context context TORC_GUARDED_BY(engine_lock);
  CallMemory call_memory TORC_GUARDED_BY(engine_lock);
  HandleSpace handles TORC_GUARDED_BY(engine_lock);
  HeldHandles held TORC_GUARDED_BY(engine_lock);
  Notices notices TORC_GUARDED_BY(engine_lock);
  std::unordered_set<CommunicatorState*> states TORC_GUARDED_BY(engine_lock);
  // Those that have an id, and what has come about others, of which this rank knows nothing yet.
  std::unordered_map<std::uint64_t, CommunicatorState*> by_id TORC_GUARDED_BY(engine_lock);
  std::vector<Notice> early TORC_GUARDED_BY(engine_lock);
  std::uint32_t ids_given TORC_GUARDED_BY(engine_lock) = 0;
  std::uint32_t duplicates TORC_GUARDED_BY(engine_lock) = 0;  // communicators made by torc
  // Those whose queues are not empty.
  std::vector<CommunicatorState*> waiting TORC_GUARDED_BY(engine_lock);
  std::vector<Operation*> in_mpi TORC_GUARDED_BY(engine_lock);  // which MPI runs for torc
  std::unordered_map<MPI_Request, Operation*> persistent TORC_GUARDED_BY(engine_lock);
  // Which the program may wait for.
  std::unordered_set<MPI_Request> handles_under_way TORC_GUARDED_BY(engine_lock);
  // There are states whose operations are to be ended; the program is in MPI_Finalize.
  bool has_failed_states TORC_GUARDED_BY(engine_lock) = false;
  bool is_ending TORC_GUARDED_BY(engine_lock) = false;

 private:
  struct Report {
    CommunicatorState* state;
    int code;
  };

  void watch() TORC_REQUIRES(engine_lock);
  void endFailed() TORC_REQUIRES(engine_lock);

  Operation* first_ TORC_GUARDED_BY(engine_lock) = nullptr;  // of all operations
  std::atomic<CommunicatorState*> freed_{nullptr};           // a list, on its way to the next
  std::vector<CommunicatorState*> abandoned_ TORC_GUARDED_BY(engine_lock);
  std::vector<Report> reports_ TORC_GUARDED_BY(engine_lock);
  unsigned looks_ TORC_GUARDED_BY(engine_lock) = 0;
  double last_watch_ TORC_GUARDED_BY(engine_lock) = 0;
};

/// nullptr while torc is off.
extern Engine* engine;

/// Whether several threads may be in torc at a time: the program's (MPI_THREAD_MULTIPLE), or its
/// only one and the progress thread. Set before torc is on, and when that thread is started.
inline std::atomic<bool> has_threads{true};

/// Holds the engine, and marks the thread as inside torc. Where one thread at a time calls MPI
/// there is nobody to lock out.
class TORC_SCOPED_CAPABILITY EngineLock {
 public:
  EngineLock() TORC_ACQUIRE(engine_lock);
  ~EngineLock() TORC_RELEASE();
  EngineLock(const EngineLock&) = delete;
  EngineLock& operator=(const EngineLock&) = delete;
};

/// Counts its life as time of setting up.
class SetUpTime {
 public:
  SetUpTime() TORC_EXCLUDES(engine_lock) {
    const EngineLock lock;
    engine->settingUp.begin();
  }
  ~SetUpTime() TORC_EXCLUDES(engine_lock) {
    const EngineLock lock;
    engine->settingUp.end();
  }
  SetUpTime(const SetUpTime&) = delete;
  SetUpTime& operator=(const SetUpTime&) = delete;
};

/// Tells error handlers what has failed, in the call by which the program hears of it: the error
/// class of the last failure, or MPI_SUCCESS.
int reportFailures() TORC_EXCLUDES(engine_lock);

/// Tells the error handler of a communicator of an error, which may end the job.
void tellErrorHandler(MPI_Comm comm, int code) TORC_EXCLUDES(engine_lock);

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_ENGINE_ENGINE_H_
