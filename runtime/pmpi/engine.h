// Engine: the one global state of the interposition library, from MPI_Init to MPI_Finalize.
#ifndef TORC_RUNTIME_PMPI_ENGINE_H_
#define TORC_RUNTIME_PMPI_ENGINE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <mpi.h>

#include "runtime/call_cache.h"
#include "runtime/context.h"
#include "runtime/library_open.h"
#include "runtime/pmpi/handle.h"
#include "runtime/pmpi/statistics.h"
#include "schedules/settings.h"

namespace torc::pmpi {

class CommunicatorState;
class Operation;

/// Every member is used under the lock, except those that are set before torc is on and never
/// change: settings, library, statistics, keyval,
/// meetings.
class Engine {
 public:
  explicit Engine(const Settings& given) : settings(given), call_memory(given.cache) {}
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Does what can be done now for everything that is under way.
  void advance();

  /// Operations that are not complete, and persistent ones.
  void add(Operation* operation);
  void remove(Operation* operation);

  /// The operation behind a persistent handle; nullptr for other requests.
  Operation* persistentOperation(MPI_Request request) const;

  /// The program frees a handle. True: an operation uses it, and it is freed with the last of them.
  bool keepType(MPI_Datatype type);
  bool keepOp(MPI_Op op);

  /// Its communicator is freed: the state goes with its last operation. Without the lock, which
  /// another thread may hold that waits for MPI, while MPI calls this.
  void abandon(CommunicatorState* state);
  void destroyAbandoned();

  /// At the end: all persistent operations, and all states.
  void destroyAll();

  const Settings settings;  // agreed by all ranks
  std::unique_ptr<torc_library> library;
  std::unique_ptr<Statistics> statistics;  // null: not kept
  double setup_seconds = 0;                // of MPI_Init and of communicators, in torc
  double load_seconds = 0;                 // of schedules, from first use to the last rank's
  int keyval = MPI_KEYVAL_INVALID;         // of the attribute that is a communicator's state

  MPI_Comm meetings = MPI_COMM_NULL;  // of the ranks of MPI_COMM_WORLD, for runtime/pmpi/meeting.h

  torc_context context;
  CallMemory call_memory;
  HandleSpace handles;
  std::unordered_set<CommunicatorState*> states;
  std::uint32_t shadows = 0;                // communicators made by torc
  std::vector<CommunicatorState*> waiting;  // those whose queues are not empty
  std::vector<Operation*> in_mpi;           // operations that MPI runs for torc
  std::unordered_map<MPI_Request, Operation*> persistent;

  /// What error handlers of the program are to be told, outside of the lock.
  struct Failure {
    MPI_Comm comm;
    int code;
  };
  std::vector<Failure> failures;

 private:
  /// Of a datatype or an operation, which MPICH numbers without overlap.
  bool uses(int handle) const;
  void freeKept();

  Operation* first_ = nullptr;                      // of all operations
  std::atomic<CommunicatorState*> freed_{nullptr};  // a list, on its way to the next
  std::vector<CommunicatorState*> abandoned_;
  std::vector<MPI_Datatype> kept_types_;
  std::vector<MPI_Op> kept_ops_;
};

/// nullptr while torc is off.
extern Engine* engine;

/// Holds the engine, and marks the thread as inside torc.
class EngineLock {
 public:
  EngineLock();
  ~EngineLock();
  EngineLock(const EngineLock&) = delete;
  EngineLock& operator=(const EngineLock&) = delete;
};

/// Tells error handlers what has failed. Called without the lock.
void reportFailures();

}  // namespace torc::pmpi

#endif  // TORC_RUNTIME_PMPI_ENGINE_H_
