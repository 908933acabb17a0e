// Loads and frees the schedules of a communicator.
#include "runtime/pmpi/communicator/communicator_schedules.h"

#include <utility>

#include "runtime/job/contenders.h"
#include "runtime/pmpi/statistics/stderr_lines.h"
#include "runtime/transport/left_to_mpi.h"

namespace torc::runtime::pmpi {

CommunicatorSchedules::~CommunicatorSchedules() {
  // After a failure MPI may still use it.
  if (load_ != nullptr) leaveToMpi(std::move(load_));
  for (auto& [file, entry] : files_)
    torc_schedule_free(entry.schedule);
}

void CommunicatorSchedules::letGo(std::uint32_t file, CallCache& calls) {
  const auto found = files_.find(file);
  if (--found->second.trials > 0 || found->second.is_claimed) return;
  if (torc_schedule* schedule = found->second.schedule; schedule != nullptr) {
    calls.forget(schedule);
    torc_schedule_free(schedule);
  }
  files_.erase(found);
}

CommunicatorSchedule* CommunicatorSchedules::load(const LibraryEntry& entry) {
  while (files_[entry.file].stage == CommunicatorSchedule::Stage::kUnused) {
    if (load_ == nullptr) {
      load_ = std::make_unique<ScheduleLoad>(library_, geometry_, entry);
      loads_file_ = entry.file;
      loading_.begin();
    }
    if (!load_->advance()) return nullptr;
    if (!load_->entriesDiffer()) {
      endLoad();
      continue;
    }
    // All ranks see the difference, and load the same file first. The others repeat their requests.
    loads_file_ = load_->lowestFile();
    of_others_ = entryOfContender(shape_, load_->lowestCollective(), loads_file_);
    load_ = std::make_unique<ScheduleLoad>(library_, geometry_, of_others_);
  }
  return &files_[entry.file];
}

/// Ends a complete load.
void CommunicatorSchedules::endLoad() {
  using Stage = CommunicatorSchedule::Stage;
  StatusOr<torc_schedule*> loaded = load_->take();
  load_.reset();
  loading_.end();
  CommunicatorSchedule& file = files_[loads_file_];
  file.stage = loaded.ok() ? Stage::kReady : Stage::kFailed;
  if (loaded.ok()) {
    file.schedule = *loaded;
  } else if (loaded.status().code() == StatusCode::kTransport) {
    file.stage = Stage::kBroken;
    file.fault = loaded.status().message() + ": perhaps the ranks' calls differ";
  } else {
    warnOnce(geometry_.rank, loaded.status().message(), loaded.status().message());
  }
}

}  // namespace torc::runtime::pmpi
