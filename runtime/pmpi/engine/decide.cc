// Decides between torc and MPI for a call.
#include "runtime/pmpi/engine/decide.h"

#include "runtime/pmpi/engine/engine.h"
#include "schedules/library/index.h"

namespace torc::runtime::pmpi {
namespace {

/// If vectors must stay whole, the library's entries for the shortest vectors are the likeliest not
/// to cut them; for allreduce, the entries for ordered sums. The schedule file has the answer
/// (Operation::proceedWith).
const LibraryEntry* chooseEntry(std::uint32_t shape, const CollectiveCall& call,
                                const Call& checked) {
  const bool is_whole = checked.keeps_whole;
  const bool is_ordered =
      checked.needsOrderedSums() || (is_whole && checked.collective == Collective::kAllreduce);
  return engine->library->choose(shape, call.arguments, is_whole ? 1 : call.bytes, is_ordered);
}

/// Whether a call with lists at the root certainly falls back to MPI. Faster than a full check of
/// its arguments.
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
  // MPICH refuses an own block at its place in the root's buffer.
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
  state.history().note(call);
  return true;
}

Reason checkArguments(CollectiveCall& call, int rank, int size, Call& checked) {
  // The operation holds the remaining handles.
  dropIgnored(rank, call.arguments);
  const Status status = check(call.arguments, rank, size, checked);
  call.bytes = call.arguments.lists_at_root ? 0 : checked.bytes;
  if (!status.ok()) return checked.fault;
  // With pair lists, other ranks may have data.
  const bool is_idle = call.bytes == 0 && !call.arguments.hasPairLists();
  return is_idle ? Reason::kNoData : Reason::kServed;
}

Verdict decide(CollectiveCall& call, CommunicatorState& state, Call& checked) {
  const bool is_barrier = call.id() == CallId::kBarrier;
  if (state.reason() != Reason::kServed) {
    // The reason is not the communicator alone.
    if (is_barrier && shouldBeServed(state.reason())) return Reason::kCollective;
    return state.reason();
  }
  if (!engine->settings.serves(call.arguments.collective)) return Reason::kSwitchedOff;
  if (const CollectiveRow& row = rowOf(call.arguments.collective); row.isOfNeighbours()) {
    const bool has_block_for_each = row.in == Holds::kEachNeighbour;
    if (!state.grid() || (has_block_for_each && state.grid()->has_twins)) return Reason::kGrid;
    // A fallback may need the duplicate.
    const bool is_nonblocking = call.form == Form::kNonblocking && state.isSetUp();
    if (is_nonblocking && !state.hasGridOnDuplicate()) return Reason::kNoDuplicate;
    call.arguments.neighbours = state.grid()->neighbours;
    call.arguments.missing = state.grid()->missing;
  }
  const Reason found = checkArguments(call, state.rank(), state.size(), checked);
  // A rank cannot know the traffic through it, which depends on counts of others. Other faults may
  // concern one rank alone.
  if (call.arguments.lists_at_root && found != Reason::kArgument) return Reason::kCountsAtRoot;
  if (found != Reason::kServed) return found;
  if (checked.needsRankOrder() && !state.isInOrder()) return Reason::kRankOrder;
  if (call.form != Form::kBlocking && !engine->has_nonblocking) return Reason::kUnexpected;
  if (call.form == Form::kNonblocking && !state.isSetUp()) return Reason::kNotSetUp;
  // A communicator of MPI_Comm_idup: under MPI, a rank may leave such a call before the others
  // enter.
  const CollectiveRow& row = rowOf(call.arguments.collective);
  if (state.id() == 0 && (row.isRooted() || row.isPrefix())) return Reason::kNotSetUp;
  checked.keeps_whole = !engine->settings.cuts_vectors && checked.mayRelyOnWhole();
  const LibraryEntry* entry = chooseEntry(state.shape(), call, checked);
  if (is_barrier) call.bytes = 0;  // of the program's data
  if (entry != nullptr && entry->file == kMpisOwn) return Reason::kMpiIsFaster;
  if (entry != nullptr) return *entry;
  return is_barrier            ? Reason::kCollective
         : checked.keeps_whole ? Reason::kWhole
                               : Reason::kNoSchedule;
}

}  // namespace torc::runtime::pmpi
