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
#include "runtime/non_copyable.h"
#include "runtime/pmpi/calls/handle.h"
#include "runtime/pmpi/calls/held_handles.h"
#include "runtime/pmpi/communicator/notices.h"
#include "runtime/pmpi/process/busy_time.h"
#include "runtime/pmpi/process/progress.h"
#include "runtime/pmpi/statistics/statistics.h"
#include "settings/settings.h"

namespace torc::runtime::pmpi {

class CommunicatorState;
class Operation;

/// Members without a guard are set before torc starts to serve calls, and never change.
class Engine : NonCopyable {
 public:
  explicit Engine(const Settings& given) : settings(given), call_memory(given.cache) {}

  /// Makes progress on all operations under way.
  void advance() TORC_REQUIRES(engine_lock);
  /// Whether nothing is under way: a waiting call then polls only itself.
  bool isIdle() const TORC_REQUIRES(engine_lock) {
    return context.isIdle() && in_mpi.empty() && waiting.empty() && !has_failed_states &&
           abandoned_.empty() && !hasAbandoned();
  }
  /// Counts a poll outside of `advance`; every kLooksBeforeClock-th one checks for notices of other
  /// ranks.
  void countLook() TORC_REQUIRES(engine_lock);

  /// Adds an operation that is not complete, or persistent.
  void add(Operation* operation) TORC_REQUIRES(engine_lock);
  /// Frees an operation without references.
  void destroy(Operation* operation) TORC_REQUIRES(engine_lock);

  /// The operation behind a persistent handle; nullptr for other requests.
  Operation* persistentOperation(MPI_Request request) const TORC_REQUIRES(engine_lock);

  /// Queues an error for the program's error handler on a communicator, which is called without the
  /// lock.
  void report(CommunicatorState& state, int code) TORC_REQUIRES(engine_lock);
  /// MPI has refused a call of this rank; the program has continued with another one.
  void noteRefused() TORC_REQUIRES(engine_lock);
  void tellRefused() TORC_REQUIRES(engine_lock);

  /// Takes the next report; false if none is left.
  bool takeReport(MPI_Comm* comm, int* code) TORC_REQUIRES(engine_lock);

  /// Its communicator is freed: the state is freed with its last operation. Takes no lock: MPI
  /// calls this, while another thread may hold the lock and wait for MPI.
  void abandon(CommunicatorState* state);
  bool hasAbandoned() const { return freed_.load(std::memory_order_relaxed) != nullptr; }
  void destroyAbandoned() TORC_REQUIRES(engine_lock);

  /// At finalization: frees all persistent operations and all states.
  void destroyAll() TORC_REQUIRES(engine_lock);

  /// torc_context::moves, from any thread.
  std::uint64_t moves() const TORC_NO_THREAD_SAFETY_ANALYSIS {
    return context.moves.load(std::memory_order_relaxed);
  }
  /// The trace, if the job is traced: set before torc starts, unlike the rest of the context.
  Trace* trace() const TORC_NO_THREAD_SAFETY_ANALYSIS { return context.trace.get(); }

  const Settings settings;      // agreed by all ranks
  bool has_nonblocking = true;  // whether a collective of the program may be pending during other
                                // waits; the same on all ranks
  std::unique_ptr<torc_library> library;
  std::unique_ptr<Statistics> statistics;  // null: disabled
  bool follows_mpis = false;               // whether the end of a fallback call is recorded
  int keyval = MPI_KEYVAL_INVALID;         // of the attribute that holds a communicator's state
  int names = MPI_KEYVAL_INVALID;          // of the attribute that holds its name
  int world_rank = 0;
  // Of the ranks of MPI_COMM_WORLD, for meetings (inside_mpi.h); freed if the program needs
  // all communicators of MPI (communicator_set_up.cc).
  MPI_Comm meetings = MPI_COMM_NULL;

  BusyTime settingUp TORC_GUARDED_BY(engine_lock);  // MPI_Init, and set-up of communicators later
  BusyTime loading TORC_GUARDED_BY(engine_lock);    // of schedules, up to the last rank's end
  torc_context context TORC_GUARDED_BY(engine_lock);
  CallMemory call_memory TORC_GUARDED_BY(engine_lock);
  HandleSpace handles TORC_GUARDED_BY(engine_lock);
  HeldTypes held_types TORC_GUARDED_BY(engine_lock);
  HeldOps held_ops TORC_GUARDED_BY(engine_lock);
  Notices notices TORC_GUARDED_BY(engine_lock);
  std::unordered_set<CommunicatorState*> states TORC_GUARDED_BY(engine_lock);
  // States with an id, and notices about communicators that are unknown to this rank so far.
  std::unordered_map<std::uint64_t, CommunicatorState*> by_id TORC_GUARDED_BY(engine_lock);
  std::vector<Notice> early TORC_GUARDED_BY(engine_lock);
  std::uint32_t ids_given TORC_GUARDED_BY(engine_lock) = 0;
  std::uint32_t duplicates TORC_GUARDED_BY(engine_lock) = 0;  // communicators made by torc
  // States with calls in their queues.
  std::vector<CommunicatorState*> waiting TORC_GUARDED_BY(engine_lock);
  std::vector<Operation*> in_mpi TORC_GUARDED_BY(engine_lock);  // served by MPI for torc
  std::unordered_map<MPI_Request, Operation*> persistent TORC_GUARDED_BY(engine_lock);
  // Requests that the program may wait for.
  std::unordered_set<MPI_Request> handles_under_way TORC_GUARDED_BY(engine_lock);
  // Whether operations of failed states must be ended; whether the program is in MPI_Finalize.
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
  std::atomic<CommunicatorState*> freed_{nullptr};           // a list, to be moved to abandoned_
  std::vector<CommunicatorState*> abandoned_ TORC_GUARDED_BY(engine_lock);
  std::vector<Report> reports_ TORC_GUARDED_BY(engine_lock);
  unsigned looks_ TORC_GUARDED_BY(engine_lock) = 0;
  double last_watch_ TORC_GUARDED_BY(engine_lock) = 0;
};

/// nullptr while torc is off.
extern Engine* engine;

/// Whether several threads may call torc at a time: threads of the program (MPI_THREAD_MULTIPLE),
/// or its only one and the progress thread. Set at initialization, and at the start of that thread.
inline std::atomic<bool> has_threads{true};

/// Locks the engine, and marks the thread as inside torc. Without threads only the mark is set.
class TORC_SCOPED_CAPABILITY EngineLock : NonCopyable {
 public:
  EngineLock() TORC_ACQUIRE(engine_lock);
  ~EngineLock() TORC_RELEASE();
};

/// Adds its lifetime to the set-up time.
class SetUpTime : NonCopyable {
 public:
  SetUpTime() TORC_EXCLUDES(engine_lock) {
    const EngineLock lock;
    engine->settingUp.begin();
  }
  ~SetUpTime() TORC_EXCLUDES(engine_lock) {
    const EngineLock lock;
    engine->settingUp.end();
  }
};

/// Calls error handlers for failures, in the call in which the program learns of them. Returns the
/// error class of the last failure, or MPI_SUCCESS.
int reportFailures() TORC_EXCLUDES(engine_lock);

/// Calls the error handler of a communicator, which may end the job.
void tellErrorHandler(MPI_Comm comm, int code) TORC_EXCLUDES(engine_lock);

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_ENGINE_ENGINE_H_
