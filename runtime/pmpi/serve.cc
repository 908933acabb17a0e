// A call on its way through torc: decision, start, wait; or back to MPI.
#include "runtime/pmpi/serve.h"

#include <memory>
#include <optional>

#include "runtime/pmpi/call_report.h"
#include "runtime/pmpi/communicator_state.h"
#include "runtime/pmpi/decide.h"
#include "runtime/pmpi/engine.h"
#include "runtime/pmpi/meeting.h"
#include "runtime/pmpi/operation.h"
#include "runtime/pmpi/progress.h"
#include "runtime/trace.h"

namespace torc::pmpi {
namespace {

/// The state of a communicator. One that came without torc's knowledge (MPI_Comm_idup) has none;
/// it is set up by the first blocking call that torc might serve, for only then may ranks wait for
/// each other.
CommunicatorState* stateFor(CollectiveCall& call) {
  if (call.comm == MPI_COMM_NULL) {
    call.reason = Reason::kNoCommunicator;
    return nullptr;
  }
  CommunicatorState* state = CommunicatorState::of(call.comm);
  if (state != nullptr) return state;
  if (call.form == Form::kNonblocking || !call.collective) {
    call.reason = Reason::kNotSetUp;
    return nullptr;
  }
  meet(call.comm);
  return CommunicatorState::setUp(call.comm);
}

/// What serves the call; nullptr: MPI does, and call.reason says why.
const LibraryEntry* decide(CollectiveCall& call, CommunicatorState** found) {
  CommunicatorState* state = *found = stateFor(call);
  if (state == nullptr) return nullptr;
  call.reason = state->reason();
  if (call.reason != Reason::kServed) {
    // Not the communicator's fault alone.
    if (!call.collective && shouldBeServed(call.reason)) call.reason = Reason::kCollective;
    return nullptr;
  }
  call.reason = Reason::kCollective;
  if (!call.collective) return nullptr;
  call.reason = Reason::kSwitchedOff;
  if (!engine->settings.serves(*call.collective)) return nullptr;
  call.reason = checkArguments(call, state->rank(), state->size());
  if (call.reason != Reason::kServed) return nullptr;
  const LibraryEntry* entry = engine->library->choose(state->shape(), *call.collective, call.bytes);
  if (entry == nullptr) call.reason = Reason::kNoSchedule;
  return entry;
}

/// A call that has come: as decide(), and told to statistics and trace.
const LibraryEntry* receive(CollectiveCall& call, TraceCall& traced, CommunicatorState** state) {
  beginCall(call);
  const LibraryEntry* entry = decide(call, state);
  traced.setBytes(call.bytes);
  traced.setDetail(servedBy(call, entry));
  return entry;
}

/// A call that torc does not serve: MPI's, unless TORC_STRICT makes an error of that.
Outcome leave(const CollectiveCall& call) {
  if (!engine->settings.strict || !shouldBeServed(call.reason)) return {};
  complainOf(call, text(call.reason));
  PMPI_Comm_call_errhandler(call.comm, MPI_ERR_OTHER);
  return {true, MPI_ERR_OTHER};
}

/// A blocking call that is MPI's.
Outcome handBack(CollectiveCall& call) {
  if (const Outcome refused = leave(call); refused.settled) return refused;
  if (call.reason == Reason::kOneRank || call.reason == Reason::kNoCommunicator) return {};
  // MPI refuses wrong arguments at once. Its nonblocking functions name other errors.
  if (call.reason == Reason::kArgument) return {};
  MPI_Request request = MPI_REQUEST_NULL;
  const int started = call.mpi(call.comm, &request);
  return {true, handedBack(call, complete(started, &request))};
}

}  // namespace

Outcome serveBlocking(CollectiveCall& call) {
  TraceCall traced(engine->context.trace.get(), functionName(call.id, call.form));
  CommunicatorState* state = nullptr;
  const LibraryEntry* entry = receive(call, traced, &state);
  if (entry == nullptr) return handBack(call);

  std::optional<Operation> operation;
  {
    EngineLock lock;
    operation.emplace(*state, call, *entry);
    operation->begin();
  }
  progressUntil([&] { return operation->settled(); });
  const int code = operation->code();
  {
    EngineLock lock;
    operation.reset();
  }
  reportFailures();
  if (code != MPI_SUCCESS) PMPI_Comm_call_errhandler(call.comm, code);
  return {true, code};
}

Outcome serveNonblocking(CollectiveCall& call, MPI_Request* request) {
  TraceCall traced(engine->context.trace.get(), functionName(call.id, call.form));
  CommunicatorState* state = nullptr;
  const LibraryEntry* entry = receive(call, traced, &state);
  if (entry == nullptr) return leave(call);
  Outcome outcome;
  {
    EngineLock lock;
    int tag = -1;
    if (Status status = engine->handles.makeNonblocking(request, &tag); status.ok()) {
      auto* operation = new Operation(*state, call, *entry);
      operation->setHandle(tag);
      operation->begin();
      outcome = {true, MPI_SUCCESS};
    } else {
      complainOf(call, status.message());
      outcome = {true, MPI_ERR_OTHER};
    }
  }
  reportFailures();
  if (outcome.code != MPI_SUCCESS) PMPI_Comm_call_errhandler(call.comm, outcome.code);
  return outcome;
}

Outcome servePersistent(CollectiveCall& call, MPI_Request* request) {
  TraceCall traced(engine->context.trace.get(), functionName(call.id, call.form));
  CommunicatorState* state = nullptr;
  const LibraryEntry* entry = receive(call, traced, &state);
  if (entry == nullptr) return leave(call);
  Outcome outcome;
  Operation* operation = nullptr;
  {
    EngineLock lock;
    operation = new Operation(*state, call, *entry);
    operation->begin();
  }
  progressUntil([&] { return operation->settled(); });
  int code = operation->code();
  call.reason = operation->reason();
  {
    EngineLock lock;
    int tag = -1;
    if (code == MPI_SUCCESS && call.reason == Reason::kServed) {
      if (engine->handles.makePersistent(request, &tag).ok()) {
        operation->setHandle(tag);
        engine->persistent.emplace(*request, operation);
        persistent_handles.fetch_add(1, std::memory_order_relaxed);
        outcome = {true, MPI_SUCCESS};
      } else {
        code = MPI_ERR_OTHER;
      }
    }
    if (!outcome.settled) delete operation;
  }
  if (code != MPI_SUCCESS) {
    PMPI_Comm_call_errhandler(call.comm, code);
    return {true, code};
  }
  return outcome.settled ? outcome : leave(call);
}

int handedBack(CollectiveCall& call, int code) {
  endCall(call, call.comm == MPI_COMM_NULL ? nullptr : CommunicatorState::of(call.comm), nullptr);
  return code;
}

}  // namespace torc::pmpi
