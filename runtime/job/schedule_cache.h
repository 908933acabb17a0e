// Schedules in a rank's memory, by file of its library: communicators of the same shape share one
// copy. Memory is bounded: unused schedules are freed first.
#ifndef TORC_RUNTIME_JOB_SCHEDULE_CACHE_H_
#define TORC_RUNTIME_JOB_SCHEDULE_CACHE_H_

#include <cstdint>
#include <list>
#include <memory>
#include <unordered_map>

#include "schedules/format/file.h"
#include "support/status.h"

namespace torc::runtime {

class ScheduleCache {
 public:
  /// `limit`: maximal bytes of schedules.
  explicit ScheduleCache(std::uint64_t limit) : limit_(limit) {}

  /// The schedule in `file`, which becomes the last to be freed; nullptr if it is not here.
  std::shared_ptr<const LoadedSchedule> find(std::uint32_t file);

  /// Reserves `bytes` for a future schedule, and may free unused ones. `add` or `cancel` ends every
  /// reservation. kNoMemory: those in use leave too little.
  Status reserve(std::uint64_t bytes);
  void cancel(std::uint64_t bytes) { reserved_ -= bytes; }
  /// Adds a schedule with `reserved` bytes. If another load has added the file meanwhile, that copy
  /// is kept and returned.
  std::shared_ptr<const LoadedSchedule> add(std::uint32_t file, std::uint64_t reserved,
                                            LoadedSchedule schedule);

  std::uint64_t files() const { return of_file_.size(); }
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t limit() const { return limit_; }

 private:
  struct Held {
    std::uint32_t file;
    std::shared_ptr<const LoadedSchedule> schedule;
  };

  std::uint64_t limit_;
  std::uint64_t bytes_ = 0, reserved_ = 0;
  std::list<Held> held_;  // most recently used first
  std::unordered_map<std::uint32_t, std::list<Held>::iterator> of_file_;
};

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_JOB_SCHEDULE_CACHE_H_
