// Schedules of a communicator: loads them, and keeps those in use.
#ifndef TORC_RUNTIME_PMPI_COMMUNICATOR_COMMUNICATOR_SCHEDULES_H_
#define TORC_RUNTIME_PMPI_COMMUNICATOR_COMMUNICATOR_SCHEDULES_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>

#include "runtime/collectives/call_cache.h"
#include "runtime/job/bound_schedule.h"
#include "runtime/job/geometry.h"
#include "runtime/job/library.h"
#include "runtime/job/schedule_load.h"
#include "runtime/non_copyable.h"
#include "runtime/pmpi/process/busy_time.h"
#include "schedules/library/index.h"

namespace torc::runtime::pmpi {

/// A file of the library on one communicator.
struct CommunicatorSchedule {
  // Empty before the first load. An error is the same on all ranks, but for kTransport: an MPI call
  // has failed on this rank, unknown to the others.
  std::optional<StatusOr<torc_schedule*>> loaded;
  // With TORC_TUNE; the same on all ranks:
  int trials = 0;           // trials under way that use it
  bool is_claimed = false;  // a call outside of trials has used it, or will
};

/// The schedules of a communicator that is set up. With the lock.
class CommunicatorSchedules : NonCopyable {
 public:
  /// For a communicator of this shape. `loading` measures the time of loads. All arguments outlive
  /// this.
  CommunicatorSchedules(torc_library& library, torc_geometry& geometry, std::uint32_t shape,
                        BusyTime& loading)
      : library_(library), geometry_(geometry), shape_(shape), loading_(loading) {}
  /// Precondition: no persistent plan uses a schedule.
  ~CommunicatorSchedules();

  /// Makes progress on loading an entry's file; nullptr until it is loaded, or has failed. Only for
  /// the call at the head of the queue. If ranks ask for different files, all ranks load all of
  /// them one after the other. Throws.
  const StatusOr<torc_schedule*>* load(const LibraryEntry& entry);

  /// A trial of a call starts or stops using this file. Without a use, or a claim by a call outside
  /// of trials, its schedule is freed, and removed from `calls`; if it could not be loaded, the
  /// next use tries again. `hold` throws std::bad_alloc.
  void hold(std::uint32_t file) { ++files_[file].trials; }
  void letGo(std::uint32_t file, CallCache& calls);
  /// A call outside of trials uses the file. Throws std::bad_alloc.
  void claim(std::uint32_t file) { files_[file].is_claimed = true; }

 private:
  void endLoad();

  torc_library& library_;
  torc_geometry& geometry_;
  const std::uint32_t shape_;
  BusyTime& loading_;
  std::unordered_map<std::uint32_t, CommunicatorSchedule> files_;
  std::unique_ptr<ScheduleLoad> load_;  // of an own file, or one of another rank
  std::uint32_t loads_file_ = 0;
  LibraryEntry of_others_;  // entry of `load_`, if other ranks ask for it
};

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_COMMUNICATOR_COMMUNICATOR_SCHEDULES_H_
