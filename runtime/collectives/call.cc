// Call: checked arguments of a collective in one form.
#include "runtime/collectives/call.h"

#include <algorithm>
#include <span>

#include "runtime/collectives/call_check.h"
#include "schedules/library/index.h"

namespace torc::runtime {

/// Sets everything that depends on the arguments alone. Lists keep their memory.
void CallCheck::begin() {
  call.fault = Reason::kServed;
  call.collective = arguments.collective;
  call.in_place = in_place;
  call.keep_type = mpi ? Keep::kOriginal : Keep::kDuplicate;
  call.packs_in = call.unpacks_out = false;
  call.keeps_whole = call.takes_shorter = false;
  call.short_own = -1;
  call.root = 0;
  call.reduction = {};
  call.whole_is_in = ownIsOut();
  call.in = arguments.in;
  // MPI writes nothing to `in`.
  const bool is_in_alone = in_place && ownIsOut();
  call.out = is_in_alone ? const_cast<void*>(arguments.in) : arguments.out;
  call.per_rank.clear();
  call.displacements.clear();
  call.in_per_rank.clear();
  call.in_displacements.clear();
  call.lowest_displacement = call.in_displaced = call.out_displaced = 0;
  call.bytes = 0;
}

/// Finds the number of elements in the buffers, in units of the arguments.
void CallCheck::findHeld() {
  const auto elements = [&](Holds holds, std::uint64_t whole) {
    return holds == Holds::kWhole ? whole : holds == Holds::kOwn ? counts.own : 0;
  };
  const bool is_left_alone = !row.includesOwn() && rank == 0;
  held = {elements(row.inAt(is_root), ownIsOut() ? span.elements : counts.all),
          is_left_alone ? 0 : elements(row.outAt(is_root), span.elements)};
}

/// Fills in `call` from the results of the rules.
void CallCheck::layOut() {
  call.root = row.isRooted() ? arguments.root : 0;
  call.type = types.all;
  if (moves_bytes) static_cast<void>(lookAtType(MPI_BYTE, call.type));
  call.scale = types.scale;
  call.count = by_rank ? 0 : counts.block * types.scale;
  call.elements = {held.in * types.scale, held.out * types.scale};
  call.lowest_displacement = span.lowest;
  const std::int64_t displaced =
      span.lowest * static_cast<std::int64_t>(types.scale * call.type.bytes);
  call.in_displaced = call.whole_is_in ? displaced : 0;
  call.out_displaced = call.whole_is_in && !in_place ? 0 : displaced;
  if (moves_bytes) {
    findCopies();
  } else if (copiesGaps(types.all)) {
    call.packs_in = held.in > 0;
    call.unpacks_out = held.out > 0;
  }
  if (call.in_place && row.inPlaceSharesBlock()) {
    call.elements.in = call.elements.out = std::max(call.elements.in, call.elements.out);
  }
}

/// Finds the copies of a call that moves bytes.
void CallCheck::findCopies() {
  const bool copied = types.are_blocks_copied;
  call.packs_in = call.unpacks_out = copied;
  if (!row.describesOwn()) return;
  if (in_place && !row.servesInPlace()) {
    // The contribution is copied from `out`.
    call.in_place = false;
    call.packs_in = held.in > 0;
  } else if (!in_place) {
    call.unpacks_out = held.out > 0 && !outType().isBytesInRow();
    // MPICH allows a contribution within the result, and reads it before it writes.
    call.packs_in =
        held.in > 0 && (!inType().isBytesInRow() || (!call.unpacks_out && buffersOverlap()));
  } else if (ownIsOut()) {
    call.unpacks_out = false;  // the copy has the own block too
  } else {
    call.in_place = !copied;  // the own block of `out` becomes an `in`
  }
}

/// For a call whose own block is shorter than its room. In an allgather, the contribution is a copy
/// of its whole place in the result. In a gather and an all-to-all, all blocks get the length of
/// the own one, and the room determines only their positions.
void CallCheck::useRoom() {
  if (sendsRoom()) {
    call.packs_in = true;
    return;
  }
  counts.block = static_cast<std::uint64_t>(arguments.own_count) * types.own.size;
  counts.all = span.elements = counts.block * row.countedBlocks(static_cast<std::uint64_t>(ranks));
  counts.own = row.blocks == BlockSpace::kPair ? counts.all : counts.block;
  types.scale = 1;
  call.bytes = counts.all;
  findHeld();
  layOut();
  call.unpacks_out = true;
}

std::uint64_t Call::countsFingerprint() const {
  return per_rank.empty() ? count : checksumOf(std::as_bytes(std::span(per_rank)));
}

void dropIgnored(int rank, CallArguments& arguments) {
  const CollectiveRow& row = rowOf(arguments.collective);
  if (!row.isRooted() || rank == arguments.root) return;
  if (row.out_elsewhere == Holds::kNothing) arguments.out = nullptr;
  if (!row.describesOwn()) return;
  if (row.in_elsewhere == Holds::kNothing) arguments.in = nullptr;
  arguments.has_displacements = false;
  if (arguments.lists_at_root) {
    arguments.has_counts = false;
    arguments.counts = arguments.displacements = {};
  }
  if (arguments.has_counts) return;
  arguments.count = arguments.own_count;
  arguments.type = arguments.own_type;
}

Status check(const CallArguments& arguments, int rank, int ranks, Call& call) {
  const CollectiveRow& row = rowOf(arguments.collective);
  if (row.isRooted() && rank != arguments.root && arguments.has_buffers) {
    CallArguments counting = arguments;
    dropIgnored(rank, counting);
    return CallCheck(counting, row, rank, ranks, call).run();
  }
  return CallCheck(arguments, row, rank, ranks, call).run();
}

namespace {

void takePairLists(const CallArguments& arguments, int ranks, Call& call) {
  const int blocks = arguments.listLength(ranks);
  PairBlocks(arguments, true)
      .take(blocks, call.in_displaced, call.in_per_rank,
            call.packs_in ? nullptr : &call.in_displacements);
  PairBlocks(arguments, false)
      .take(blocks, call.out_displaced, call.per_rank,
            call.unpacks_out ? nullptr : &call.displacements);
  if (call.short_own < 0) return;
  const auto own = static_cast<std::size_t>(call.short_own);
  call.per_rank[own] = call.in_per_rank[own];
}

}  // namespace

void takeLists(const CallArguments& arguments, int ranks, Call& call) {
  if (arguments.hasPairLists()) return takePairLists(arguments, ranks, call);
  if (!arguments.has_counts || rowOf(arguments.collective).counts != CountOf::kBlock) return;
  const auto size = static_cast<std::size_t>(ranks);
  call.per_rank.resize(size);
  for (int r = 0; r < ranks; ++r)
    call.per_rank[static_cast<std::size_t>(r)] =
        static_cast<std::uint64_t>(arguments.counts[r]) * call.scale;
  const bool copies_whole = call.whole_is_in ? call.packs_in : call.unpacks_out;
  if (!arguments.has_displacements || copies_whole) return;
  call.displacements.resize(size);
  for (int r = 0; r < ranks; ++r) {
    const bool is_used = arguments.counts[r] > 0;
    call.displacements[static_cast<std::size_t>(r)] =
        is_used
            ? static_cast<std::uint64_t>(arguments.displacements[r] - call.lowest_displacement) *
                  call.scale
            : 0;
  }
}

}  // namespace torc::runtime
