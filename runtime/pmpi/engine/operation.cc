// Operation: one served call, from its start to its completion.
#include "runtime/pmpi/engine/operation.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "runtime/api/api.h"
#include "runtime/pmpi/engine/call_report.h"
#include "runtime/pmpi/engine/engine.h"
#include "runtime/pmpi/engine/progress_thread.h"
#include "runtime/pmpi/statistics/stderr_lines.h"
#include "runtime/transport/left_to_mpi.h"
#include "runtime/transport/mpi_status.h"
#include "runtime/transport/which_mpi.h"
#include "support/message.h"

namespace torc::runtime::pmpi {
namespace {

/// Bytes of a vector. For a longer vector that is also longer than all before it, the ranks agree
/// that all have the memory. That takes little time compared with the call.
constexpr std::uint64_t kMostBytesWithoutVote = std::uint64_t{1} << 20;

/// Vote of a rank; combined over all ranks by bitwise or.
struct Ballot {
  TagMap taken;
  std::uint64_t signature, complement, without_memory;
};

}  // namespace

int errorClass(const Status& status) {
  switch (status.code()) {
    case StatusCode::kOk:
      return MPI_SUCCESS;
    case StatusCode::kInvalidArgument:
      return MPI_ERR_ARG;
    case StatusCode::kNoMemory:
      return MPI_ERR_NO_MEM;
    case StatusCode::kTruncated:
      return MPI_ERR_TRUNCATE;
    default:
      return MPI_ERR_OTHER;
  }
}

Operation::Operation(CommunicatorState& state, const CollectiveCall& call, const Call& checked)
    : state_(state), call_(call), checked_(checked) {
  takeLists(call_.arguments, state.size(), checked_);
  // The lists of a blocking call outlive it.
  if (call.form != Form::kBlocking) {
    CallArguments& arguments = call_.arguments;
    for (NumberList* list : {&arguments.counts, &arguments.displacements, &arguments.own_counts,
                             &arguments.own_displacements}) {
      kept_.keep(*list, arguments.listLength(state.size()));
    }
    kept_.keep(arguments.types, arguments.listLength(state.size()));
    kept_.keep(arguments.own_types, arguments.listLength(state.size()));
  }
  holdHandles();
  engine->add(this);
  ++state_.operations;
}

Operation::~Operation() {
  if (plan_ != nullptr && persistent_ != nullptr) Plan::free(std::move(persistent_));
  if (call_.form == Form::kPersistent && handle_ >= 0) engine->handles.release(handle_);
  for (const MPI_Datatype type : held_types_)
    engine->held_types.release(type);
  if (held_op_ != MPI_OP_NULL) engine->held_ops.release(held_op_);
  --state_.operations;
}

/// Holds the datatypes and the operation, which the call needs until its end.
void Operation::holdHandles() {
  const CallArguments& arguments = call_.arguments;
  const auto hold = [&](MPI_Datatype type) TORC_REQUIRES(engine_lock) {
    if (!isHeldType(type)) return;
    held_types_.push_back(type);
    engine->held_types.hold(type);
  };
  hold(arguments.type);
  hold(arguments.own_type);
  if (isHeldOp(arguments.op)) {
    engine->held_ops.hold(arguments.op);
    held_op_ = arguments.op;
  }
  // Datatypes of empty blocks may be invalid.
  for (int r = 0; r < arguments.listLength(state_.size()); ++r) {
    if (arguments.isMissing(r)) continue;
    if (arguments.types != nullptr && arguments.counts[r] > 0) hold(arguments.types[r]);
    if (arguments.own_types != nullptr && arguments.own_counts[r] > 0) hold(arguments.own_types[r]);
  }
}

Status Operation::makeHandle(MPI_Request* request) {
  const bool persists = call_.form == Form::kPersistent;
  int tag = -1;
  if (Status status = engine->handles.make(persists, request, &tag); !status.ok()) return status;
  handle_ = tag;
  handle_request_ = *request;
  if (persists) {
    engine->persistent.emplace(*request, this);
    persistent_handles.fetch_add(1, std::memory_order_relaxed);
  } else {
    engine->handles_under_way.insert(*request);
  }
  return {};
}

void Operation::begin() {
  setUnderWay();
  const Status status = attempt([&]() TORC_REQUIRES(engine_lock) { state_.enqueue(this); });
  if (!status.ok()) failed(status);
}

void Operation::takeOver(const TagRange& tags, RepeatedCall& repeated) {
  setUnderWay();
  plan_ = repeated.plan;
  plan_->ended = &roundIsOver;
  plan_->cookie = this;
  plan_->link();
  tags_ = tags;
  has_tags_ = true;
  repeated_ = &repeated;
  repeated.is_running = true;
  // A notice of a failure may have come before this operation existed.
  if (hasFailed()) engine->has_failed_states = true;
}

void Operation::setUnderWay() {
  under_way_ = true;
  stall_ = StallWatch();
  ++state_.under_way;
  attention.fetch_add(1);
  tellProgressThread();
}

bool Operation::proceed() {
  if (state_.history().hasFailed(call_)) {
    engine->has_failed_states = true;  // ends it soon
    return false;
  }
  bool leaves = false;
  const Status status = attempt([&]() TORC_REQUIRES(engine_lock) { leaves = proceedInTurn(); });
  if (status.ok()) return leaves;
  failed(status);
  return true;
}

bool Operation::proceedInTurn() {
  const StatusOr<torc_schedule*>* loaded = state_.schedules().load(*call_.verdict.entry());
  if (loaded == nullptr) return false;
  if (loaded->ok()) return votes_ ? agree(***loaded) : proceedWith(***loaded);
  if (loaded->status().code() == StatusCode::kTransport) {
    failed(loaded->status());
  } else {
    leaveToMpi(Reason::kScheduleFailed);
  }
  return true;
}

/// All ranks have found that torc cannot serve the call.
void Operation::leaveToMpi(Reason reason) {
  call_.verdict = reason;
  // Another candidate of a trial may serve the call.
  const bool is_refused = call_.trial == nullptr || reason != Reason::kScheduleFailed;
  if (is_refused && isRefused(reason, engine->settings.strict)) {
    complainOf(call_, message(text(reason), ": ", state_.description()));
    finishRound(MPI_ERR_OTHER);
  } else if (call_.form == Form::kNonblocking) {
    runInMpi();
  } else {
    settle();
  }
}

/// Why a schedule cannot serve the call; the same on all ranks.
Reason Operation::whyNot(torc_schedule& schedule, std::uint32_t round_tags) const {
  const std::uint64_t limit = engine->settings.scratch;
  if (call_.arguments.hasPairLists() && !schedule.view().isDirect()) return Reason::kScheduleFailed;
  if (checked_.keeps_whole && !schedule.sumsWhole()) return Reason::kWhole;
  if (limit != kNoLimit && schedule.scratchBytes(checked_.bytes) > static_cast<double>(limit)) {
    return Reason::kScratch;
  }
  return state_.geometry().one_shot_tags.hasRoom(round_tags) ? Reason::kServed : Reason::kNoTags;
}

bool Operation::proceedWith(torc_schedule& schedule) {
  // A persistent call claims its own tags later.
  const std::uint32_t round_tags = call_.form == Form::kPersistent ? 0 : schedule.tag_count;
  if (const Reason reason = whyNot(schedule, round_tags); reason != Reason::kServed) {
    leaveToMpi(reason);
    return true;
  }
  const bool votes = needsVote(schedule);
  if (!takeTags(std::max(votes ? 1u : 0u, round_tags))) return false;
  if (votes) return agree(schedule);
  Status status = prepare(schedule);
  if (status.ok()) status = start();
  if (!status.ok()) failed(status);
  return true;
}

/// Whether the ranks vote before the call sends anything: on tags, and on whether all have the
/// memory. The same on all ranks, which know the vector's length and the earlier calls.
bool Operation::needsVote(const torc_schedule& schedule) const {
  if (call_.form == Form::kPersistent) return true;
  return !call_.arguments.hasPairLists() &&
         call_.bytes > std::max(kMostBytesWithoutVote, schedule.bytes_had);
}

/// False: an earlier call holds one of them.
bool Operation::takeTags(std::uint32_t count) {
  TagSpace& space = state_.geometry().one_shot_tags;
  tags_ = space.rangeOf(TagSpace::hashOf(signatureOf(call_), call_.ordinal), count);
  if (!space.ready(tags_)) return false;
  space.hold(tags_);
  has_tags_ = true;
  return true;
}

void Operation::releaseTags() {
  if (std::exchange(has_tags_, false)) state_.geometry().one_shot_tags.release(tags_);
}

/// Allocates all memory of the call.
Status Operation::prepare(torc_schedule& schedule) {
  return attempt([&]() TORC_REQUIRES(engine_lock) -> Status {
    packing_.emplace().prepare(call_.arguments, state_.rank(), state_.size(), checked_);
    if (call_.form == Form::kPersistent) {
      persistent_ = std::make_unique<Plan>(&schedule);
      return persistent_->prepare(checked_);
    }
    StatusOr<Plan*> plan = state_.calls().acquire(&schedule, checked_);
    if (!plan.ok()) return plan.status();
    schedule_ = &schedule;
    plan_ = *plan;
    return {};
  });
}

/// Undoes `prepare` for a call that is not to run.
void Operation::dropPrepared(const torc_schedule& schedule) {
  persistent_.reset();
  packing_.emplace();
  if (plan_ == nullptr) return;
  state_.calls().release(std::exchange(plan_, nullptr));
  state_.calls().forget(&schedule);
}

Status Operation::start() {
  plan_->bindTags(tags_);
  Status status = packing_->pack();
  return status.ok() ? startPlan() : status;
}

/// Starts a round, which ends with `roundIsOver`.
Status Operation::startPlan() {
  plan_->ended = &roundIsOver;
  plan_->cookie = this;
  return plan_->start();
}

// ---- Agreement

/// A persistent call keeps its tags until it is freed. The free tags differ between the ranks, so
/// that the ranks combine their sets while the operation is first in its queue. In the same vote
/// they check that all have the memory. The vote uses messages: see ServiceCollective.
bool Operation::agree(torc_schedule& schedule) {
  torc_geometry& geometry = state_.geometry();
  ServiceCollective& vote = state_.service();
  if (!votes_) {
    const Status prepared = prepare(schedule);
    if (!prepared.ok() && prepared.code() != StatusCode::kNoMemory) {
      failed(prepared);
      return true;
    }
    const std::uint64_t signature = signatureOf(call_);
    const Ballot mine = {geometry.takenTags(), signature, ~signature, prepared.ok() ? 0u : 1u};
    vote.disseminate(geometry.comm, tags_.base, geometry.rank, geometry.size,
                     std::bit_cast<std::array<std::uint64_t, sizeof(Ballot) / 8>>(mine));
    votes_ = true;
  }
  if (!vote.advance()) return false;
  votes_ = false;
  Status status = vote.status();
  Ballot all{};
  if (status.ok()) {
    std::memcpy(&all, vote.words().data(), sizeof(all));
  } else {
    vote.cancel();
  }
  // A bit that is set on one rank and not on another is set in both.
  if ((all.signature & all.complement) != 0) {
    status = {StatusCode::kTruncated,
              "the ranks' calls differ in count, datatype, operation or collective"};
  }
  if (status.ok() && all.without_memory != 0) {
    dropPrepared(schedule);
    releaseTags();
    leaveToMpi(Reason::kNoMemory);
  } else if (status.ok() && call_.form == Form::kPersistent) {
    status = layPersistent(schedule, all.taken);
    if (status.ok()) {
      releaseTags();
      settle();
    }
  } else if (status.ok()) {
    schedule.bytes_had = call_.bytes;
    status = start();
  }
  if (!status.ok()) failed(status);
  return true;
}

// ---- Persistent calls

Status Operation::layPersistent(torc_schedule& schedule, const TagMap& taken) {
  torc_geometry& geometry = state_.geometry();
  const StatusOr<TagClaim> tags = geometry.claimTags(schedule.tag_count, taken);
  if (!tags.ok()) {  // on all ranks alike
    call_.verdict = Reason::kNoTags;
    return {};
  }
  persistent_->number = geometry.collectives_made++;
  persistent_->tags = *tags;
  const Status status =
      attempt([&]() -> Status { return persistent_->layOut(geometry.tagBase(*tags)); });
  if (!status.ok()) {
    geometry.releaseTags(*tags);
    return status;
  }
  plan_ = persistent_.get();
  ++schedule.collectives;
  return {};
}

void Operation::startRound() {
  beginCall(call_);
  setUnderWay();
  if (state_.history().hasFailed(call_)) return giveUp();
  Status status = attempt([&]() TORC_REQUIRES(engine_lock) {
    engine->handles_under_way.insert(handle_request_);
    return packing_->pack();
  });
  if (status.ok()) status = startPlan();
  if (!status.ok()) failed(status);
}

void Operation::freePersistent() {
  engine->handles_under_way.erase(handle_request_);
  forgetHandle();
  if (!under_way_) engine->destroy(this);
}

// ---- Fallback of nonblocking calls

/// MPI serves a nonblocking call that has no usable schedule. It runs on the duplicate, where its
/// order among the calls is the same on all ranks and no call of the program can match it. On the
/// program's communicator it would come after later calls of the program, whose number differs
/// between ranks.
void Operation::runInMpi() {
  engine->in_mpi.reserve(engine->in_mpi.size() + 1);
  if (const int code = call_.mpi(kept_, state_.duplicate(), &request_); code != MPI_SUCCESS) {
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

void Operation::roundIsOver(Plan& plan, const Status& status, void* cookie) {
  auto* operation = static_cast<Operation*>(cookie);
  const Status unpacked =
      status.ok() ? attempt([&] { return operation->packing_->unpack(plan.shorter()); }) : status;
  plan.shorter().clear();
  if (unpacked.ok()) {
    operation->finishRound(MPI_SUCCESS);
  } else {
    operation->failed(unpacked);
  }
}

/// The call has failed on this rank: it must fail on all.
void Operation::failed(const Status& status) {
  const int code = errorClass(status);
  state_.history().fail(call_, code, status.message());
  finishRound(code);
}

void Operation::giveUp() {
  state_.leaveQueue(this);
  const CallFailure failure = *state_.history().failureOf(call_);
  if (isRunning()) {
    plan_->abandon({StatusCode::kTransport, failure.text});
  }
  if (std::erase(engine->in_mpi, this) > 0) {
    // MPI's nonblocking collectives cannot be cancelled: MPI may still read these lists.
    static_cast<void>(
        attempt([&] { runtime::leaveToMpi(std::make_unique<KeptLists>(std::move(kept_))); }));
  }
  if (std::exchange(votes_, false)) state_.service().cancel();
  const int code = state_.history().codeOf(failure);
  // If the initialization failed, there is no persistent request.
  finishRound(code == MPI_SUCCESS && call_.form == Form::kPersistent ? MPI_ERR_OTHER : code);
}

/// The program can use the persistent request no more.
void Operation::forgetHandle() {
  if (engine->persistent.erase(handle_request_) == 0) return;
  persistent_handles.fetch_sub(1, std::memory_order_relaxed);
  freed_ = true;
}

void Operation::finishRound(int code) {
  code_ = code;
  Plan* const one_shot = persistent_ == nullptr ? plan_ : nullptr;
  releaseTags();
  if (handle_ >= 0) {
    engine->handles_under_way.erase(handle_request_);
    if (code != MPI_SUCCESS) {
      // Without memory only the program's wait returns the error.
      static_cast<void>(
          attempt([&]() TORC_REQUIRES(engine_lock) { engine->report(state_, code); }));
    }
    if (Status status = engine->handles.complete(handle_, code != MPI_SUCCESS); !status.ok()) {
      complainOf(call_, status.message());
    }
    // The program's wait then frees it.
    if (code != MPI_SUCCESS && !kKeepsFailedRequests) forgetHandle();
  }
  endCall(call_, &state_);
  if (one_shot != nullptr) {
    plan_ = nullptr;
    if (repeated_ != nullptr) {
      repeated_->is_running = false;
    } else {
      state_.calls().release(one_shot);
    }
  }
  settle();
}

/// Ends a round; may free the operation.
void Operation::settle() {
  under_way_ = false;
  --state_.under_way;
  attention.fetch_sub(1, std::memory_order_relaxed);
  const bool one_shot_handle = handle_ >= 0 && call_.form == Form::kNonblocking;
  if (one_shot_handle || freed_) {
    engine->destroy(this);
    return;
  }
  settled_.store(true, std::memory_order_release);
}

}  // namespace torc::runtime::pmpi
