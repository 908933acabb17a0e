// Operation: one served call, from its arrival to its end.
#include "runtime/pmpi/operation.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "runtime/api.h"
#include "runtime/mpi_transport.h"
#include "runtime/pmpi/call_report.h"
#include "runtime/pmpi/engine.h"
#include "runtime/pmpi/progress.h"

namespace torc::pmpi {
namespace {

/// The error class in which a program hears of a failure of torc.
int errorClass(const Status& status) {
  switch (status.code()) {
    case StatusCode::kOk:
      return MPI_SUCCESS;
    case StatusCode::kInvalidArgument:
      return MPI_ERR_ARG;
    case StatusCode::kNoMemory:
      return MPI_ERR_NO_MEM;
    default:
      return MPI_ERR_OTHER;
  }
}

}  // namespace

Operation::Operation(CommunicatorState& state, const CollectiveCall& call,
                     const LibraryEntry& entry)
    : state_(state), call_(call), entry_(entry) {
  engine->add(this);
  ++state_.operations;
}

Operation::~Operation() {
  if (own_ != nullptr) {
    state_.geometry().releaseTags(own_->tags);
    --own_->schedule->collectives;
  }
  if (call_.form == Form::kPersistent && handle_ >= 0) engine->handles.release(handle_);
  engine->remove(this);
  --state_.operations;
}

void Operation::setHandle(int tag) {
  handle_ = tag;
}

void Operation::begin() {
  setUnderWay();
  state_.enqueue(this);
}

void Operation::setUnderWay() {
  under_way_ = true;
  ++state_.under_way;
  if (attention.fetch_add(1, std::memory_order_relaxed) == kIdleWithThreads) {
    attention.notify_all();  // the progress thread, if there is one
  }
}

bool Operation::proceed() {
  if (taken_ != nullptr) return agree(*state_.load(entry_)->schedule);
  const CommunicatorSchedule* file = state_.load(entry_);
  if (file == nullptr) return false;
  if (file->stage == CommunicatorSchedule::Stage::kReady) return proceedWith(*file->schedule);
  call_.reason = Reason::kScheduleFailed;
  if (engine->settings.strict) {
    failed({StatusCode::kUnsupported, text(call_.reason)});
  } else if (call_.form == Form::kPersistent) {
    settle();
  } else {
    runInMpi();
  }
  return true;
}

bool Operation::proceedWith(torc_schedule& schedule) {
  if (call_.form == Form::kPersistent) return agree(schedule);
  TagRing& ring = state_.geometry().ring;
  if (!has_tags_) {
    StatusOr<TagRange> range = ring.take(schedule.tag_count);
    if (!range.ok()) {  // on all ranks alike
      call_.reason = Reason::kNoTags;
      runInMpi();
      return true;
    }
    tags_ = *range;
    has_tags_ = true;
  }
  if (!ring.ready(tags_)) return false;
  if (Status status = attempt([&] { return start(schedule); }); !status.ok()) failed(status);
  return true;
}

Status Operation::start(torc_schedule& schedule) {
  arguments_.prepare(call_, state_.rank(), state_.size());
  if (Status status = arguments_.pack(); !status.ok()) return status;
  StatusOr<torc_collective*> laid = state_.calls().acquire(&schedule, arguments_.arguments());
  if (!laid.ok()) return laid.status();
  collective_ = *laid;
  collective_->bindTags(tags_);
  collective_->callback = &roundIsOver;
  collective_->cookie = this;
  call_.reason = Reason::kServed;
  if (torc_collective_start(collective_) == TORC_OK) return {};
  return {StatusCode::kTransport, torc_error_message()};
}

// ---- Persistent calls

/// Tags are claimed for as long as the call lives. Which are free anywhere differs between the
/// ranks, so they are put together, as the operation's turn in the queue.
bool Operation::agree(torc_schedule& schedule) {
  if (taken_ == nullptr) {
    taken_ = std::make_unique<TagMap>(state_.geometry().takenTags());
    const int code = PMPI_Iallreduce(MPI_IN_PLACE, taken_->data(), static_cast<int>(taken_->size()),
                                     MPI_UINT64_T, MPI_BOR, state_.shadow(), &request_);
    if (code != MPI_SUCCESS) {
      failed(mpiStatus(code, "MPI_Iallreduce"));
      return true;
    }
  }
  int done = 0;
  if (const int code = PMPI_Test(&request_, &done, MPI_STATUS_IGNORE); code != MPI_SUCCESS) {
    failed(mpiStatus(code, "MPI_Iallreduce"));
    return true;
  }
  if (!done) return false;
  const Status status = attempt([&] { return layPersistent(schedule, *taken_); });
  taken_.reset();
  if (status.ok()) {
    settle();
  } else {
    failed(status);
  }
  return true;
}

Status Operation::layPersistent(torc_schedule& schedule, const TagMap& taken) {
  torc_geometry& geometry = state_.geometry();
  const StatusOr<TagClaim> tags = geometry.claimTags(schedule.tag_count, taken);
  if (!tags.ok()) {  // on all ranks alike
    call_.reason = Reason::kNoTags;
    return {};
  }
  auto collective = std::make_unique<torc_collective>(&schedule);
  collective->number = geometry.collectives_made++;
  Status status = attempt([&] {
    arguments_.prepare(call_, state_.rank(), state_.size());
    return collective->prepare(arguments_.arguments());
  });
  if (status.ok()) {
    status =
        attempt([&] { return collective->lay(geometry.tagBase(*tags), Requests::kPersistent); });
  }
  if (!status.ok()) {
    geometry.releaseTags(*tags);
    return status;
  }
  collective->tags = *tags;
  collective->callback = &roundIsOver;
  collective->cookie = this;
  ++schedule.collectives;
  collective_ = collective.get();
  own_ = std::move(collective);
  call_.reason = Reason::kServed;
  return {};
}

void Operation::startRound() {
  beginCall(call_);
  setUnderWay();
  Status status = attempt([&] { return arguments_.pack(); });
  if (status.ok() && torc_collective_start(collective_) != TORC_OK) {
    status = Status(StatusCode::kTransport, torc_error_message());
  }
  if (!status.ok()) failed(status);
}

void Operation::freePersistent() {
  freed_ = true;
  if (!under_way_) delete this;
}

// ---- MPI in torc's place

/// The schedule cannot be used. The call keeps its place in the order of the shadow, where no call
/// of the program can meet it.
void Operation::runInMpi() {
  if (const int code = call_.mpi(state_.shadow(), &request_); code != MPI_SUCCESS) {
    failed(mpiStatus(code, "MPI"));
    return;
  }
  engine->in_mpi.push_back(this);
}

bool Operation::testMpi() {
  int done = 0;
  const int code = PMPI_Test(&request_, &done, MPI_STATUS_IGNORE);
  if (code != MPI_SUCCESS) {
    failed(mpiStatus(code, "MPI"));
    return true;
  }
  if (done) finishRound(MPI_SUCCESS);
  return done != 0;
}

// ---- The end

void Operation::roundIsOver(torc_collective*, int result, void* cookie) {
  auto* operation = static_cast<Operation*>(cookie);
  if (result != TORC_OK) {
    operation->failed({StatusCode::kTransport, torc_error_message()});
    return;
  }
  const Status status = attempt([&] { return operation->arguments_.unpack(); });
  if (status.ok()) {
    operation->finishRound(MPI_SUCCESS);
  } else {
    operation->failed(status);
  }
}

void Operation::failed(const Status& status) {
  complainOf(call_, status.message());
  finishRound(errorClass(status));
}

void Operation::finishRound(int code) {
  code_ = code;
  torc_collective* one_shot = own_ == nullptr ? std::exchange(collective_, nullptr) : nullptr;
  CallCache& cache = state_.calls();
  if (has_tags_) {
    state_.geometry().ring.release(tags_);
    has_tags_ = false;
  }
  if (handle_ >= 0) {
    if (code != MPI_SUCCESS) {
      engine->failures.push_back({state_.communicatorForErrors(), code});
    }
    if (Status status = engine->handles.complete(handle_, code != MPI_SUCCESS); !status.ok()) {
      complainOf(call_, status.message());
    }
  }
  endCall(call_, &state_, call_.reason == Reason::kServed ? &entry_ : nullptr);
  settle();
  if (one_shot != nullptr) cache.release(one_shot);
}

/// The operation may be gone afterwards.
void Operation::settle() {
  under_way_ = false;
  --state_.under_way;
  attention.fetch_sub(1, std::memory_order_relaxed);
  const bool one_shot_handle = handle_ >= 0 && call_.form == Form::kNonblocking;
  if (one_shot_handle || freed_) {
    delete this;
    return;
  }
  settled_.store(true, std::memory_order_release);
}

}  // namespace torc::pmpi
