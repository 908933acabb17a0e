// Repeated calls: bound, started, and waited for.
#include "runtime/pmpi/serving/serve_again.h"

#include <utility>

#include "runtime/api/api.h"
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
Progress lookAtRound(PersistentPlan& plan) TORC_REQUIRES(engine_lock) {
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
  return executor.progress();
}

/// Starts a round of a repeated call, and waits for its end a while.
Status runRepeated(CollectiveCall& call, CommunicatorState& state, RepeatedCall& repeated,
                   std::unique_ptr<Operation>& operation) TORC_REQUIRES(engine_lock) {
  noteRepeated(call, state, repeated);
  state.calls().servesAgain();
  // Nothing else has tags, and as many as these were there before.
  TagSpace& space = state.geometry().one_shot_tags;
  const TagRange tags = space.rangeOf(TagSpace::hashOf(repeated.note.signature, call.ordinal),
                                      repeated.plan->schedule()->tag_count);
  repeated.plan->bindTags(tags.base);
  Status status = repeated.bind(call.arguments);
  if (status.ok()) {
    const Progress progress = lookAtRound(*repeated.plan);
    if (progress != Progress::kDone) {
      torc_collective round(repeated.plan);
      round.number = tags.call;
      if (progress == Progress::kActive) {
        round.active = true;
        round.context()->link(&round);
        status = attempt([&]() TORC_REQUIRES(engine_lock) -> Status {
          operation = std::make_unique<Operation>(state, call, repeated.checked);
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
  if (status.ok()) endCall(call, &state);
  return status;
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
    if (repeated == nullptr || !repeated->takes(call.arguments)) return std::nullopt;
    if (state.history().hasFailuresToCome()) return std::nullopt;
    if (repeated->isMpis()) {
      noteRepeated(call, state, *repeated);
      return MPI_SUCCESS;
    }
    if (repeated->is_running || !state.isIdle()) return std::nullopt;
    status = attempt([&]() TORC_REQUIRES(engine_lock) {
      return runRepeated(call, state, *repeated, operation);
    });
    if (!status.ok()) calls.drop(*repeated);
  }
  if (!status.ok()) return failHere(call, state, errorClass(status), status.message());
  return operation == nullptr ? MPI_SUCCESS : awaitEnd(std::move(operation));
}

}  // namespace torc::runtime::pmpi
