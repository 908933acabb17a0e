// What torc knows of a communicator: recognition, shadow, queue, loading.
#include "runtime/pmpi/communicator_state.h"

#include <array>
#include <utility>

#include "runtime/pmpi/engine.h"
#include "runtime/pmpi/operation.h"
#include "runtime/pmpi/progress.h"
#include "runtime/pmpi/report.h"
#include "runtime/pmpi/statistics.h"
#include "schedules/message.h"

namespace torc::pmpi {
namespace {

Reason reasonOf(Unrecognised why) {
  switch (why) {
    case Unrecognised::kNone:
      return Reason::kServed;
    case Unrecognised::kOneRank:
      return Reason::kOneRank;
    case Unrecognised::kOutsideWorld:
      return Reason::kOutsideWorld;
    case Unrecognised::kNoPart:
      return Reason::kNoPart;
  }
  return Reason::kNoPart;
}

/// A communicator of the same members, without attributes: MPI_Comm_dup would call the program's
/// functions that copy them. MPI_COMM_NULL where MPI has none left, which it finds out on all
/// ranks.
MPI_Comm makeSibling(MPI_Comm comm) {
  MPI_Comm sibling = MPI_COMM_NULL;
  if (comm == MPI_COMM_WORLD) {
    // The program has had no time to give it attributes, and MPI has communicators left. Ranks that
    // outnumber the cores should not wait inside MPI.
    MPI_Request request = MPI_REQUEST_NULL;
    complete(PMPI_Comm_idup(comm, &sibling, &request), &request);
    return sibling;
  }
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  PMPI_Comm_get_errhandler(comm, &handler);
  PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Group group = MPI_GROUP_NULL;
  PMPI_Comm_group(comm, &group);
  if (PMPI_Comm_create(comm, group, &sibling) != MPI_SUCCESS) sibling = MPI_COMM_NULL;
  PMPI_Group_free(&group);
  PMPI_Comm_set_errhandler(comm, handler);
  PMPI_Errhandler_free(&handler);
  return sibling;
}

}  // namespace

CommunicatorState* CommunicatorState::of(MPI_Comm comm) {
  void* attribute = nullptr;
  int found = 0;
  PMPI_Comm_get_attr(comm, engine->keyval, &attribute, &found);
  return found ? static_cast<CommunicatorState*>(attribute) : nullptr;
}

CommunicatorState* CommunicatorState::setUp(MPI_Comm comm) {
  const double began = PMPI_Wtime();
  int rank = 0, size = 1, inter = 0;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Comm_size(comm, &size);
  PMPI_Comm_test_inter(comm, &inter);
  auto* state = new CommunicatorState(comm, rank, size);
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
    engine->states.insert(state);
    if (state->geometry_ != nullptr) ++engine->shadows;
    engine->setup_seconds += PMPI_Wtime() - began;
  }
  PMPI_Comm_set_attr(comm, engine->keyval, state);
  return state;
}

void CommunicatorState::describe() {
  std::string what = message(size_, size_ == 1 ? " rank" : " ranks");
  std::string why = reason_text_.empty() ? text(reason_) : reason_text_;
  if (reason_ == Reason::kServed) {
    const std::string whole = engine->library->job.topology.shape();
    const std::string shape = geometry_->topology->shape();
    what = static_cast<std::uint64_t>(size_) == engine->library->job.topology.ranks()
               ? whole
               : message(shape, " part of ", whole);
    why.clear();
  }
  say(Verbosity::kCommunicators, rank_,
      message("communicator of ", size_,
              size_ == 1 ? " rank: " : " ranks: ", why.empty() ? what : why));
  if (engine->statistics != nullptr) number = engine->statistics->communicator(what, why, rank_);
}

void CommunicatorState::recognise() {
  Recognition recognition = engine->library->recognise(comm_);
  reason_ = reasonOf(recognition.why);
  reason_text_ = recognition.reason;
  if (!recognition.ok()) return;

  // Every rank alone has come to its result, from what all know alike; whether there is room may
  // differ, for ranks may be in many other communicators.
  bool room = false;
  {
    EngineLock lock;
    room = engine->shadows < engine->settings.communicators;
  }
  const std::uint64_t fingerprint = recognition.fingerprint();
  const std::array<std::uint64_t, 3> mine = {fingerprint, ~fingerprint, room ? 0u : 1u};
  std::array<std::uint64_t, 3> most{};
  MPI_Request request = MPI_REQUEST_NULL;
  complete(PMPI_Iallreduce(mine.data(), most.data(), 3, MPI_UINT64_T, MPI_MAX, comm_, &request),
           &request);
  if (most[0] != ~most[1]) {
    reason_ = Reason::kNoPart;
    reason_text_ = "its ranks recognise it differently";
  } else if (most[2] != 0) {
    reason_ = Reason::kNoShadow;
  } else {
    makeShadow(std::move(recognition));
  }
}

void CommunicatorState::makeShadow(Recognition recognition) {
  const MPI_Comm shadow = makeSibling(comm_);
  if (shadow == MPI_COMM_NULL) {
    reason_ = Reason::kNoShadow;
    return;
  }
  shape_ = recognition.shape;
  EngineLock lock;
  StatusOr<std::unique_ptr<torc_geometry>> made =
      torc_geometry::over(&engine->context, shadow, recognition.topology,
                          std::move(recognition.map), engine->library->hosts);
  if (!made.ok()) {
    reason_ = Reason::kNoShadow;
    reason_text_ = made.status().message();
    MPI_Comm unused = shadow;
    PMPI_Comm_free(&unused);
    return;
  }
  geometry_ = std::move(*made);
  if (Status status = geometry_->joinTrace(); !status.ok()) {
    warnOnce("trace", status.message());
  }
  calls_ = std::make_unique<CallCache>(geometry_.get(), &engine->call_memory);
}

CommunicatorState::~CommunicatorState() {
  if (geometry_ == nullptr) return;
  calls_.reset();
  for (auto& [file, entry] : schedules_)
    torc_schedule_free(entry.schedule);
  geometry_.reset();
  --engine->shadows;
}

void CommunicatorState::enqueue(Operation* operation) {
  if (queue_.empty() && operation->proceed()) return;
  if (queue_.empty()) engine->waiting.push_back(this);
  queue_.push_back(operation);
}

bool CommunicatorState::proceed() {
  while (!queue_.empty() && queue_.front()->proceed())
    queue_.pop_front();
  return queue_.empty();
}

CommunicatorSchedule* CommunicatorState::load(const LibraryEntry& entry) {
  using Stage = CommunicatorSchedule::Stage;
  CommunicatorSchedule& file = schedules_[entry.file];
  if (file.stage == Stage::kUnused) {
    file.load = std::make_unique<ScheduleLoad>(*engine->library, *geometry_, entry);
    file.stage = Stage::kLoading;
    file.began = PMPI_Wtime();
  }
  if (file.stage == Stage::kLoading) {
    if (!file.load->advance()) return nullptr;
    StatusOr<torc_schedule*> loaded = file.load->take();
    file.load.reset();
    engine->load_seconds += PMPI_Wtime() - file.began;
    file.stage = loaded.ok() ? Stage::kReady : Stage::kFailed;
    if (loaded.ok()) {
      file.schedule = *loaded;
    } else {
      warnOnce(rank_, loaded.status().message(), loaded.status().message());
    }
  }
  return &file;
}

}  // namespace torc::pmpi
