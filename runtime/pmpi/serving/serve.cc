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
#include "runtime/pmpi/serving/serve_again.h"
#include "runtime/pmpi/statistics/stderr_lines.h"
#include "runtime/pmpi/tuning/call_trials.h"
#include "runtime/pmpi/tuning/end_trial.h"
#include "runtime/trace/trace.h"
#include "support/message.h"

namespace torc::runtime::pmpi {
namespace {

/// A call that has come, and what has been found out about it.
struct Arrival {
  CommunicatorState* state = nullptr;  // null: no communicator
  Call checked;                        // where something serves it
};

/// Finds out about a call what this rank can find out alone.
void arrive(CollectiveCall& call, TraceCall& traced, Arrival& arrival) {
  beginCall(call);
  if (call.comm == MPI_COMM_NULL) {
    call.verdict = Reason::kNoCommunicator;
  } else {
    const Status status = attempt([&]() -> Status {
      arrival.state = CommunicatorState::of(call.comm);
      if (arrival.state == nullptr) arrival.state = CommunicatorState::attach(call.comm);
      call.verdict = decide(call, *arrival.state, arrival.checked);
      if (call.verdict.reason() != Reason::kArgument) recall(call.id, *arrival.state);
      return {};
    });
    // There is no memory to find out what all ranks must know. The others go on, and nothing tells
    // them of this one.
    if (!status.ok()) {
      complainAndAbort(message(functionName(call.id, call.form), ": ", status.message()));
    }
  }
  announceCall(call, arrival.state);
  traced.setBytes(call.bytes);
  traced.setDetail(servedBy(call));
}

/// Whether other ranks may be in torc's calls on this communicator.
bool isRecognised(const CommunicatorState* state) {
  return state != nullptr && (state->reason() == Reason::kServed || state->id() != 0);
}

/// Notes a call that torc does not serve. Settled where it must not be MPI's, or is over.
Outcome leave(CollectiveCall& call, CommunicatorState* state) {
  const Reason reason = call.verdict.reason();
  if (isRecognised(state) && call.number == 0) {
    EngineLock lock;
    if (reason == Reason::kArgument) {
      state->history().noteRefused(call.id);
      engine->noteRefused();
      in_refused = call.form != Form::kNonblocking;  // made inside MPI
      return {};
    }
    state->history().note(call, Maker::kMpi);
  }
  if (call.number != 0) {
    if (const auto code = failedElsewhere(call, *state)) return refuse(call, *code);
  }
  if (reason == Reason::kOwnBlock) {
    Call again;
    const Status status = check(call.arguments, state->rank(), state->size(), again);
    return refuse(call, failHere(call, *state, MPI_ERR_TRUNCATE, status.message()));
  }
  if (!isRefused(reason, engine->settings.strict)) return {};
  const std::string& why = state->reasonText();
  complainOf(call, message("on ", state->description(), ": ", why.empty() ? text(reason) : why));
  return refuse(call, MPI_ERR_OTHER);
}

/// A blocking call that is MPI's, and is not settled but where it must not be made. That MPI is
/// faster stays so, whatever else is under way.
Outcome handBack(CollectiveCall& call, const CallKey& key, const Arrival& arrival) {
  const Outcome left = leave(call, arrival.state);
  if (left.settled) return left;
  const Reason reason = call.verdict.reason();
  if (reason == Reason::kOverflow && call.arguments.hasPairLists()) {
    // This rank's alone: the others are in torc.
    return refuse(call, failHere(call, *arrival.state, MPI_ERR_COUNT, text(reason)));
  }
  if (reason == Reason::kMpiIsFaster) {
    keepRepeated(key, call, *arrival.state, arrival.checked, nullptr);
  }
  return left;
}

/// Makes the operation of a call that torc serves. Of a nonblocking or persistent call it has its
/// handle; where one cannot be made the operation is gone again.
Status makeOperation(CollectiveCall& call, Arrival& arrival, MPI_Request* request,
                     std::unique_ptr<Operation>& operation) TORC_REQUIRES(engine_lock) {
  if (call.number == 0) arrival.state->history().note(call, Maker::kTorc);
  return attempt([&]() TORC_REQUIRES(engine_lock) -> Status {
    if (engine->settings.tune && call.trial == nullptr) {
      arrival.state->schedules().claim(call.verdict.entry()->file);
    }
    operation = std::make_unique<Operation>(*arrival.state, call, arrival.checked);
    if (call.form != Form::kNonblocking) return {};
    int tag = -1;
    Status status = engine->handles.makeNonblocking(request, &tag);
    if (status.ok()) operation->setHandle(tag, *request);
    return status;
  });
}

/// Makes the communicator ready for a call that torc is to serve, and says with which error class
/// the call is over, if it is.
std::optional<int> prepare(CollectiveCall& call, CommunicatorState& state) {
  if (state.isSetUp()) return std::nullopt;
  {
    EngineLock lock;
    state.history().note(call, Maker::kTorc);
  }
  if (Status status = state.setUp(&call); !status.ok()) {
    // Before the ranks have agreed on its number nothing tells the others of this one.
    if (!state.isAgreed()) complainAndAbort(status.message());
    return failHere(call, state, errorClass(status), status.message());
  }
  if (state.reason() != Reason::kServed) call.verdict = state.reason();
  if (call.verdict.isMpis() || state.isSetUp()) return std::nullopt;
  return failedElsewhere(call, state);  // before all ranks have come
}

/// The end of a blocking call, with this error class or none.
Outcome over(const CollectiveCall& call, int code) {
  return refuse(call, endTrial(call, code));
}

/// The same of one whose operation is gone. One that is MPI's and
/// has not failed is still to be made.
Outcome settle(const CollectiveCall& call, int code) {
  if (call.verdict.isMpis() && code == MPI_SUCCESS) return {};
  return over(call, code);
}

/// With TORC_TUNE: what is tried, or was the fastest, serves the call (runtime/pmpi/tuning). The
/// error class with which the call has failed, if it has.
std::optional<int> chooseByTrial(CollectiveCall& call, Arrival& arrival) {
  if (!CallTrials::mayTry(call)) return std::nullopt;
  CommunicatorState& state = *arrival.state;
  const Verdict found = call.verdict;
  if (const auto code = prepare(call, state)) return code;
  if (state.reason() != Reason::kServed) {
    if (found.isMpis()) call.verdict = found;
    return std::nullopt;
  }
  const Status status =
      attempt([&] { return CallTrials::of(state).choose(call, arrival.checked); });
  if (!status.ok()) return failHere(call, state, errorClass(status), status.message());
  return call.trial == nullptr ? failedElsewhere(call, state) : std::nullopt;
}

}  // namespace

Outcome serveBlocking(CollectiveCall& call) {
  if (mayOffload()) {
    if (const Outcome made = offload(call, nullptr); made.settled || engine == nullptr) return made;
  }
  const CallKey key = CallKey::of(call);
  if (mayRepeat(call)) {
    CommunicatorState* state = CommunicatorState::of(call.comm);
    if (state != nullptr && state->reason() == Reason::kServed) {
      if (leaveAtOnce(call, *state)) return {};
      const auto code = serveAgain(call, key, *state);
      if (code) return settle(call, *code);
    }
  }
  TraceCall traced(engine->trace(), functionName(call.id, call.form));
  Arrival arrival;
  arrive(call, traced, arrival);
  if (engine->settings.tune) {
    if (const auto code = chooseByTrial(call, arrival)) return over(call, *code);
    traced.setDetail(servedBy(call));
  }
  if (!call.verdict.isMpis()) {
    if (const auto code = prepare(call, *arrival.state)) return over(call, *code);
  }
  if (call.verdict.isMpis()) return handBack(call, key, arrival);
  if (call.trial != nullptr && call.number == 0 && mayRepeat(call)) {
    const auto code = serveAgain(call, key, *arrival.state);
    if (code) return settle(call, *code);
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
  call.verdict = operation->verdict();
  if (operation->code() == MPI_SUCCESS && call.verdict.isMpis()) {
    EngineLock lock;
    operation.reset();
    return {};
  }
  if (operation->code() == MPI_SUCCESS && operation->schedule() != nullptr && mayRepeat(call)) {
    keepRepeated(key, call, *arrival.state, arrival.checked, operation->schedule());
  }
  return settle(call, awaitEnd(std::move(operation)));
}

Outcome serveNonblocking(CollectiveCall& call, MPI_Request* request) {
  if (mayOffload()) {
    if (const Outcome made = offload(call, request); made.settled || engine == nullptr) return made;
  }
  TraceCall traced(engine->trace(), functionName(call.id, call.form));
  Arrival arrival;
  arrive(call, traced, arrival);
  if (call.verdict.isMpis()) return leave(call, arrival.state);
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
  TraceCall traced(engine->trace(), functionName(call.id, call.form));
  Arrival arrival;
  arrive(call, traced, arrival);
  if (!call.verdict.isMpis()) {
    // Without an error there is no request either.
    if (const auto code = prepare(call, *arrival.state)) {
      return refuse(call, *code == MPI_SUCCESS ? MPI_ERR_OTHER : *code);
    }
  }
  if (call.verdict.isMpis()) {
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
  call.verdict = operation->verdict();
  const bool served = code == MPI_SUCCESS && !call.verdict.isMpis();
  {
    EngineLock lock;
    if (served) {
      made = attempt([&]() TORC_REQUIRES(engine_lock) -> Status {
        int tag = -1;
        if (Status status = engine->handles.makePersistent(request, &tag); !status.ok()) {
          return status;
        }
        operation->setHandle(tag, *request);
        engine->persistent.emplace(*request, operation.get());
        persistent_handles.fetch_add(1, std::memory_order_relaxed);
        static_cast<void>(operation.release());
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
  const Reason reason = call.verdict.reason();
  return reason != Reason::kOneRank && reason != Reason::kNoCommunicator &&
         reason != Reason::kArgument;
}

int handedBack(CollectiveCall& call, int code) {
  if (engine == nullptr) return code;  // dedicated ranks do without
  if (code == MPI_SUCCESS && !engine->follows_mpis) return code;
  CommunicatorState* state =
      call.comm == MPI_COMM_NULL ? nullptr : CommunicatorState::of(call.comm);
  endCall(call, state);
  return endTrial(call, code);
}

}  // namespace torc::runtime::pmpi
