// What torc knows of a communicator of the program: which part of the torus it is, the schedules
// that it has used, and the calls on it that wait.
//
// The state hangs on the communicator as an attribute. It outlives the communicator when that is
// freed while operations are under way.
#ifndef TORC_RUNTIME_PMPI_COMMUNICATOR_STATE_H_
#define TORC_RUNTIME_PMPI_COMMUNICATOR_STATE_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>

#include <mpi.h>

#include "runtime/call_cache.h"
#include "runtime/geometry.h"
#include "runtime/library.h"
#include "runtime/library_load.h"
#include "runtime/pmpi/reason.h"
#include "schedules/library_index.h"

namespace torc::pmpi {

class Operation;

/// A file of the library on one communicator.
struct CommunicatorSchedule {
  enum class Stage { kUnused, kLoading, kReady, kFailed };
  Stage stage = Stage::kUnused;
  std::unique_ptr<ScheduleLoad> load;
  double began = 0;  // kLoading: since when, seconds
  torc_schedule* schedule = nullptr;
};

class CommunicatorState {
 public:
  /// Collective over the communicator, whose members are all on their way here: recognises it, and
  /// makes its shadow. Never fails: at worst the state says why torc serves nothing there.
  static CommunicatorState* setUp(MPI_Comm comm);
  /// Of a communicator; nullptr where it has none.
  static CommunicatorState* of(MPI_Comm comm);

  CommunicatorState(const CommunicatorState&) = delete;
  CommunicatorState& operator=(const CommunicatorState&) = delete;
  /// Not in use. Frees the shadow, which with MPICH waits for nobody.
  ~CommunicatorState();

  /// Why no call is served; kServed where they are.
  Reason reason() const { return reason_; }
  const std::string& reasonText() const { return reason_text_; }
  int rank() const { return rank_; }
  int size() const { return size_; }
  std::uint32_t shape() const { return shape_; }

  /// Of a communicator that is served.
  MPI_Comm shadow() const { return geometry_->comm; }
  torc_geometry& geometry() { return *geometry_; }
  CallCache& calls() { return *calls_; }

  /// The program's; its shadow once it is freed.
  MPI_Comm communicatorForErrors() const { return comm_ != MPI_COMM_NULL ? comm_ : shadow(); }
  void communicatorFreed() { comm_ = MPI_COMM_NULL; }
  bool inUse() const { return operations > 0; }
  /// Whether operations are under way or waiting; persistent ones may be idle.
  bool isBusy() const { return under_way > 0; }

  /// Calls pass the queue in the order in which the program makes them, so that whatever they do
  /// together with other ranks on the shadow comes in the same order everywhere.
  void enqueue(Operation* operation);
  /// Moves the queue on; true when it is empty.
  bool proceed();

  /// Moves the loading of an entry's file on, beginning it at the first call. Only for the
  /// operation at the head of the queue. nullptr until it is kReady or kFailed.
  CommunicatorSchedule* load(const LibraryEntry& entry);

  CommunicatorState* next_freed = nullptr;  // of the engine's list
  std::uint32_t number = 0;                 // in the statistics; does not change
  int operations = 0;                       // all that exist
  int under_way = 0;                        // of them, waiting or running

 private:
  CommunicatorState(MPI_Comm comm, int rank, int size) : comm_(comm), rank_(rank), size_(size) {}
  void recognise();
  void describe();
  void makeShadow(Recognition recognition);

  MPI_Comm comm_;
  int rank_, size_;
  Reason reason_ = Reason::kServed;
  std::string reason_text_;
  std::uint32_t shape_ = 0;
  std::unique_ptr<torc_geometry> geometry_;  // over the shadow
  std::unique_ptr<CallCache> calls_;
  std::unordered_map<std::uint32_t, CommunicatorSchedule> schedules_;  // by file
  std::deque<Operation*> queue_;
};

}  // namespace torc::pmpi

#endif  // TORC_RUNTIME_PMPI_COMMUNICATOR_STATE_H_
