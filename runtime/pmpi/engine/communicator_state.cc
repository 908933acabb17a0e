// What torc knows of a communicator: recognition, queue, loading.
#include "runtime/pmpi/engine/communicator_state.h"

#include <algorithm>
#include <utility>

#include "runtime/job/contenders.h"
#include "runtime/pmpi/engine/engine.h"
#include "runtime/pmpi/process/progress.h"
#include "runtime/pmpi/statistics/report.h"
#include "runtime/pmpi/statistics/statistics.h"
#include "runtime/transport/left_to_mpi.h"
#include "support/message.h"

namespace torc::runtime::pmpi {
namespace {

Reason reasonOf(Unrecognised why) {
  switch (why) {
    case Unrecognised::kNone:
      return Reason::kServed;
    case Unrecognised::kOneRank:
      return Reason::kOneRank;
    case Unrecognised::kOutsideWorld:
      return Reason::kOutsideWorld;
    case Unrecognised::kNoBox:
      return Reason::kNoBox;
    case Unrecognised::kNoSubTorus:
      return Reason::kNoSubTorus;
  }
  return Reason::kNoSubTorus;
}

}  // namespace

CommunicatorState* CommunicatorState::of(MPI_Comm comm) {
  Found& last = last_found_;
  const std::uint64_t freed = communicators_freed.load(std::memory_order_relaxed);
  if (last.state != nullptr && last.comm == comm && last.freed == freed) return last.state;
  void* attribute = nullptr;
  int found = 0;
  PMPI_Comm_get_attr(comm, engine->keyval, &attribute, &found);
  if (!found) return nullptr;
  last = {comm, freed, static_cast<CommunicatorState*>(attribute)};
  return last.state;
}

CommunicatorState* CommunicatorState::attach(MPI_Comm comm) {
  int rank = 0, size = 1, inter = 0;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Comm_size(comm, &size);
  PMPI_Comm_test_inter(comm, &inter);
  std::unique_ptr<CommunicatorState> state(new CommunicatorState(comm, rank, size));
  if (inter) {
    state->reason_ = Reason::kIntercommunicator;
  } else if (size == 1) {
    state->reason_ = Reason::kOneRank;
  } else {
    state->recognise();
  }
  state->describe();
  {
    EngineLock lock;
    engine->states.insert(state.get());
  }
  PMPI_Comm_set_attr(comm, engine->keyval, state.get());
  return state.release();
}

void CommunicatorState::recognise() {
  const SetUpTime time;
  recognition_ = std::make_unique<Recognition>(engine->library->recognise(comm_));
  reason_ = reasonOf(recognition_->why);
  reason_text_ = recognition_->reason;
  shape_ = recognition_->shape;
  is_in_order_ = recognition_->in_order;
  if (reason_ != Reason::kServed) recognition_.reset();
}

/// Tells what the communicator is.
void CommunicatorState::describe() {
  description_ = message(size_, size_ == 1 ? " rank" : " ranks");
  std::string why = reason_text_.empty() ? text(reason_) : reason_text_;
  if (reason_ == Reason::kServed) {
    const std::string whole = engine->library->job.topology.shape();
    description_ = static_cast<std::uint64_t>(size_) == engine->library->job.topology.ranks()
                       ? whole
                       : message(recognition_->topology.shape(), " sub-torus of ", whole);
    why.clear();
  }
  say(Verbosity::kCommunicators, rank_,
      message("communicator of ", size_,
              size_ == 1 ? " rank: " : " ranks: ", why.empty() ? description_ : why));
  if (engine->statistics != nullptr) {
    number = engine->statistics->communicator(description_, why, rank_);
  }
}

CommunicatorState::~CommunicatorState() {
  if (id_ != 0) engine->by_id.erase(id_);
  // After a failure MPI may still be at it.
  if (load_ != nullptr) leaveToMpi(std::move(load_));
  if (geometry_ != nullptr) dropGeometry();
}

void CommunicatorState::dropGeometry() {
  --engine->shadows;
  repeated_.dropAll();
  if (tuning != nullptr) tuning->forgetSchedules();
  calls_.reset();
  for (auto& [file, entry] : schedules_)
    torc_schedule_free(entry.schedule);
  schedules_.clear();
  geometry_->has_failed = !failures_.empty();
  geometry_.reset();
}

void CommunicatorState::enqueue(Turn* turn) {
  if (queue_.empty()) engine->waiting.reserve(engine->waiting.size() + 1);
  queue_.push_back(turn);
  if (queue_.size() == 1) {
    // At the head of the queue even where it is about to leave.
    if (turn->proceed()) {
      queue_.pop_front();
    } else {
      engine->waiting.push_back(this);
    }
  }
}

void CommunicatorState::dequeue(Turn* turn) {
  std::erase(queue_, turn);
}

void CommunicatorState::endQueue() {
  for (;;) {
    const auto failed = std::ranges::find_if(queue_, &Turn::hasFailed);
    if (failed == queue_.end()) return;
    (*failed)->giveUp();
  }
}

bool CommunicatorState::proceed() {
  while (!queue_.empty() && queue_.front()->proceed())
    queue_.pop_front();
  return queue_.empty();
}

void CommunicatorState::letGoOfSchedule(std::uint32_t file) {
  const auto found = schedules_.find(file);
  if (--found->second.trials > 0 || found->second.is_claimed) return;
  calls_->forget(found->second.schedule);
  torc_schedule_free(found->second.schedule);
  schedules_.erase(found);
}

void CommunicatorState::forgetFailedLoad(std::uint32_t file) {
  const auto found = schedules_.find(file);
  if (!found->second.is_claimed) schedules_.erase(found);
}

CommunicatorSchedule* CommunicatorState::load(const LibraryEntry& entry) {
  while (schedules_[entry.file].stage == CommunicatorSchedule::Stage::kUnused) {
    if (load_ == nullptr) {
      load_ = std::make_unique<ScheduleLoad>(*engine->library, *geometry_, entry);
      loads_file_ = entry.file;
      engine->loading.begin();
    }
    if (!load_->advance()) return nullptr;
    if (!load_->entriesDiffer()) {
      endLoad();
      continue;
    }
    // All ranks see so, and load the same one first. Who has asked for another asks again.
    loads_file_ = load_->lowestFile();
    of_others_ = entryOfContender(shape_, load_->lowestCollective(), loads_file_);
    load_ = std::make_unique<ScheduleLoad>(*engine->library, *geometry_, of_others_);
  }
  return &schedules_[entry.file];
}

/// A load is done.
void CommunicatorState::endLoad() {
  using Stage = CommunicatorSchedule::Stage;
  StatusOr<torc_schedule*> loaded = load_->take();
  load_.reset();
  engine->loading.end();
  CommunicatorSchedule& file = schedules_[loads_file_];
  file.stage = loaded.ok() ? Stage::kReady : Stage::kFailed;
  if (loaded.ok()) {
    file.schedule = *loaded;
  } else if (loaded.status().code() == StatusCode::kTransport) {
    file.stage = Stage::kBroken;
    file.fault = loaded.status().message() + ": perhaps the ranks' calls differ";
  } else {
    warnOnce(rank_, loaded.status().message(), loaded.status().message());
  }
}

}  // namespace torc::runtime::pmpi
