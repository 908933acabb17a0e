// Who serves a call.
#include "runtime/pmpi/engine/decide.h"

#include <algorithm>

#include "runtime/pmpi/communicator/root_counts.h"
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

// Bytes of all blocks from which on it is worth to tell all ranks their counts: below, messages
// take about as long as that.
constexpr std::uint64_t kLeastBytesOfLists = std::uint64_t{64} << 10;

/// The counts themselves are to be little beside what they count.
std::uint64_t leastBytesOfLists(int ranks) {
  constexpr std::uint64_t kBytesForOneOfCounts = 16;
  const auto count_bytes = static_cast<std::uint64_t>(ranks) * sizeof(std::uint64_t) *
                           static_cast<std::uint64_t>(RootCounts::depth(ranks));
  return std::max(kLeastBytesOfLists, kBytesForOneOfCounts * count_bytes);
}

/// Along one axis MPI's own messages, from the root to each rank or back, load links as evenly as
/// schedules do.
bool mayBeWorthTelling(const CommunicatorState& state) {
  return engine->library->index.shapes[state.shape()].topology.dimensions() > 1;
}

/// What MPI is sure to take. At the root MPICH refuses an own block that lies in its place.
bool looksRight(const CallArguments& arguments, int rank, int ranks) {
  const bool scatters = rowOf(arguments.collective).describesOwnOut();
  const void* own = scatters ? arguments.out : arguments.in;
  const void* whole = scatters ? arguments.in : arguments.out;
  const bool is_root = rank == arguments.root, in_place = own == MPI_IN_PLACE;
  if (arguments.root < 0 || arguments.root >= ranks || (in_place && !is_root)) return false;
  const bool has_own =
      own != nullptr && arguments.own_count > 0 && arguments.own_type != MPI_DATATYPE_NULL;
  if (!in_place && !has_own) return false;
  if (!is_root) return true;
  if (whole == nullptr || whole == MPI_IN_PLACE || arguments.type == MPI_DATATYPE_NULL ||
      arguments.counts.isNull() || arguments.displacements.isNull()) {
    return false;
  }
  for (int r = 0; r < ranks; ++r) {
    if (arguments.counts[r] < 0) return false;
  }
  ElementType element;
  if (in_place || arguments.own_type != arguments.type ||
      arguments.own_count != arguments.counts[rank]) {
    return true;
  }
  return lookAtType(arguments.type, element).ok() &&
         static_cast<const std::byte*>(own) !=
             static_cast<const std::byte*>(whole) +
                 arguments.displacements[rank] * static_cast<std::int64_t>(element.size);
}

/// Before the root's counts are known: the schedule that serves the longest calls stands for any.
Verdict decideUntold(const CollectiveCall& call, CommunicatorState& state) {
  if (!mayBeWorthTelling(state)) return Reason::kUntold;
  if (call.form == Form::kBlocking && state.isSetUp()) {
    // What waits in the queue has its turn first.
    EngineLock lock;
    if (state.queue().isEmpty() && !state.rootCountsTurns(call.id).take()) {
      return Reason::kUntold;
    }
  }
  Verdict verdict = decideTold(call, state, kOpenEnd);
  if (verdict.isMpis()) verdict = decideTold(call, state, leastBytesOfLists(state.size()));
  return verdict;
}

}  // namespace

bool isLeftOut(CollectiveCall& call, CommunicatorState& state) {
  if (!looksRight(call.arguments, state.rank(), state.size())) return false;
  EngineLock lock;
  if (state.history().hasFailuresToCome()) return false;
  if (mayBeWorthTelling(state)) {
    RootCountsTurns& turns = state.rootCountsTurns(call.id);
    if (!turns.leavesOut() || !state.isSetUp() || !state.queue().isEmpty()) return false;
    static_cast<void>(turns.take());
  }
  call.verdict = Reason::kUntold;
  state.history().note(call, Maker::kMpi);
  return true;
}

Verdict decideTold(const CollectiveCall& call, const CommunicatorState& state,
                   std::uint64_t bytes) {
  if (bytes == 0) return Reason::kNoData;
  if (bytes < leastBytesOfLists(state.size())) return Reason::kUntold;
  const LibraryEntry* entry =
      engine->library->choose(state.shape(), call.arguments, bytes, /*is_ordered=*/false);
  if (entry == nullptr) return Reason::kNoSchedule;
  if (entry->file == kMpisOwn) return Reason::kMpiIsFaster;
  return *entry;
}

Reason checkArguments(CollectiveCall& call, int rank, int size, Call& checked) {
  // The operation holds the handles that are left.
  dropIgnored(rowOf(call.arguments.collective), rank, call.arguments);
  const Status status = check(call.arguments, rank, size, checked);
  call.bytes = call.arguments.lists_at_root ? 0 : checked.bytes;
  if (!status.ok()) return reasonOf(checked.fault);
  // Others may have data.
  const bool is_idle = call.bytes == 0 && !call.arguments.hasUnknownBytes();
  return is_idle ? Reason::kNoData : Reason::kServed;
}

Verdict decide(CollectiveCall& call, CommunicatorState& state, Call& checked) {
  const bool is_barrier = call.id == CallId::kBarrier;
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
  // Of lists at the root: all ranks may find that MPI makes the call, whatever one has found.
  const bool is_told = !call.arguments.lists_at_root || found == Reason::kArgument;
  if (found != Reason::kServed && is_told) return found;
  if (checked.needsRankOrder() && !state.isInOrder()) return Reason::kRankOrder;
  if (call.form != Form::kBlocking && !engine->has_nonblocking) return Reason::kUnexpected;
  if (call.form == Form::kNonblocking && !state.isSetUp()) return Reason::kNotSetUp;
  // Of MPI_Comm_idup: with MPI a rank may go on from such a call before the others have come.
  const CollectiveRow& row = rowOf(call.arguments.collective);
  if (state.id() == 0 && (row.isRooted() || row.isPrefix())) return Reason::kNotSetUp;
  if (call.arguments.lists_at_root) {
    const Verdict verdict = decideUntold(call, state);
    return found == Reason::kServed || verdict.isMpis() ? verdict : Verdict(found);
  }
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
