// Who serves a call.
#include "runtime/pmpi/engine/decide.h"

#include "runtime/pmpi/engine/engine.h"

namespace torc::runtime::pmpi {
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

/// Where vectors are to stay whole, what the library has for the shortest is the likeliest to cut
/// none, and of allreduces what it keeps for ordered sums: whether they do their files say
/// (Operation::proceedWith).
const LibraryEntry* chooseEntry(std::uint32_t shape, const CollectiveCall& call,
                                const Call& checked) {
  const bool is_whole = checked.keeps_whole;
  const bool is_ordered =
      checked.needsOrderedSums() || (is_whole && checked.collective == Collective::kAllreduce);
  return engine->library->choose(shape, call.arguments, is_whole ? 1 : call.bytes, is_ordered);
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
  checked.keeps_whole = !engine->settings.cuts_vectors && checked.mayRelyOnWhole();
  const LibraryEntry* entry = chooseEntry(state.shape(), call, checked);
  if (is_barrier) call.bytes = 0;  // of the program's
  call.reason = entry == nullptr          ? is_barrier            ? Reason::kCollective
                                            : checked.keeps_whole ? Reason::kWhole
                                                                  : Reason::kNoSchedule
                : entry->file == kMpisOwn ? Reason::kMpiIsFaster
                                          : Reason::kServed;
  return call.reason == Reason::kServed ? entry : nullptr;
}

}  // namespace torc::runtime::pmpi
