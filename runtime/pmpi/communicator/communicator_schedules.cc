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
  for (auto& [file, entry] : files_) {
    if (entry.loaded && entry.loaded->ok()) torc_schedule_free(**entry.loaded);
  }
}

void CommunicatorSchedules::letGo(std::uint32_t file, CallCache& calls) {
  const auto found = files_.find(file);
  if (--found->second.trials > 0 || found->second.is_claimed) return;
  if (const auto& loaded = found->second.loaded; loaded && loaded->ok()) {
    calls.forget(**loaded);
    torc_schedule_free(**loaded);
  }
  files_.erase(found);
}

const StatusOr<torc_schedule*>* CommunicatorSchedules::load(const LibraryEntry& entry) {
  while (!files_[entry.file].loaded) {
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
  return &*files_[entry.file].loaded;
}

/// Ends a complete load.
void CommunicatorSchedules::endLoad() {
  StatusOr<torc_schedule*> loaded = load_->take();
  load_.reset();
  loading_.end();
  const std::string& why = loaded.status().message();
  if (loaded.status().code() == StatusCode::kTransport) {
    loaded = Status(StatusCode::kTransport, why + ": perhaps the ranks' calls differ");
  } else if (!loaded.ok()) {
    warnOnce(geometry_.rank, why, why);
  }
  files_[loads_file_].loaded = std::move(loaded);
}

}  // namespace torc::runtime::pmpi
