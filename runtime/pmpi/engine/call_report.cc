// Reports of calls: statistics, trace and errors.
#include "runtime/pmpi/engine/call_report.h"

#include <mpi.h>

#include "runtime/api/api.h"
#include "runtime/pmpi/engine/decide.h"
#include "runtime/pmpi/engine/engine.h"
#include "runtime/pmpi/engine/operation.h"
#include "runtime/pmpi/engine/stall.h"
#include "runtime/pmpi/process/progress.h"
#include "runtime/pmpi/statistics/statistics.h"
#include "runtime/pmpi/statistics/stderr_lines.h"
#include "support/message.h"

namespace torc::runtime::pmpi {
namespace {

/// Bytes of a call. For a fallback the arguments may be unchecked.
std::uint64_t bytesOf(CollectiveCall call, const CommunicatorState* state) {
  if (call.verdict.isMpis() && call.bytes == 0 && state != nullptr &&
      call.verdict.reason() != Reason::kIntercommunicator) {
    Call checked;
    static_cast<void>(checkArguments(call, state->rank(), state->size(), checked));
  }
  return call.bytes;
}

Service serviceOf(const Verdict& verdict) {
  if (!verdict.isMpis()) return Service::kServed;
  return shouldBeServed(verdict.reason()) ? Service::kShouldBeServed : Service::kNotTorcs;
}

/// The record of a call for the statistics.
CallRecord recordOf(const CollectiveCall& call, const CommunicatorState* state) {
  CallRecord record;
  record.function = functionName(call);
  if (state != nullptr) {
    record.communicator = state->number;
    record.communicator_rank = state->rank();
  }
  if (call.id() != CallId::kBarrier) {
    record.type = call.arguments.type;
    record.op = call.arguments.op;
    record.bytes = bytesOf(call, state);
  }
  record.by = servedBy(call);
  record.entry = call.verdict.entry();
  record.is_on_trial = call.trial != nullptr;
  record.service = serviceOf(call.verdict);
  return record;
}

}  // namespace

const char* servedBy(const CollectiveCall& call) {
  const LibraryEntry* entry = call.verdict.entry();
  if (entry != nullptr) return engine->library->index.files[entry->file].name.c_str();
  return call.verdict.isMpis() ? text(call.verdict.reason()) : "dedicated ranks";
}

void beginCall(CollectiveCall& call) {
  if (engine != nullptr && engine->statistics != nullptr) call.began = PMPI_Wtime();
}

void announceCall(const CollectiveCall& call, const CommunicatorState* state) {
  if (engine->statistics == nullptr || !tells(Verbosity::kCalls)) return;
  static_cast<void>(attempt([&] { engine->statistics->announce(recordOf(call, state)); }));
}

void endCall(const CollectiveCall& call, const CommunicatorState* state) {
  if (engine->statistics == nullptr) return;
  // A call is not counted if memory runs out.
  static_cast<void>(attempt([&] {
    CallRecord record = recordOf(call, state);
    record.seconds = PMPI_Wtime() - call.began;
    engine->statistics->record(record);
  }));
}

void endOffloadedCall(const CollectiveCall& call) {
  if (engine == nullptr || engine->statistics == nullptr) return;
  static_cast<void>(attempt([&] {
    CommunicatorState* state = CommunicatorState::of(call.comm);
    endCall(call, state == nullptr ? CommunicatorState::attach(call.comm) : state);
  }));
}

void complainOf(const CollectiveCall& call, const std::string& what) {
  complain(message(functionName(call), ": ", what));
}

void failHere(CollectiveCall& call, CommunicatorState& state, int code, const std::string& what) {
  EngineLock lock;
  state.history().fail(call, code, what);
  call.verdict = Verdict::over(code);
}

void failHere(CollectiveCall& call, CommunicatorState& state, const Status& status) {
  failHere(call, state, errorClass(status), status.message());
}

bool failedElsewhere(CollectiveCall& call, const CommunicatorState& state) {
  EngineLock lock;
  const CallFailure* failure = state.history().failureOf(call);
  if (failure != nullptr) call.verdict = Verdict::over(state.history().codeOf(*failure));
  return failure != nullptr;
}

void recall(CallId id, CommunicatorState& state) {
  {
    EngineLock lock;
    if (!state.history().recall(id)) return;
  }
  const double end = PMPI_Wtime() + kSecondsBeforeAsking;
  progressUntil([&] {
    EngineLock lock;
    return state.history().isRecalled() || PMPI_Wtime() > end;
  });
}

}  // namespace torc::runtime::pmpi
