// Who serves a call.
#include "runtime/pmpi/calls/decide.h"

#include "runtime/pmpi/job/engine.h"

namespace torc::pmpi {
namespace {

Reason reasonOf(CallFault fault) {
  switch (fault) {
    case CallFault::kNone:
      break;
    case CallFault::kArgument:
      return Reason::kArgument;
    case CallFault::kOverflow:
      return Reason::kOverflow;
    case CallFault::kOwnBlock:
      return Reason::kOwnBlock;
    case CallFault::kDatatype:
      return Reason::kDatatypeGaps;
    case CallFault::kOperation:
      return Reason::kOperation;
  }
  return Reason::kServed;
}

}  // namespace

Reason checkArguments(CollectiveCall& call, int rank, int size, Call& checked) {
  // The operation holds the handles that are left.
  dropIgnored(rowOf(call.arguments.collective), rank, call.arguments);
  const Status status = check(call.arguments, rank, size, checked);
  call.bytes = checked.bytes;
  if (!status.ok()) return reasonOf(checked.fault);
  // Others may have data where pairs have lists.
  const bool is_idle = call.bytes == 0 && !call.arguments.hasPairLists();
  return is_idle ? Reason::kNoData : Reason::kServed;
}

const LibraryEntry* decide(CollectiveCall& call, CommunicatorState& state, Call& checked) {
  const bool is_barrier = call.id == CallId::kBarrier;
  if (state.reason() == Reason::kNoShadow && call.form == Form::kBlocking) state.tryAgain();
  call.reason = state.reason();
  if (call.reason != Reason::kServed) {
    // Not the communicator's fault alone.
    if ((!call.is_described || is_barrier) && shouldBeServed(call.reason)) {
      call.reason = Reason::kCollective;
    }
    return nullptr;
  }
  call.reason = Reason::kCollective;
  if (!call.is_described) return nullptr;
  call.reason = Reason::kSwitchedOff;
  if (!engine->settings.serves(call.arguments.collective)) return nullptr;
  call.reason = checkArguments(call, state.rank(), state.size(), checked);
  if (call.reason != Reason::kServed) return nullptr;
  call.reason = Reason::kRankOrder;
  if (checked.needsRankOrder() && !state.isInOrder()) return nullptr;
  call.reason = Reason::kUnexpected;
  if (call.form != Form::kBlocking && !engine->has_nonblocking) return nullptr;
  call.reason = Reason::kNotSetUp;
  if (call.form == Form::kNonblocking && !state.isSetUp()) return nullptr;
  const LibraryEntry* entry = engine->library->choose(state.shape(), call.arguments, call.bytes,
                                                      checked.needsOrderedSums());
  if (is_barrier) call.bytes = 0;  // of the program's
  call.reason = entry == nullptr          ? is_barrier ? Reason::kCollective : Reason::kNoSchedule
                : entry->file == kMpisOwn ? Reason::kMpiIsFaster
                                          : Reason::kServed;
  return call.reason == Reason::kServed ? entry : nullptr;
}

}  // namespace torc::pmpi
