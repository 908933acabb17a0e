// Who serves a call.
#include "runtime/pmpi/engine/decide.h"

#include "runtime/pmpi/engine/engine.h"
#include "schedules/library/index.h"

namespace torc::runtime::pmpi {
namespace {

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

/// Whether MPI is sure to take a call with lists at the root. Found sooner than all that may be
/// wrong with it.
bool looksRight(const CallArguments& arguments, int rank, int ranks) {
  const bool scatters = rowOf(arguments.collective).describesOwnOut();
  const void* own = scatters ? arguments.out : arguments.in;
  const void* whole = scatters ? arguments.in : arguments.out;
  const auto is_there = [](const void* buffer, MPI_Datatype type) {
    return buffer != nullptr && buffer != MPI_IN_PLACE && type != MPI_DATATYPE_NULL;
  };
  if (arguments.root < 0 || arguments.root >= ranks || arguments.own_count < 0) return false;
  if (!is_there(own, arguments.own_type)) return false;
  if (rank != arguments.root) return true;
  if (arguments.counts.isNull() || arguments.displacements.isNull()) return false;
  for (int r = 0; r < ranks; ++r) {
    if (arguments.counts[r] < 0) return false;
  }
  // MPICH refuses an own block that lies in its place.
  ElementType element;
  return is_there(whole, arguments.type) && lookAtType(arguments.type, element).ok() &&
         own != static_cast<const std::byte*>(whole) +
                    arguments.displacements[rank] * static_cast<std::int64_t>(element.size);
}

}  // namespace

bool leaveAtOnce(CollectiveCall& call, CommunicatorState& state) {
  if (!call.arguments.lists_at_root || engine->follows_mpis ||
      !looksRight(call.arguments, state.rank(), state.size())) {
    return false;
  }
  EngineLock lock;
  if (state.history().hasFailuresToCome()) return false;
  call.verdict = Reason::kCountsAtRoot;
  state.history().note(call, Maker::kMpi);
  return true;
}

Reason checkArguments(CollectiveCall& call, int rank, int size, Call& checked) {
  // The operation holds the handles that are left.
  dropIgnored(rowOf(call.arguments.collective), rank, call.arguments);
  const Status status = check(call.arguments, rank, size, checked);
  call.bytes = call.arguments.lists_at_root ? 0 : checked.bytes;
  if (!status.ok()) return checked.fault;
  // Others may have data.
  const bool is_idle = call.bytes == 0 && !call.arguments.hasPairLists();
  return is_idle ? Reason::kNoData : Reason::kServed;
}

Verdict decide(CollectiveCall& call, CommunicatorState& state, Call& checked) {
  const bool is_barrier = call.id() == CallId::kBarrier;
  if (state.reason() != Reason::kServed) {
    // Not the communicator's fault alone.
    if (is_barrier && shouldBeServed(state.reason())) return Reason::kCollective;
    return state.reason();
  }
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
  // What passes through a rank depends on counts that it does not know. Other faults may be one
  // rank's alone.
  if (call.arguments.lists_at_root && found != Reason::kArgument) return Reason::kCountsAtRoot;
  if (found != Reason::kServed) return found;
  if (checked.needsRankOrder() && !state.isInOrder()) return Reason::kRankOrder;
  if (call.form != Form::kBlocking && !engine->has_nonblocking) return Reason::kUnexpected;
  if (call.form == Form::kNonblocking && !state.isSetUp()) return Reason::kNotSetUp;
  // Of MPI_Comm_idup: with MPI a rank may go on from such a call before the others have come.
  const CollectiveRow& row = rowOf(call.arguments.collective);
  if (state.id() == 0 && (row.isRooted() || row.isPrefix())) return Reason::kNotSetUp;
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
