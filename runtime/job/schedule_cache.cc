// Schedules in a rank's memory: the least recently used ones without users are freed first.
#include "runtime/job/schedule_cache.h"

#include <utility>

#include "support/message.h"

namespace torc::runtime {

std::shared_ptr<const LoadedSchedule> ScheduleCache::find(std::uint32_t file) {
  const auto found = of_file_.find(file);
  if (found == of_file_.end()) return nullptr;
  held_.splice(held_.begin(), held_, found->second);
  return held_.front().schedule;
}

Status ScheduleCache::reserve(std::uint64_t bytes) {
  const auto fits = [&] {
    return bytes <= limit_ && bytes_ <= limit_ - bytes && reserved_ <= limit_ - bytes - bytes_;
  };
  for (auto oldest = held_.end(); !fits() && oldest != held_.begin();) {
    --oldest;
    if (oldest->schedule.use_count() > 1) continue;
    bytes_ -= oldest->schedule->bytes();
    of_file_.erase(oldest->file);
    oldest = held_.erase(oldest);
  }
  if (!fits()) {
    return {StatusCode::kNoMemory,
            message("no room for ", bytes, " bytes: ", bytes_ + reserved_, " of ", limit_,
                    " bytes for schedules are in use (TORC_LIMITS=memory)")};
  }
  reserved_ += bytes;
  return {};
}

std::shared_ptr<const LoadedSchedule> ScheduleCache::add(std::uint32_t file, std::uint64_t reserved,
                                                         LoadedSchedule schedule) {
  reserved_ -= reserved;
  if (std::shared_ptr<const LoadedSchedule> there = find(file)) return there;
  bytes_ += schedule.bytes();
  held_.push_front({file, std::make_shared<const LoadedSchedule>(std::move(schedule))});
  of_file_[file] = held_.begin();
  return held_.front().schedule;
}

}  // namespace torc::runtime
