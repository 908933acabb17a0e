// Call: arguments that have passed the rules, in one form for all.
#include "runtime/collectives/call.h"

#include <algorithm>
#include <span>
#include <utility>

#include "runtime/collectives/call_rules.h"
#include "runtime/collectives/check_pairs.h"
#include "schedules/library/index.h"

namespace torc::runtime {
namespace {

/// What follows from the caller's words alone.
void begin(const CallFacts& facts, Call& call) {
  const CallArguments& arguments = facts.arguments;
  call.fault = CallFault::kNone;
  call.collective = arguments.collective;
  call.in_place = facts.in_place;
  call.keep_type = facts.mpi ? Keep::kOriginal : Keep::kDuplicate;
  call.packs_in = call.unpacks_out = false;
  call.keeps_whole = call.takes_shorter = false;
  call.short_own = -1;
  call.root = 0;
  call.reduction = {};
  call.whole_is_in = facts.row.describesOwnOut();
  call.in = arguments.in;
  // Nothing is written there.
  const bool is_in_alone = call.in_place && call.whole_is_in;
  call.out = is_in_alone ? const_cast<void*>(arguments.in) : arguments.out;
  call.per_rank.clear();
  call.displacements.clear();
  call.in_per_rank.clear();
  call.in_displacements.clear();
  call.lowest_displacement = call.in_displaced = call.out_displaced = 0;
  call.bytes = 0;
}

/// Elements of the arguments in the buffers.
BufferElements heldElements(const CallFacts& facts, const CallCounts& counts,
                            const CallSpan& span) {
  const auto held = [&](Holds holds, std::uint64_t whole) {
    return holds == Holds::kWhole ? whole : holds == Holds::kOwn ? counts.own : 0;
  };
  const CollectiveRow& row = facts.row;
  const bool is_left_alone = !row.includesOwn() && facts.rank == 0;
  return {held(row.inAt(facts.is_root), row.describesOwnOut() ? span.elements : counts.all),
          is_left_alone ? 0 : held(row.outAt(facts.is_root), span.elements)};
}

struct Copies {
  bool in_place, packs_in, unpacks_out;
};

/// What is copied of a call that moves bytes, whose buffers are in `call`.
Copies findCopies(const CallFacts& facts, const CallTypes& types, const BufferElements& held,
                  const Call& call) {
  const CollectiveRow& row = facts.row;
  const bool copied = types.are_blocks_copied;
  if (!row.describesOwn()) return {facts.in_place, copied, copied};
  // What is in `out` is copied, and that is the contribution.
  if (facts.in_place && !row.servesInPlace()) return {false, held.in > 0, copied};
  if (!facts.in_place) {
    const bool unpacks = held.out > 0 && !types.out(row).isBytesInRow();
    // MPICH lets a contribution lie within the result, and reads it before it writes.
    const bool packs = held.in > 0 && (!types.in(row).isBytesInRow() ||
                                       (!unpacks && buffersOverlap(facts, types, held, call)));
    return {false, packs, unpacks};
  }
  if (row.describesOwnOut()) return {true, copied, false};  // the copy has the own block too
  // The own block of `out` becomes an `in`.
  return {!copied, copied, copied};
}

/// Lays out what the rules have given.
void layOut(const CallFacts& facts, const CallCounts& counts, const CallTypes& types,
            const CallSpan& span, const BufferElements& held, Call& call) {
  call.root = facts.row.isRooted() ? facts.arguments.root : 0;
  call.type = types.all;
  if (facts.moves_bytes) static_cast<void>(lookAtType(MPI_BYTE, call.type));
  call.scale = types.scale;
  call.count = facts.by_rank ? 0 : counts.block * types.scale;
  call.elements = {held.in * types.scale, held.out * types.scale};
  call.lowest_displacement = span.lowest;
  const std::int64_t displaced =
      span.lowest * static_cast<std::int64_t>(types.scale * call.type.bytes);
  call.in_displaced = call.whole_is_in ? displaced : 0;
  call.out_displaced = call.whole_is_in && !facts.in_place ? 0 : displaced;
  if (facts.moves_bytes) {
    const Copies copies = findCopies(facts, types, held, call);
    call.in_place = copies.in_place;
    call.packs_in = copies.packs_in;
    call.unpacks_out = copies.unpacks_out;
  } else if (facts.copiesGaps(types.all)) {
    call.packs_in = held.in > 0;
    call.unpacks_out = held.out > 0;
  }
  if (call.in_place && facts.row.inPlaceSharesBlock()) {
    call.elements.in = call.elements.out = std::max(call.elements.in, call.elements.out);
  }
}

/// Of a call whose own block is shorter than its room. The contribution to an allgather is its
/// place in the result, of which a copy is made. In a gather and an all-to-all all blocks are as
/// long as the own one, and the room says where they go.
void useRoom(const CallFacts& facts, CallCounts counts, CallTypes types, CallSpan span,
             Call& call) {
  const CollectiveRow& row = facts.row;
  if (facts.sendsRoom()) {
    call.packs_in = true;
    return;
  }
  const std::uint64_t blocks = row.countedBlocks(static_cast<std::uint64_t>(facts.ranks));
  counts.block = static_cast<std::uint64_t>(facts.arguments.own_count) * types.own.size;
  counts.all = span.elements = counts.block * blocks;
  counts.own = row.blocks == BlockSpace::kPair ? counts.all : counts.block;
  types.scale = 1;
  call.bytes = counts.all;
  layOut(facts, counts, types, span, heldElements(facts, counts, span), call);
  call.unpacks_out = true;
}

/// The rules in the order in which they are told.
BrokenRule checkRules(const CallFacts& facts, Call& call) {
  CallCounts counts;
  CallTypes types;
  CallSpan span;
  if (BrokenRule broken = checkRoot(facts)) return broken;
  if (BrokenRule broken = countElements(facts, counts)) return broken;
  if (BrokenRule broken = lookAtTypes(facts, counts, types)) return broken;
  call.bytes = types.bytes;
  if (BrokenRule broken = findSpan(facts, counts, types, span)) return broken;
  if (BrokenRule broken = lookAtOwnType(facts, types.own)) return broken;
  if (BrokenRule broken = checkInPlace(facts)) return broken;
  const BufferElements held = heldElements(facts, counts, span);
  layOut(facts, counts, types, span, held, call);
  if (BrokenRule broken = checkBuffers(facts, counts, types, held)) return broken;
  bool room_left = false;
  if (BrokenRule broken = checkOwnBlock(facts, counts, types, room_left)) return broken;
  if (room_left) useRoom(facts, counts, types, span, call);
  if (BrokenRule broken = checkReduction(facts, types, call.reduction)) return broken;
  // MPI leaves overlaps that it does not refuse to the caller.
  if (!facts.mpi && facts.arguments.has_buffers && !call.in_place &&
      buffersOverlap(facts, types, held, call)) {
    return wrongArgument("in and out overlap (MPI_IN_PLACE says that they are the same)");
  }
  return {};
}

Status checkFacts(const CallFacts& facts, Call& call) {
  begin(facts, call);
  BrokenRule broken =
      facts.arguments.hasPairLists() ? checkPairs(facts, call) : checkRules(facts, call);
  call.fault = broken.fault;
  return std::move(broken.status);
}

}  // namespace

std::uint64_t Call::countsFingerprint() const {
  return per_rank.empty() ? count : checksumOf(std::as_bytes(std::span(per_rank)));
}

void dropIgnored(const CollectiveRow& row, int rank, CallArguments& arguments) {
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

Status check(const CallArguments& arguments, const CollectiveRow& row, int rank, int ranks,
             Call& call) {
  if (row.isRooted() && rank != arguments.root && arguments.has_buffers) {
    CallArguments counting = arguments;
    dropIgnored(row, rank, counting);
    return checkFacts(CallFacts(counting, row, rank, ranks), call);
  }
  return checkFacts(CallFacts(arguments, row, rank, ranks), call);
}

Status check(const CallArguments& arguments, int rank, int ranks, Call& call) {
  return check(arguments, rowOf(arguments.collective), rank, ranks, call);
}

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
