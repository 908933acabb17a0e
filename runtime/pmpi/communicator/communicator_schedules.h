// The schedules that a communicator has used: loading them, and keeping those that are in use.
#ifndef TORC_RUNTIME_PMPI_COMMUNICATOR_COMMUNICATOR_SCHEDULES_H_
#define TORC_RUNTIME_PMPI_COMMUNICATOR_COMMUNICATOR_SCHEDULES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

#include "runtime/collectives/call_cache.h"
#include "runtime/job/bound_schedule.h"
#include "runtime/job/geometry.h"
#include "runtime/job/library.h"
#include "runtime/job/schedule_load.h"
#include "runtime/pmpi/process/busy_time.h"
#include "schedules/library/index.h"

namespace torc::runtime::pmpi {

/// A file of the library on one communicator.
struct CommunicatorSchedule {
  enum class Stage {
    kUnused,
    kReady,
    kFailed,  // on all ranks
    kBroken,  // MPI has failed on this rank, which the others do not know
  };
  Stage stage = Stage::kUnused;
  std::string fault;  // why it is broken
  torc_schedule* schedule = nullptr;
  // Of the loaded one, with TORC_TUNE, alike on all ranks:
  int trials = 0;           // that are under way and have it
  bool is_claimed = false;  // a call that is not on trial has used it, or will
};

/// Those of a communicator that is set up. With the lock.
class CommunicatorSchedules {
 public:
  /// On a communicator of this shape. `loading` counts the time of loads. All outlive this.
  CommunicatorSchedules(torc_library& library, torc_geometry& geometry, std::uint32_t shape,
                        BusyTime& loading)
      : library_(library), geometry_(geometry), shape_(shape), loading_(loading) {}
  CommunicatorSchedules(const CommunicatorSchedules&) = delete;
  CommunicatorSchedules& operator=(const CommunicatorSchedules&) = delete;
  /// No persistent plan uses one.
  ~CommunicatorSchedules();

  /// Moves the loading of an entry's file on; nullptr until it is loaded, or cannot be. Only for
  /// the turn at the head of the queue. Ranks that ask for different files load one after the
  /// other, all of them on all ranks. Throws.
  CommunicatorSchedule* load(const LibraryEntry& entry);

  /// The trial of a call, which is under way, has this file's schedule, or has it no longer. What
  /// none has, and no call outside of trials has claimed, is freed, and leaves `calls`.
  void hold(std::uint32_t file) { ++files_[file].trials; }
  void letGo(std::uint32_t file, CallCache& calls);
  /// A call that is not on trial uses it. Throws std::bad_alloc.
  void claim(std::uint32_t file) { files_[file].is_claimed = true; }
  /// A file that could not be loaded for a trial: whatever needs it tries again.
  void forgetFailed(std::uint32_t file);

 private:
  void endLoad();

  torc_library& library_;
  torc_geometry& geometry_;
  const std::uint32_t shape_;
  BusyTime& loading_;
  std::unordered_map<std::uint32_t, CommunicatorSchedule> files_;
  std::unique_ptr<ScheduleLoad> load_;  // of one of them, or of one that another rank asks for
  std::uint32_t loads_file_ = 0;
  LibraryEntry of_others_;  // what `load_` is for, where other ranks ask for it
};

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_COMMUNICATOR_COMMUNICATOR_SCHEDULES_H_
