// Repeated calls: bound, started, and waited for.
#include "runtime/pmpi/serving/serve_again.h"

#include <utility>

#include "runtime/api/api.h"
#include "runtime/pmpi/dedicated/offload.h"
#include "runtime/pmpi/engine/call_report.h"
#include "runtime/pmpi/engine/engine.h"
#include "runtime/pmpi/engine/failed_call.h"
#include "runtime/pmpi/process/progress.h"
#include "runtime/pmpi/tuning/call_trials.h"

namespace torc::runtime::pmpi {
namespace {

// Looks at a repeated call before it becomes an operation like others, of which stalls are told:
// about as long as a few dozen small messages take.
constexpr unsigned kLooksAtRepeated = 100;

/// Where a call is kept for the next one like it: of one on trial, that has the same turn.
RepeatedCalls& repeatedCallsOf(const CollectiveCall& call, CommunicatorState& state)
    TORC_REQUIRES(engine_lock) {
  return call.trial == nullptr ? state.repeatedCalls() : *call.trial->current().repeated;
}

/// Notes a repeated call.
void noteRepeated(CollectiveCall& call, CommunicatorState& state, const RepeatedCall& repeated)
    TORC_REQUIRES(engine_lock) {
  beginCall(call);
  state.history().note(call, repeated.note);
  call.bytes = repeated.note.bytes;
  call.verdict = repeated.verdict;
}

/// Starts a round, and looks at it until it is over, or some time has gone by.
void lookAtRound(PersistentPlan& plan) TORC_REQUIRES(engine_lock) {
  Executor& executor = *plan.executor();
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

/// Starts a round of a repeated call, which is the `ordinal`-th of its function, and looks at it a
/// while.
Status startAgain(CommunicatorState& state, RepeatedCall& repeated, std::uint64_t ordinal,
                  const void* in, void* out, TagRange& tags) TORC_REQUIRES(engine_lock) {
  state.calls().servesAgain();
  // Nothing else has tags, and as many as these were there before.
  tags = state.geometry().one_shot_tags.rangeOf(TagSpace::hashOf(repeated.note.signature, ordinal),
                                                repeated.plan->schedule()->tag_count);
  repeated.plan->bindTags(tags);
  Status status = repeated.bind(in, out);
  if (status.ok()) lookAtRound(*repeated.plan);
  return status;
}

/// A round that was not over by then: its error, or the operation that it becomes.
Status goOn(const CollectiveCall& call, CommunicatorState& state, RepeatedCall& repeated,
            const TagRange& tags, std::unique_ptr<Operation>& operation)
    TORC_REQUIRES(engine_lock) {
  torc_collective round(repeated.plan);
  round.number = tags.call;
  if (round.executor().progress() != Progress::kActive) return round.roundStatus();
  round.active = true;
  round.context()->link(&round);
  Status status = attempt([&]() TORC_REQUIRES(engine_lock) -> Status {
    operation = std::make_unique<Operation>(state, call, repeated.checked);
    return {};
  });
  if (status.ok()) {
    state.geometry().one_shot_tags.hold(tags);
    operation->takeOver(round, tags, repeated);
  } else {
    round.abandon(status);
  }
  return status;
}

/// Both.
Status runRepeated(CollectiveCall& call, CommunicatorState& state, RepeatedCall& repeated,
                   std::unique_ptr<Operation>& operation) TORC_REQUIRES(engine_lock) {
  noteRepeated(call, state, repeated);
  TagRange tags;
  Status status =
      startAgain(state, repeated, call.ordinal, call.arguments.in, call.arguments.out, tags);
  if (status.ok() && repeated.isOver()) {
    endCall(call, &state);
    return {};
  }
  return status.ok() ? goOn(call, state, repeated, tags, operation) : status;
}

/// Whether a call like this one can be made the short way now.
bool isReady(RepeatedCall* repeated, const CommunicatorState& state, const void* in,
             const void* out) TORC_REQUIRES(engine_lock) {
  if (repeated == nullptr || !repeated->takes(in, out)) return false;
  if (state.history().hasFailuresToCome()) return false;
  return repeated->isMpis() || (!repeated->is_running && state.isIdle());
}

}  // namespace

bool mayRepeat(const CollectiveCall& call) {
  return call.is_described && call.comm != MPI_COMM_NULL && engine->trace() == nullptr;
}

void keepRepeated(const CallKey& key, const CollectiveCall& call, CommunicatorState& state,
                  const Call& checked, torc_schedule* schedule) {
  EngineLock lock;
  // Without memory the next one is served like this one.
  static_cast<void>(attempt([&]() TORC_REQUIRES(engine_lock) -> Status {
    repeatedCallsOf(call, state).keep(key, call, checked, schedule);
    return {};
  }));
}

int awaitEnd(std::unique_ptr<Operation> operation) {
  progressUntil([&] { return operation->settled(); });
  const int code = operation->code();
  EngineLock lock;
  operation.reset();
  return code;
}

std::optional<int> serveAgain(CollectiveCall& call, const CallKey& key, CommunicatorState& state) {
  std::unique_ptr<Operation> operation;
  Status status;
  {
    EngineLock lock;
    RepeatedCalls& calls = repeatedCallsOf(call, state);
    RepeatedCall* repeated = calls.find(key);
    if (!isReady(repeated, state, call.arguments.in, call.arguments.out)) return std::nullopt;
    if (repeated->isMpis()) {
      noteRepeated(call, state, *repeated);
      return MPI_SUCCESS;
    }
    status = attempt([&]() TORC_REQUIRES(engine_lock) {
      return runRepeated(call, state, *repeated, operation);
    });
    if (!status.ok()) calls.drop(*repeated);
  }
  if (!status.ok()) return failHere(call, state, errorClass(status), status.message());
  return operation == nullptr ? MPI_SUCCESS : awaitEnd(std::move(operation));
}

namespace {

/// The rest of a call that was begun at once: its round has failed, or is not over yet.
[[gnu::noinline]] int endLater(const BriefCall& brief, CommunicatorState& state,
                               RepeatedCall& repeated, std::uint64_t ordinal, const TagRange& tags,
                               Status status) TORC_EXCLUDES(engine_lock) {
  std::unique_ptr<Operation> operation;
  CollectiveCall call = repeated.callOf(brief, ordinal);
  {
    EngineLock lock;
    call.number = state.history().callsMade();
    if (status.ok()) status = goOn(call, state, repeated, tags, operation);
    if (!status.ok()) state.repeatedCalls().drop(repeated);
  }
  const int code = status.ok() ? awaitEnd(std::move(operation))
                               : failHere(call, state, errorClass(status), status.message());
  return code == MPI_SUCCESS ? code : refuse(call, code).code;
}

}  // namespace

int serveAtOnce(const BriefCall& brief, MPI_Comm comm) {
  if (comm == MPI_COMM_NULL || mayOffload() || engine->follows_mpis || engine->trace() != nullptr) {
    return kNotAtOnce;
  }
  CommunicatorState* state = CommunicatorState::of(comm);
  if (state == nullptr || state->reason() != Reason::kServed) return kNotAtOnce;
  RepeatedCall* repeated = nullptr;
  std::uint64_t ordinal = 0;
  TagRange tags;
  Status status;
  {
    EngineLock lock;
    repeated = state->repeatedCalls().find(brief.key);
    if (!isReady(repeated, *state, brief.in, brief.out)) return kNotAtOnce;
    ordinal = state->history().note(brief.key.id, repeated->note);
    if (repeated->isMpis()) return kLeftToMpi;
    status = attempt([&]() TORC_REQUIRES(engine_lock) {
      return startAgain(*state, *repeated, ordinal, brief.in, brief.out, tags);
    });
    if (status.ok() && repeated->isOver()) return MPI_SUCCESS;
  }
  return endLater(brief, *state, *repeated, ordinal, tags, std::move(status));
}

}  // namespace torc::runtime::pmpi
