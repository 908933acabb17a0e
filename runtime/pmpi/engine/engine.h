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
#include "runtime/pmpi/statistics/statistics.h"
#include "settings/settings.h"

namespace torc::runtime::pmpi {

class CommunicatorState;
class Operation;

/// Every member is used under the lock, except those that are set before torc is on and never
/// change: settings, has_nonblocking, library, statistics, follows_mpis, keyval, meetings,
/// world_rank.
class Engine {
 public:
  explicit Engine(const Settings& given) : settings(given), call_memory(given.cache) {}
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Does what can be done now for everything that is under way.
  void advance();
  /// Whether nothing is: what a call waits for itself is then all there is to look at.
  bool isIdle() const {
    return context.isIdle() && in_mpi.empty() && waiting.empty() && !has_failed_states &&
           abandoned_.empty() && !hasAbandoned();
  }
  /// A look that is not one of `advance`: now and then at the notices of other ranks.
  void countLook();

  /// Operations that are not complete, and persistent ones.
  void add(Operation* operation);
  void remove(Operation* operation);

  /// The operation behind a persistent handle; nullptr for other requests.
  Operation* persistentOperation(MPI_Request request) const;

  /// The program's error handler on a communicator is to be told, outside of the lock.
  void report(CommunicatorState& state, int code);
  /// Tells one: false: there is none left.
  bool takeReport(MPI_Comm* comm, int* code);

  /// Its communicator is freed: the state goes with its last operation. Without the lock, which
  /// another thread may hold that waits for MPI, while MPI calls this.
  void abandon(CommunicatorState* state);
  bool hasAbandoned() const { return freed_.load(std::memory_order_relaxed) != nullptr; }
  void destroyAbandoned();

  /// At the end: all persistent operations, and all states.
  void destroyAll();

  const Settings settings;      // agreed by all ranks
  bool has_nonblocking = true;  // whether a collective of the program may be pending while it waits
                                // for something else; the same on all ranks
  std::unique_ptr<torc_library> library;
  std::unique_ptr<Statistics> statistics;  // null: not kept
  bool follows_mpis = false;  // whether something is done at the end of a call that MPI has made
  int keyval = MPI_KEYVAL_INVALID;  // of the attribute that is a communicator's state
  int world_rank = 0;
  // Of the ranks of MPI_COMM_WORLD, for runtime/pmpi/engine/meeting.h; given up where the
  // program needs all that MPI has (duplicate_exchange.cc).
  MPI_Comm meetings = MPI_COMM_NULL;

  BusyTime settingUp;  // MPI_Init, and communicators later
  BusyTime loading;    // of schedules, from first use to the last rank's
  torc_context context;
  CallMemory call_memory;
  HandleSpace handles;
  HeldHandles held;
  Notices notices;
  std::unordered_set<CommunicatorState*> states;
  std::unordered_map<std::uint64_t, CommunicatorState*> by_id;  // those that are set up
  std::uint32_t ids_given = 0;
  std::uint32_t duplicates = 0;             // communicators made by torc
  std::vector<CommunicatorState*> waiting;  // those whose queues are not empty
  std::vector<Operation*> in_mpi;           // operations that MPI runs for torc
  std::unordered_map<MPI_Request, Operation*> persistent;
  std::unordered_set<MPI_Request> handles_under_way;  // which the program may wait for
  bool has_failed_states = false;                     // whose operations are to be ended
  bool is_ending = false;                             // the program is in MPI_Finalize

 private:
  struct Report {
    CommunicatorState* state;
    int code;
  };

  void watch();
  void endFailed();

  Operation* first_ = nullptr;                      // of all operations
  std::atomic<CommunicatorState*> freed_{nullptr};  // a list, on its way to the next
  std::vector<CommunicatorState*> abandoned_;
  std::vector<Report> reports_;
  unsigned looks_ = 0;
  double last_watch_ = 0;
};

/// nullptr while torc is off.
extern Engine* engine;

/// Whether several threads may be in torc at a time: the program's (MPI_THREAD_MULTIPLE), or its
/// only one and the progress thread. Set before torc is on, and when that thread is started.
inline std::atomic<bool> has_threads{true};

/// Holds the engine, and marks the thread as inside torc. Where one thread at a time calls MPI
/// there is nobody to lock out.
class EngineLock {
 public:
  EngineLock();
  ~EngineLock();
  EngineLock(const EngineLock&) = delete;
  EngineLock& operator=(const EngineLock&) = delete;
};

/// Counts its life as time of setting up. Without the lock.
class SetUpTime {
 public:
  SetUpTime() {
    const EngineLock lock;
    engine->settingUp.begin();
  }
  ~SetUpTime() {
    const EngineLock lock;
    engine->settingUp.end();
  }
  SetUpTime(const SetUpTime&) = delete;
  SetUpTime& operator=(const SetUpTime&) = delete;
};

/// Tells error handlers what has failed, in the call by which the program hears of it: the error
/// class of the last failure, or MPI_SUCCESS. Without the lock.
int reportFailures();

/// Tells the error handler of a communicator of an error, which may end the job. Without the lock.
void tellErrorHandler(MPI_Comm comm, int code);

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_ENGINE_ENGINE_H_
