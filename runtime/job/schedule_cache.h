// Schedules that a rank holds, by file of its library: communicators of the same shape share one
// copy. Memory is bounded: what no schedule uses any more makes room first.
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
  /// `limit`: most bytes of schedules held at a time.
  explicit ScheduleCache(std::uint64_t limit) : limit_(limit) {}

  /// The schedule in `file`, which it makes the last to give way; nullptr where it is not held.
  std::shared_ptr<const LoadedSchedule> find(std::uint32_t file);

  /// Sets `bytes` aside for a schedule to come, which may make unused ones give way. Every
  /// reservation is given back by `add` or `cancel`. kNoMemory: those in use leave no room.
  Status reserve(std::uint64_t bytes);
  void cancel(std::uint64_t bytes) { reserved_ -= bytes; }
  /// Adds a schedule for which `reserved` bytes were set aside. Where another load
  /// has brought the file meanwhile, that copy is kept and returned.
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
  std::list<Held> held_;  // the last used first
  std::unordered_map<std::uint32_t, std::list<Held>::iterator> of_file_;
};

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_JOB_SCHEDULE_CACHE_H_
