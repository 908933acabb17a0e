// Who serves a call.
#include "runtime/pmpi/engine/decide.h"

#include "runtime/pmpi/engine/engine.h"
#include "schedules/library/index.h"

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

Verdict decide(CollectiveCall& call, CommunicatorState& state, Call& checked) {
  const bool is_barrier = call.id == CallId::kBarrier;
  if (state.reason() == Reason::kNoDuplicate && call.form == Form::kBlocking) state.tryAgain();
  if (state.reason() != Reason::kServed) {
    const bool is_none_of_torcs = !call.is_described || is_barrier;
    // Not the communicator's fault alone.
    if (is_none_of_torcs && shouldBeServed(state.reason())) return Reason::kCollective;
    return state.reason();
  }
  if (!call.is_described) return Reason::kCollective;
  if (!engine->settings.serves(call.arguments.collective)) return Reason::kSwitchedOff;
  if (const CollectiveRow& row = rowOf(call.arguments.collective); row.isOfNeighbours()) {
    const bool has_block_for_each = row.in == Holds::kEachNeighbour;
    if (!state.grid() || (has_block_for_each && state.grid()->has_twins)) return Reason::kGrid;
    // MPI may have to make it there.
    const bool is_nonblocking = call.form == Form::kNonblocking && state.isSetUp();
    if (is_nonblocking && !state.hasGridOnDuplicate()) return Reason::kNoDuplicate;
    call.arguments.neighbours = state.grid()->neighbours;
    call.arguments.missing = state.grid()->missing;
  }
  const Reason found = checkArguments(call, state.rank(), state.size(), checked);
  if (found != Reason::kServed) return found;
  if (checked.needsRankOrder() && !state.isInOrder()) return Reason::kRankOrder;
  if (call.form != Form::kBlocking && !engine->has_nonblocking) return Reason::kUnexpected;
  if (call.form == Form::kNonblocking && !state.isSetUp()) return Reason::kNotSetUp;
  checked.keeps_whole = !engine->settings.cuts_vectors && checked.mayRelyOnWhole();
  const LibraryEntry* entry = chooseEntry(state.shape(), call, checked);
  if (is_barrier) call.bytes = 0;  // of the program's
  if (entry != nullptr && entry->file == kMpisOwn) return Reason::kMpiIsFaster;
  if (entry != nullptr) return *entry;
  return is_barrier            ? Reason::kCollective
         : checked.keeps_whole ? Reason::kWhole
                               : Reason::kNoSchedule;
}

}  // namespace torc::runtime::pmpi
