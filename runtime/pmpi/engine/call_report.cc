// What is told of calls.
#include "runtime/pmpi/engine/call_report.h"

#include <cstddef>

#include <mpi.h>

#include "runtime/api/api.h"
#include "runtime/pmpi/engine/decide.h"
#include "runtime/pmpi/engine/engine.h"
#include "runtime/pmpi/statistics/report.h"
#include "runtime/pmpi/statistics/statistics.h"
#include "runtime/transport/which_mpi.h"
#include "support/message.h"

namespace torc::runtime::pmpi {
namespace {

/// Bytes of a call that MPI has got, perhaps before anybody looked at its arguments.
std::uint64_t bytesOf(CollectiveCall call, const CommunicatorState* state) {
  if (call.bytes == 0 && call.is_described && state != nullptr &&
      call.reason != Reason::kIntercommunicator) {
    Call checked;
    static_cast<void>(checkArguments(call, state->rank(), state->size(), checked));
  }
  return call.bytes;
}

}  // namespace

const char* servedBy(const CollectiveCall& call, const LibraryEntry* entry) {
  return entry != nullptr ? engine->library->index.files[entry->file].name.c_str()
                          : text(call.reason);
}

void beginCall(CollectiveCall& call) {
  if (engine != nullptr && engine->statistics != nullptr) call.began = PMPI_Wtime();
}

namespace {

/// What the statistics are told of a call.
CallRecord recordOf(const CollectiveCall& call, const CommunicatorState* state,
                    const LibraryEntry* entry) {
  CallRecord record;
  record.function = functionName(call.id, call.form);
  if (state != nullptr) {
    record.communicator = state->number;
    record.communicator_rank = state->rank();
  }
  if (call.id != CallId::kBarrier) {
    record.type = call.arguments.type;
    record.op = call.arguments.op;
    record.bytes = entry != nullptr ? call.bytes : bytesOf(call, state);
  }
  record.by = servedBy(call, entry);
  record.entry = entry;
  record.is_on_trial = call.trial != nullptr;
  if (entry == nullptr) {
    record.service = shouldBeServed(call.reason) ? Service::kShouldBeServed : Service::kNotTorcs;
  }
  return record;
}

}  // namespace

void announceCall(const CollectiveCall& call, const CommunicatorState* state,
                  const LibraryEntry* entry) {
  if (engine->statistics == nullptr || !engine->settings.explain) return;
  static_cast<void>(attempt([&]() -> Status {
    engine->statistics->announce(recordOf(call, state, entry));
    return {};
  }));
}

void endCall(const CollectiveCall& call, const CommunicatorState* state,
             const LibraryEntry* entry) {
  if (engine->statistics == nullptr) return;
  // What there is no memory for is not counted.
  static_cast<void>(attempt([&]() -> Status {
    CallRecord record = recordOf(call, state, entry);
    record.seconds = PMPI_Wtime() - call.began;
    engine->statistics->record(record);
    return {};
  }));
}

void endOffloadedCall(const CollectiveCall& call) {
  if (engine == nullptr || engine->statistics == nullptr) return;
  static_cast<void>(attempt([&]() -> Status {
    CommunicatorState* state = CommunicatorState::of(call.comm);
    if (state == nullptr) state = CommunicatorState::attach(call.comm);
    CallRecord record = recordOf(call, state, nullptr);
    record.bytes = call.bytes;
    record.service = Service::kServed;
    record.by = "dedicated ranks";
    record.seconds = PMPI_Wtime() - call.began;
    engine->statistics->record(record);
    return {};
  }));
}

void complainOf(const CollectiveCall& call, const std::string& what) {
  complain(message(functionName(call.id, call.form), ": ", what));
}

}  // namespace torc::runtime::pmpi
