// The path of a call through torc: decision, start and wait, or fallback to MPI.
#include "runtime/pmpi/serving/serve.h"

#include "runtime/api/api.h"
#include "runtime/pmpi/dedicated/offload.h"
#include "runtime/pmpi/engine/call_report.h"
#include "runtime/pmpi/engine/communicator_state.h"
#include "runtime/pmpi/engine/decide.h"
#include "runtime/pmpi/engine/engine.h"
#include "runtime/pmpi/engine/operation.h"
#include "runtime/pmpi/process/progress.h"
#include "runtime/pmpi/statistics/stderr_lines.h"
#include "runtime/pmpi/tuning/call_trials.h"
#include "runtime/trace/trace.h"
#include "support/message.h"

namespace torc::runtime::pmpi {
namespace {

/// Decides on a call as far as this rank can alone; nullptr: there is no communicator.
CommunicatorState* arrive(CollectiveCall& call, TraceCall& traced, Call& checked) {
  CommunicatorState* state = nullptr;
  if (call.comm == MPI_COMM_NULL) {
    call.verdict = Reason::kNoCommunicator;
  } else {
    const Status status = attempt([&] {
      state = CommunicatorState::of(call.comm);
      if (state == nullptr) state = CommunicatorState::attach(call.comm);
      call.verdict = decide(call, *state, checked);
      if (call.verdict.reason() != Reason::kArgument) recall(call.arguments.id, *state);
    });
    // This rank lacks memory for a decision that all ranks must share. The others continue, and
    // cannot learn of it.
    if (!status.ok()) complainAndAbort(message(functionName(call), ": ", status.message()));
  }
  announceCall(call, state);
  traced.setBytes(call.bytes);
  traced.setDetail(servedBy(call));
  return state;
}

/// Whether other ranks may be in torc's calls on this communicator.
bool isRecognised(const CommunicatorState* state) {
  return state != nullptr && (state->reason() == Reason::kServed || state->id() != 0);
}

/// Notes a fallback, unless the call has failed, or must not fall back.
[[gnu::always_inline]] inline void leave(CollectiveCall& call, CommunicatorState* state) {
  const Reason reason = call.verdict.reason();
  if (isRecognised(state) && call.number == 0) {
    EngineLock lock;
    if (reason == Reason::kArgument) {
      state->history().noteRefused(call.arguments.id);
      engine->noteRefused();
      in_refused = call.form != Form::kNonblocking;  // made inside MPI
      return;
    }
    state->history().note(call);
  }
  if (call.number != 0 && failedElsewhere(call, *state)) return;
  if (reason == Reason::kOwnBlock) {
    Call again;
    const Status status = check(call.arguments, state->rank(), state->size(), again);
    failHere(call, *state, MPI_ERR_TRUNCATE, status.message());
  } else if (isRefused(reason, engine->settings.strict)) {
    const std::string& why = state->reasonText();
    complainOf(call, message("on ", state->description(), ": ", why.empty() ? text(reason) : why));
    call.verdict = Verdict::over(MPI_ERR_OTHER);
  } else if (reason == Reason::kOverflow && call.arguments.hasPairLists() &&
             call.form == Form::kBlocking) {
    // This rank's error alone: the others are in torc.
    failHere(call, *state, MPI_ERR_COUNT, text(reason));
  }
}

/// Sets the communicator up for a call that torc is to serve; afterwards the call may fall back, or
/// have failed.
void prepare(CollectiveCall& call, CommunicatorState& state) {
  if (state.isSetUp()) return;
  {
    EngineLock lock;
    state.history().note(call);
  }
  if (Status status = state.setUp(&call); !status.ok()) {
    // Until the ranks have agreed on its number, notices to the others are not possible.
    if (!state.isAgreed()) complainAndAbort(status.message());
    return failHere(call, state, status);
  }
  if (state.reason() != Reason::kServed) call.verdict = state.reason();
  if (!call.verdict.isMpis() && !state.isSetUp()) failedElsewhere(call, state);
}

/// With TORC_TUNE: the verdict becomes the contender on trial, or the winner (runtime/pmpi/tuning),
/// unless the call fails.
void chooseByTrial(CollectiveCall& call, CommunicatorState* state, const Call& checked) {
  if (!CallTrials::mayTry(call)) return;
  const Verdict found = call.verdict;
  prepare(call, *state);
  if (call.verdict.isOver()) return;
  if (state->reason() != Reason::kServed) {
    if (found.isMpis()) call.verdict = found;
    return;
  }
  const Status status = attempt([&] { CallTrials::of(*state).choose(call, checked); });
  if (!status.ok()) failHere(call, *state, status);
}

/// Creates and starts the operation of a call that torc serves. A nonblocking call gets its handle;
/// if that fails the operation is destroyed.
Status begin(CollectiveCall& call, CommunicatorState& state, const Call& checked,
             MPI_Request* request, Operation*& operation) TORC_REQUIRES(engine_lock) {
  if (call.number == 0) state.history().note(call);
  Status status = attempt([&]() TORC_REQUIRES(engine_lock) -> Status {
    if (engine->settings.tune && call.trial == nullptr) {
      state.schedules().claim(call.verdict.entry()->file);
    }
    operation = new Operation(state, call, checked);
    return call.form == Form::kNonblocking ? operation->makeHandle(request) : Status();
  });
  if (status.ok()) {
    operation->begin();
  } else if (operation != nullptr) {
    engine->destroy(operation);
  }
  return status;
}

/// Ends an operation of a blocking or persistent call; a persistent one that is ready stays.
void finish(CollectiveCall& call, CommunicatorState& state, Operation* operation,
            MPI_Request* request) {
  Status made;
  {
    EngineLock lock;
    call.verdict = operation->verdict();
    const bool stays = call.form == Form::kPersistent && call.verdict.entry() != nullptr;
    if (stays) {
      made = attempt([&]() TORC_REQUIRES(engine_lock) { return operation->makeHandle(request); });
    }
    if (!stays || !made.ok()) engine->destroy(operation);
  }
  if (!made.ok()) failHere(call, state, MPI_ERR_NO_MEM, made.message());
}

/// Serves a call to its end, or only starts it if it does not block.
void run(CollectiveCall& call, const CallKey& key, CommunicatorState& state, const Call& checked,
         MPI_Request* request) {
  Operation* operation = nullptr;
  Status begun;
  {
    EngineLock lock;
    begun = begin(call, state, checked, request, operation);
  }
  if (!begun.ok()) return failHere(call, state, MPI_ERR_NO_MEM, begun.message());
  if (call.form == Form::kNonblocking) return;
  progressUntil([&] { return operation->settled(); });
  if (operation->verdict().entry() != nullptr && mayRepeat(call)) {
    keepRepeated(key, call, state, checked, operation->schedule());
  }
  finish(call, state, operation, request);
}

/// Serves a call by its verdict, unless it falls back. Inlined with `leave`, since most calls are
/// not on trial.
[[gnu::always_inline]] inline void make(CollectiveCall& call, const CallKey& key,
                                        CommunicatorState* state, const Call& checked,
                                        MPI_Request* request) {
  if (call.verdict.entry() != nullptr && call.form != Form::kNonblocking) prepare(call, *state);
  if (call.verdict.isOver()) return;
  if (call.verdict.isMpis()) {
    leave(call, state);
    // A faster MPI is a lasting reason, also while other calls are active.
    if (call.verdict.reason() == Reason::kMpiIsFaster && call.form == Form::kBlocking) {
      keepRepeated(key, call, *state, checked, nullptr);
    }
  } else if (call.trial == nullptr || call.number != 0 || !mayRepeat(call) ||
             !serveAgain(call, key, *state)) {
    run(call, key, *state, checked, request);
  }
}

/// With TORC_TUNE: makes a call again if the schedule on trial is left out.
void makeOnTrial(CollectiveCall& call, const CallKey& key, CommunicatorState* state,
                 const Call& checked, MPI_Request* request, TraceCall& traced) {
  do {
    chooseByTrial(call, state, checked);
    traced.setDetail(servedBy(call));
    make(call, key, state, checked, request);
  } while (call.trial != nullptr && CallTrials::of(*state).leavesOut(call));
}

/// Decides on a call, and serves it unless it falls back.
void find(CollectiveCall& call, MPI_Request* request) {
  if (mayRepeat(call)) {
    CommunicatorState* state = CommunicatorState::of(call.comm);
    if (state != nullptr && state->reason() == Reason::kServed &&
        (leaveAtOnce(call, *state) || serveAgain(call, call.arguments, *state))) {
      return;
    }
  }
  const CallKey key = call.arguments;  // as `decide` drops ignored arguments
  TraceCall traced(engine->trace(), functionName(call));
  Call checked;  // if torc or dedicated ranks serve it
  CommunicatorState* state = arrive(call, traced, checked);
  if (engine->settings.tune) {
    makeOnTrial(call, key, state, checked, request, traced);
  } else {
    make(call, key, state, checked, request);
  }
}

/// The call on trial has ended on this rank. After the last one of its trial the ranks agree on the
/// winner, which may fail.
void endTrial(CollectiveCall& call) {
  if (call.trial == nullptr) return;
  CommunicatorState& state = *CommunicatorState::of(call.comm);
  const Status status = CallTrials::of(state).end(call);
  if (!status.ok()) failHere(call, state, status);
}

}  // namespace

Verdict serve(CollectiveCall& call, MPI_Request* request) {
  beginCall(call);
  if (!mayOffload() || !offload(call, request)) {
    if (engine == nullptr) return call.verdict;
    find(call, request);
  }
  const bool is_persistent = call.form == Form::kPersistent;
  if (call.verdict.isMpis()) {
    if (is_persistent) has_mpis_persistent.store(true, std::memory_order_relaxed);
    return call.verdict;
  }
  endTrial(call);
  // Without an error there is no persistent request either.
  if (is_persistent && call.verdict.isOver() && call.verdict.code() == MPI_SUCCESS) {
    call.verdict = Verdict::over(MPI_ERR_OTHER);
  }
  const int code = call.verdict.code();
  if (code != MPI_SUCCESS) tellErrorHandler(call.comm, code);
  return call.verdict;
}

bool isMadeByAll(const Verdict& verdict) {
  // MPI may refuse arguments of one rank only.
  const Reason reason = verdict.reason();
  return reason != Reason::kOneRank && reason != Reason::kNoCommunicator &&
         reason != Reason::kArgument;
}

int handedBack(CollectiveCall& call, int code) {
  if (engine == nullptr) return code;  // for calls of dedicated ranks alone
  if (code == MPI_SUCCESS && !engine->follows_mpis) return code;
  CommunicatorState* state =
      call.comm == MPI_COMM_NULL ? nullptr : CommunicatorState::of(call.comm);
  endCall(call, state);
  endTrial(call);
  return call.verdict.isOver() ? call.verdict.code() : code;
}

}  // namespace torc::runtime::pmpi
