// Repeated calls: bind, start and wait.
#include "runtime/api/api.h"
#include "runtime/pmpi/dedicated/offload.h"
#include "runtime/pmpi/engine/call_report.h"
#include "runtime/pmpi/engine/engine.h"
#include "runtime/pmpi/engine/operation.h"
#include "runtime/pmpi/process/progress.h"
#include "runtime/pmpi/serving/serve.h"
#include "runtime/pmpi/tuning/call_trials.h"

namespace torc::runtime::pmpi {
namespace {

// Polls of a repeated call before it becomes a regular operation, with checks for stalls: about the
// time of a few dozen small messages.
constexpr unsigned kLooksAtRepeated = 100;

/// The store for the next call alike; a call on trial uses that of its candidate.
RepeatedCalls& repeatedCallsOf(const CollectiveCall& call, CommunicatorState& state)
    TORC_REQUIRES(engine_lock) {
  return call.trial == nullptr ? state.repeatedCalls() : *call.trial->current().repeated;
}

struct Round {
  RepeatedCall* repeated = nullptr;
  std::uint64_t ordinal = 0, number = 0;  // of the call
  TagRange tags;
  Status status;

  /// Whether it is complete.
  bool isOver() const { return status.ok() && (repeated->isMpis() || repeated->isOver()); }
};

/// Starts a round, and polls it until it is complete or the limit is reached.
void lookAtRound(Plan& plan) TORC_REQUIRES(engine_lock) {
  Executor& executor = plan.executor();
  const bool is_alone = engine->isIdle();
  const unsigned looks = oversubscribed.load(std::memory_order_relaxed) ? 1 : kLooksAtRepeated;
  executor.start();
  for (unsigned i = 0; executor.progress() == Progress::kActive && i < looks; ++i) {
    executor.advance();
    if (!is_alone) engine->advance();
  }
  engine->countLook();
  if (executor.progress() == Progress::kDone) plan.finishRound();
}

/// Whether a call like this one can be repeated now.
bool isReady(RepeatedCall* repeated, const CommunicatorState& state, const BriefCall& call)
    TORC_REQUIRES(engine_lock) {
  if (repeated == nullptr || !repeated->takes(call.in, call.out)) return false;
  if (state.history().hasFailuresToCome()) return false;
  return repeated->isMpis() || (!repeated->is_running && state.isIdle());
}

/// Notes a call that equals one of `calls`, and unless it falls back to MPI starts its round and
/// polls it for a while. False: no such call.
bool startAgain(RepeatedCalls& calls, const CallKey& key, const BriefCall& call,
                CommunicatorState& state, Round& round) TORC_REQUIRES(engine_lock) {
  RepeatedCall* repeated = calls.find(key);
  if (!isReady(repeated, state, call)) return false;
  round.repeated = repeated;
  round.ordinal = state.history().note(call.id, repeated->note);
  if (repeated->isMpis()) return true;
  round.status = attempt([&]() TORC_REQUIRES(engine_lock) {
    state.calls().servesAgain();
    // No other call has tags, and this number of tags was available before.
    const std::uint64_t hash = TagSpace::hashOf(repeated->note.signature, round.ordinal);
    round.tags =
        state.geometry().one_shot_tags.rangeOf(hash, repeated->plan->schedule()->tag_count);
    repeated->plan->bindTags(round.tags);
    Status status = repeated->bind();
    if (status.ok()) lookAtRound(*repeated->plan);
    return status;
  });
  return true;
}

/// Continues an incomplete round: returns its error, or turns it into an operation.
Status goOn(const CollectiveCall& call, CommunicatorState& state, const Round& round,
            Operation*& operation) TORC_REQUIRES(engine_lock) {
  Plan& plan = *round.repeated->plan;
  if (plan.hasFailed()) return plan.roundStatus();
  Status status = attempt([&]() TORC_REQUIRES(engine_lock) {
    operation = new Operation(state, call, round.repeated->checked);
  });
  if (status.ok()) {
    state.geometry().one_shot_tags.hold(round.tags);
    operation->takeOver(round.tags, *round.repeated);
  } else {
    plan.executor().abandon(status);
  }
  return status;
}

/// Ends a call whose round has failed, or is incomplete.
[[gnu::noinline]] void endLater(CollectiveCall& call, CommunicatorState& state, Round& round)
    TORC_EXCLUDES(engine_lock) {
  Operation* operation = nullptr;
  {
    EngineLock lock;
    if (round.status.ok()) round.status = goOn(call, state, round, operation);
    if (!round.status.ok()) repeatedCallsOf(call, state).drop(*round.repeated);
  }
  if (!round.status.ok()) return failHere(call, state, round.status);
  progressUntil([&] { return operation->settled(); });
  EngineLock lock;
  call.verdict = operation->verdict();
  engine->destroy(operation);
}

}  // namespace

bool mayRepeat(const CollectiveCall& call) {
  return call.form == Form::kBlocking && call.comm != MPI_COMM_NULL && engine->trace() == nullptr;
}

void keepRepeated(const CallKey& key, const CollectiveCall& call, CommunicatorState& state,
                  const Call& checked, torc_schedule* schedule) {
  EngineLock lock;
  // Without memory the next call is served like this one.
  static_cast<void>(attempt([&]() TORC_REQUIRES(engine_lock) {
    repeatedCallsOf(call, state).keep(key, call, checked, schedule);
  }));
}

bool serveAgain(CollectiveCall& call, const CallKey& key, CommunicatorState& state) {
  Round round;
  {
    EngineLock lock;
    if (!startAgain(repeatedCallsOf(call, state), key, call.arguments, state, round)) return false;
    call.ordinal = round.ordinal;
    call.number = state.history().callsMade();
    call.bytes = round.repeated->note.bytes;
    call.verdict = round.repeated->verdict();
    if (round.isOver()) {
      if (!call.verdict.isMpis()) endCall(call, &state);
      return true;
    }
  }
  endLater(call, state, round);
  return true;
}

Verdict serveAtOnce(const BriefCall& brief, MPI_Comm comm) {
  if (comm == MPI_COMM_NULL || mayOffload() || engine->follows_mpis || engine->trace() != nullptr) {
    return {};
  }
  CommunicatorState* state = CommunicatorState::of(comm);
  if (state == nullptr || state->reason() != Reason::kServed) return {};
  Round round;
  {
    EngineLock lock;
    if (!startAgain(state->repeatedCalls(), brief, brief, *state, round)) return {};
    if (round.isOver()) return round.repeated->verdict();
    round.number = state->history().callsMade();
  }
  CollectiveCall call = round.repeated->callOf(brief);
  call.ordinal = round.ordinal;
  call.number = round.number;
  endLater(call, *state, round);
  if (call.verdict.code() != MPI_SUCCESS) tellErrorHandler(comm, call.verdict.code());
  return call.verdict;
}

}  // namespace torc::runtime::pmpi
