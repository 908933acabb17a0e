// A call on its way through torc: decision, start, wait; or back to MPI.
#include "runtime/pmpi/serving/serve.h"

#include <memory>
#include <optional>
#include <utility>

#include "runtime/api/api.h"
#include "runtime/pmpi/dedicated/offload.h"
#include "runtime/pmpi/engine/call_report.h"
#include "runtime/pmpi/engine/communicator_state.h"
#include "runtime/pmpi/engine/decide.h"
#include "runtime/pmpi/engine/engine.h"
#include "runtime/pmpi/engine/failed_call.h"
#include "runtime/pmpi/engine/operation.h"
#include "runtime/pmpi/process/progress.h"
#include "runtime/pmpi/statistics/report.h"
#include "runtime/pmpi/tuning/call_trials.h"
#include "runtime/pmpi/tuning/end_trial.h"
#include "runtime/trace/trace.h"
#include "support/message.h"

namespace torc::runtime::pmpi {
namespace {

/// A call that has come, and what has been found out about it.
struct Arrival {
  CommunicatorState* state = nullptr;  // null: no communicator
  /// What serves the call; null: call.reason says why nothing does.
  const LibraryEntry* entry = nullptr;
  Call checked;  // where something serves it
};

/// Finds out about a call what this rank can find out alone.
void arrive(CollectiveCall& call, TraceCall& traced, Arrival& arrival) {
  beginCall(call);
  if (call.comm == MPI_COMM_NULL) {
    call.reason = Reason::kNoCommunicator;
  } else {
    const Status status = attempt([&]() -> Status {
      arrival.state = CommunicatorState::of(call.comm);
      if (arrival.state == nullptr) arrival.state = CommunicatorState::attach(call.comm);
      arrival.entry = decide(call, *arrival.state, arrival.checked);
      return {};
    });
    // There is no memory to find out what all ranks must know. The others go on, and nothing tells
    // them of this one.
    if (!status.ok()) {
      complainAndAbort(message(functionName(call.id, call.form), ": ", status.message()));
    }
  }
  announceCall(call, arrival.state, arrival.entry);
  traced.setBytes(call.bytes);
  traced.setDetail(servedBy(call, arrival.entry));
}

/// Whether other ranks may be in torc's calls on this communicator.
bool isRecognised(const CommunicatorState* state) {
  return state != nullptr && (state->reason() == Reason::kServed || state->id() != 0);
}

/// Notes a call that torc does not serve. Settled where it must not be MPI's, or is over.
Outcome leave(CollectiveCall& call, CommunicatorState* state) {
  if (isRecognised(state) && call.number == 0) {
    EngineLock lock;
    if (call.reason == Reason::kArgument) {
      state->noteRefused(call.id);
      return {};
    }
    state->note(call, Maker::kMpi);
  }
  if (call.number != 0) {
    if (const int code = failedElsewhere(call, *state); code != MPI_SUCCESS) {
      return refuse(call, code);
    }
  }
  if (call.reason == Reason::kOwnBlock) {
    return refuse(call, failHere(call, *state, MPI_ERR_TRUNCATE, text(call.reason)));
  }
  if (!isRefused(call.reason, engine->settings.strict)) return {};
  const std::string& why = state->reasonText();
  complainOf(call,
             message("on ", state->description(), ": ", why.empty() ? text(call.reason) : why));
  return refuse(call, MPI_ERR_OTHER);
}

/// Where a call is kept for the next one like it: of one on trial, that has the same turn.
RepeatedCalls& repeatedCallsOf(const CollectiveCall& call, CommunicatorState& state) {
  return call.trial == nullptr ? state.repeatedCalls() : *call.trial->current().repeated;
}

/// Keeps what a call has become for the next one like it. `schedule`: null: it is MPI's.
void keep(const CallKey& key, const CollectiveCall& call, const Arrival& arrival,
          torc_schedule* schedule) {
  EngineLock lock;
  // Without memory the next one is served like this one.
  static_cast<void>(attempt([&]() -> Status {
    RepeatedCalls& calls = repeatedCallsOf(call, *arrival.state);
    if (schedule == nullptr) {
      calls.handedBack(key, call, arrival.checked);
    } else {
      calls.served(key, call, arrival.checked, *arrival.entry, schedule);
    }
    return {};
  }));
}

/// A blocking call that is MPI's, and is not settled but where it must not be made. That MPI is
/// faster stays so, whatever else is under way.
Outcome handBack(CollectiveCall& call, const CallKey& key, const Arrival& arrival) {
  const Outcome left = leave(call, arrival.state);
  if (left.settled) return left;
  if (call.reason == Reason::kOverflow && call.arguments.hasPairLists()) {
    // This rank's alone: the others are in torc.
    return refuse(call, failHere(call, *arrival.state, MPI_ERR_COUNT, text(call.reason)));
  }
  if (call.reason == Reason::kMpiIsFaster) keep(key, call, arrival, nullptr);
  return left;
}

/// Makes the operation of a call that torc serves, with the lock. Of a nonblocking or persistent
/// call it has its handle; where one cannot be made the operation is gone again.
Status makeOperation(CollectiveCall& call, Arrival& arrival, MPI_Request* request,
                     std::unique_ptr<Operation>& operation) {
  if (call.number == 0) arrival.state->note(call, Maker::kTorc);
  return attempt([&]() -> Status {
    if (engine->settings.tune && call.trial == nullptr) {
      arrival.state->claimSchedule(arrival.entry->file);
    }
    operation = std::make_unique<Operation>(*arrival.state, call, arrival.checked, *arrival.entry);
    if (call.form != Form::kNonblocking) return {};
    int tag = -1;
    Status status = engine->handles.makeNonblocking(request, &tag);
    if (status.ok()) operation->setHandle(tag, *request);
    return status;
  });
}

/// Makes the communicator ready for a call that torc is to serve, and says with which error class
/// the call has failed, if it has.
int prepare(CollectiveCall& call, Arrival& arrival) {
  CommunicatorState& state = *arrival.state;
  if (state.isSetUp()) return MPI_SUCCESS;
  {
    EngineLock lock;
    state.note(call, Maker::kTorc);
  }
  if (Status status = state.setUp(&call); !status.ok()) {
    // Before the ranks have agreed on its number nothing tells the others of this one.
    if (state.id() == 0) complainAndAbort(status.message());
    return failHere(call, state, MPI_ERR_OTHER, status.message());
  }
  if (state.reason() != Reason::kServed) {
    call.reason = state.reason();
    arrival.entry = nullptr;
  }
  return MPI_SUCCESS;
}

/// Waits for an operation that has begun.
int awaitEnd(std::unique_ptr<Operation> operation) {
  progressUntil([&] { return operation->settled(); });
  const int code = operation->code();
  EngineLock lock;
  operation.reset();
  return code;
}

/// The end of a blocking call that torc has served. Its operation is gone.
Outcome settle(const CollectiveCall& call, int code) {
  code = endTrial(call, code);
  return code == MPI_SUCCESS ? Outcome{true, code} : refuse(call, code);
}

// Looks at a repeated call before it becomes an operation like others, of which stalls are told:
// about as long as a few dozen small messages take.
constexpr unsigned kLooksAtRepeated = 100;

/// Notes a repeated call. With the lock.
void noteRepeated(CollectiveCall& call, CommunicatorState& state, const RepeatedCall& repeated) {
  beginCall(call);
  state.note(call, repeated.note);
  call.bytes = repeated.note.bytes;
  call.reason = repeated.note.reason;
}

/// Starts a round, and looks at it until it is over, or some time has gone by. With the lock.
Progress lookAtRound(LaidOutCall& laid_out) {
  Executor& executor = *laid_out.executor();
  const bool is_alone = engine->isIdle();
  const unsigned looks = oversubscribed.load(std::memory_order_relaxed) ? 1 : kLooksAtRepeated;
  executor.start();
  for (unsigned i = 0; executor.progress() == Progress::kActive && i < looks; ++i) {
    executor.advance();
    if (!is_alone) engine->advance();
  }
  engine->countLook();
  if (executor.progress() == Progress::kDone) laid_out.finishRound();
  return executor.progress();
}

/// Starts a round of a repeated call, and waits for its end a while. With the lock.
Status runRepeated(CollectiveCall& call, CommunicatorState& state, RepeatedCall& repeated,
                   std::unique_ptr<Operation>& operation) {
  noteRepeated(call, state, repeated);
  state.calls().servesAgain();
  // Nothing else has tags, and as many as these were there before.
  TagSpace& space = state.geometry().one_shot_tags;
  const TagRange tags = space.rangeOf(TagSpace::hashOf(repeated.note.signature, call.ordinal),
                                      repeated.laid_out->schedule()->tag_count);
  repeated.laid_out->bindTags(tags.base);
  Status status = repeated.bind(call.arguments);
  if (status.ok()) {
    const Progress progress = lookAtRound(*repeated.laid_out);
    if (progress != Progress::kDone) {
      torc_collective round(repeated.laid_out);
      round.number = tags.call;
      if (progress == Progress::kActive) {
        round.active = true;
        round.context()->link(&round);
        status = attempt([&]() -> Status {
          operation = std::make_unique<Operation>(state, call, repeated.checked, *repeated.entry);
          return {};
        });
        if (status.ok()) {
          space.hold(tags);
          operation->takeOver(round, tags, repeated);
          return {};
        }
        round.abandon(status);
      } else {
        status = round.roundStatus();
      }
    }
  }
  if (status.ok()) endCall(call, &state, repeated.entry);
  return status;
}

/// What came of a call like one before in `calls`: that it is MPI's again, or its error class.
struct Again {
  bool is_mpis = false;
  int code = MPI_SUCCESS;
};

/// A call like one before in `calls`, where nothing else is under way on its communicator. None: it
/// is served as any other.
std::optional<Again> serveAgain(CollectiveCall& call, const CallKey& key, CommunicatorState& state,
                                RepeatedCalls& calls) {
  std::unique_ptr<Operation> operation;
  Status status;
  {
    EngineLock lock;
    RepeatedCall* repeated = calls.find(key);
    if (repeated == nullptr || !repeated->takes(call.arguments)) return std::nullopt;
    if (state.hasFailuresToCome()) return std::nullopt;
    if (repeated->isMpis()) {
      noteRepeated(call, state, *repeated);
      return Again{.is_mpis = true};
    }
    if (repeated->is_running || !state.isIdle()) return std::nullopt;
    status = attempt([&] { return runRepeated(call, state, *repeated, operation); });
    if (!status.ok()) calls.drop(*repeated);
  }
  if (!status.ok()) {
    return Again{.code = failHere(call, state, errorClass(status), status.message())};
  }
  return Again{.code = operation == nullptr ? MPI_SUCCESS : awaitEnd(std::move(operation))};
}

/// With TORC_TUNE: what is tried, or was the fastest, serves the call (runtime/pmpi/tuning). The
/// error class with which the call has failed, if it has.
int chooseByTrial(CollectiveCall& call, Arrival& arrival) {
  if (!CallTrials::mayTry(call, arrival.entry)) return MPI_SUCCESS;
  CommunicatorState& state = *arrival.state;
  const Reason found = call.reason;
  if (const int code = prepare(call, arrival); code != MPI_SUCCESS) return code;
  if (state.reason() != Reason::kServed) {
    if (found == Reason::kMpiIsFaster) call.reason = found;
    return MPI_SUCCESS;
  }
  const Status status =
      attempt([&] { return CallTrials::of(state).choose(call, arrival.checked, arrival.entry); });
  if (!status.ok()) return failHere(call, state, errorClass(status), status.message());
  return call.trial == nullptr ? failedElsewhere(call, state) : MPI_SUCCESS;
}

/// Whether a call may be a repeated one. What a trace shows is a call's way through everything.
bool mayRepeat(const CollectiveCall& call) {
  return call.is_described && call.comm != MPI_COMM_NULL && engine->context.trace == nullptr;
}

}  // namespace

Outcome serveBlocking(CollectiveCall& call) {
  if (mayOffload()) {
    if (const Outcome made = offload(call, nullptr); made.settled || engine == nullptr) return made;
  }
  const CallKey key(call);
  if (mayRepeat(call)) {
    CommunicatorState* state = CommunicatorState::of(call.comm);
    if (state != nullptr && state->reason() == Reason::kServed) {
      const auto again = serveAgain(call, key, *state, state->repeatedCalls());
      if (again) return again->is_mpis ? Outcome() : settle(call, again->code);
    }
  }
  TraceCall traced(engine->context.trace.get(), functionName(call.id, call.form));
  Arrival arrival;
  arrive(call, traced, arrival);
  if (engine->settings.tune) {
    if (const int code = chooseByTrial(call, arrival); code != MPI_SUCCESS) {
      return settle(call, code);
    }
    traced.setDetail(servedBy(call, arrival.entry));
  }
  if (arrival.entry != nullptr) {
    if (const int code = prepare(call, arrival); code != MPI_SUCCESS) return settle(call, code);
  }
  if (arrival.entry == nullptr) return handBack(call, key, arrival);
  if (call.trial != nullptr && call.number == 0 && mayRepeat(call)) {
    CommunicatorState& state = *arrival.state;
    const auto again = serveAgain(call, key, state, repeatedCallsOf(call, state));
    if (again) return again->is_mpis ? Outcome() : settle(call, again->code);
  }

  std::unique_ptr<Operation> operation;
  Status made;
  {
    EngineLock lock;
    made = makeOperation(call, arrival, nullptr, operation);
    if (made.ok()) operation->begin();
  }
  if (!made.ok()) {
    return settle(call, failHere(call, *arrival.state, MPI_ERR_NO_MEM, made.message()));
  }
  progressUntil([&] { return operation->settled(); });
  if (operation->code() == MPI_SUCCESS && operation->reason() != Reason::kServed) {
    call.reason = operation->reason();
    EngineLock lock;
    operation.reset();
    return {};
  }
  if (operation->code() == MPI_SUCCESS && mayRepeat(call)) {
    keep(key, call, arrival, operation->schedule());
  }
  return settle(call, awaitEnd(std::move(operation)));
}

Outcome serveNonblocking(CollectiveCall& call, MPI_Request* request) {
  if (mayOffload()) {
    if (const Outcome made = offload(call, request); made.settled || engine == nullptr) return made;
  }
  TraceCall traced(engine->context.trace.get(), functionName(call.id, call.form));
  Arrival arrival;
  arrive(call, traced, arrival);
  if (arrival.entry == nullptr) return leave(call, arrival.state);
  std::unique_ptr<Operation> operation;
  Status made;
  {
    EngineLock lock;
    made = makeOperation(call, arrival, request, operation);
    if (made.ok()) operation.release()->begin();
    operation.reset();
  }
  if (!made.ok()) {
    return refuse(call, failHere(call, *arrival.state, MPI_ERR_NO_MEM, made.message()));
  }
  return {true, MPI_SUCCESS};
}

Outcome servePersistent(CollectiveCall& call, MPI_Request* request) {
  if (mayOffload()) {
    if (const Outcome made = offload(call, request); made.settled || engine == nullptr) return made;
  }
  TraceCall traced(engine->context.trace.get(), functionName(call.id, call.form));
  Arrival arrival;
  arrive(call, traced, arrival);
  if (arrival.entry != nullptr) {
    if (const int code = prepare(call, arrival); code != MPI_SUCCESS) return refuse(call, code);
  }
  if (arrival.entry == nullptr) {
    has_mpis_persistent.store(true, std::memory_order_relaxed);
    return leave(call, arrival.state);
  }
  std::unique_ptr<Operation> operation;
  Status made;
  {
    EngineLock lock;
    made = makeOperation(call, arrival, request, operation);
    if (made.ok()) operation->begin();
  }
  if (!made.ok()) {
    return refuse(call, failHere(call, *arrival.state, MPI_ERR_NO_MEM, made.message()));
  }
  progressUntil([&] { return operation->settled(); });
  const int code = operation->code();
  call.reason = operation->reason();
  const bool served = code == MPI_SUCCESS && call.reason == Reason::kServed;
  {
    EngineLock lock;
    if (served) {
      made = attempt([&]() -> Status {
        int tag = -1;
        if (Status status = engine->handles.makePersistent(request, &tag); !status.ok()) {
          return status;
        }
        operation->setHandle(tag, *request);
        engine->persistent.emplace(*request, operation.get());
        persistent_handles.fetch_add(1, std::memory_order_relaxed);
        operation.release();
        return {};
      });
    }
    operation.reset();
  }
  if (!made.ok()) {
    return refuse(call, failHere(call, *arrival.state, MPI_ERR_NO_MEM, made.message()));
  }
  if (code != MPI_SUCCESS) return refuse(call, code);
  if (!served) has_mpis_persistent.store(true, std::memory_order_relaxed);
  return {served, MPI_SUCCESS};
}

bool isMadeByAll(const CollectiveCall& call) {
  // Arguments that MPI refuses may be one rank's.
  return call.reason != Reason::kOneRank && call.reason != Reason::kNoCommunicator &&
         call.reason != Reason::kArgument;
}

int handedBack(CollectiveCall& call, int code) {
  if (engine == nullptr) return code;  // dedicated ranks do without
  if (code == MPI_SUCCESS && !engine->follows_mpis) return code;
  CommunicatorState* state =
      call.comm == MPI_COMM_NULL ? nullptr : CommunicatorState::of(call.comm);
  endCall(call, state, nullptr);
  return endTrial(call, code);
}

}  // namespace torc::runtime::pmpi
