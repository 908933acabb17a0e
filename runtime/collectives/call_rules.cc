// The rules that the arguments of a call keep.
#include "runtime/collectives/call_rules.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "runtime/transport/which_mpi.h"
#include "support/message.h"

namespace torc::runtime {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();

// Of a vector that all ranks get whole where each needs a block of it: where start-ups are most of
// the time.
constexpr std::uint64_t kMostBytesOfMore = 64 << 10;

BrokenRule tooLong(std::string text) {
  return {CallFault::kOverflow, {StatusCode::kOverflow, std::move(text)}};
}
BrokenRule exceedsMemory(std::uint64_t elements, std::size_t element_bytes) {
  return tooLong(message("a vector of ", elements, " elements of ", element_bytes,
                         " bytes exceeds the address space"));
}

/// Bytes of an element in the buffer of the caller's own block.
std::size_t bytesOf(const CallFacts& facts, const ElementType& element) {
  return facts.mpi ? element.size : element.bytes;
}

/// With a derived type a null pointer is MPI_BOTTOM, to MPI.
bool isMissing(const CallFacts& facts, const void* buffer, const ElementType& type) {
  return buffer == nullptr && (!facts.mpi || type.predefined);
}

/// Whether MPICH takes `in` for the same memory as what it is to be written to, and refuses that.
/// A rank that left a call where MPI does not refuse it would be waited for
/// (tests/runtime/pmpi/differences). An own block is sought in `out` where both are described
/// alike, by the type's size.
bool isAliased(const CallFacts& facts, const CallCounts& counts, const CallTypes& types) {
  const CallArguments& arguments = facts.arguments;
  const CollectiveRow& row = facts.row;
  if (!row.describesOwn()) return arguments.in == arguments.out && arguments.in != nullptr;
  if (arguments.own_type != arguments.type ||
      arguments.own_count != static_cast<std::int64_t>(counts.block)) {
    return false;
  }
  if (row.blocks == BlockSpace::kPair) return arguments.out == arguments.in && counts.own > 0;
  const std::int64_t place = arguments.has_displacements ? arguments.displacements[facts.rank]
                                                         : facts.rank * arguments.count;
  const void* whole = row.describesOwnOut() ? arguments.in : arguments.out;
  const void* own = row.describesOwnOut() ? arguments.out : arguments.in;
  return static_cast<const std::byte*>(whole) + place * static_cast<std::int64_t>(types.all.size) ==
         own;
}

/// Whether the schedules that combine in the order of ranks give a rank more than the call.
bool givesMore(const CollectiveRow& row) {
  return row.ordered && rowOf(*row.ordered).outWhole() && !row.outWhole();
}

BrokenRule hasGaps(const ElementType& type, const char* argument) {
  const Status status = gapsIn(type);
  return {CallFault::kDatatype, *argument == '\0' ? status : status.annotated(argument)};
}

/// Of data that are moved by torc.h's rules.
BrokenRule checkOwnGaps(const CallFacts& facts, const CallTypes& types) {
  if (facts.mpi || !types.describesOwn()) return {};
  if (!types.own.gapless) {
    return hasGaps(types.own, facts.row.describesOwnOut() ? "out_type" : "in_type");
  }
  return checkTypesOfPair(facts.arguments, types.in(facts.row), types.out(facts.row));
}

}  // namespace

BrokenRule wrongArgument(std::string text) {
  return {CallFault::kArgument, {StatusCode::kInvalidArgument, std::move(text)}};
}
BrokenRule checkTypesOfPair(const CallArguments& arguments, const ElementType& in,
                            const ElementType& out) {
  if (arguments.own_type == arguments.type || (in.simple && out.simple)) return {};
  return {CallFault::kDatatype,
          {StatusCode::kUnsupported, message("in_type ", in.name(), " and out_type ", out.name(),
                                             " are different derived datatypes")}};
}

CallFacts::CallFacts(const CallArguments& given, const CollectiveRow& row_of_call, int own_rank,
                     int all_ranks)
    : arguments(given),
      row(row_of_call),
      rank(own_rank),
      ranks(all_ranks),
      mpi(given.rules == CallRules::kMpi),
      by_rank(given.has_counts && row.counts == CountOf::kBlock),
      is_root(!row.isRooted() || own_rank == given.root),
      in_place((row.describesOwnOut() ? given.out : given.in) == MPI_IN_PLACE),
      moves_bytes(mpi && !row.reduces()) {}

BrokenRule checkRoot(const CallFacts& facts) {
  const int root = facts.arguments.root;
  if (!facts.row.isRooted() || (root >= 0 && root < facts.ranks)) return {};
  return wrongArgument(message("root is ", root, ", of ", facts.ranks, " ranks"));
}

BrokenRule countElements(const CallFacts& facts, CallCounts& counts) {
  const CallArguments& arguments = facts.arguments;
  if (!facts.by_rank) {
    if (arguments.count < 0) return wrongArgument(message("count is ", arguments.count));
    counts.block = static_cast<std::uint64_t>(arguments.count);
    const std::uint64_t blocks = facts.row.countedBlocks(static_cast<std::uint64_t>(facts.ranks));
    if (__builtin_mul_overflow(counts.block, blocks, &counts.all)) {
      return tooLong(message(counts.block, " elements of each rank exceed the address space"));
    }
    counts.own = facts.row.blocks == BlockSpace::kPair ? counts.all : counts.block;
    return {};
  }
  if (arguments.counts.isNull()) return wrongArgument("counts is NULL");
  for (int r = 0; r < facts.ranks; ++r) {
    const std::int64_t count = arguments.counts[r];
    if (count < 0) return wrongArgument(message("counts[", r, "] is ", count));
    if (__builtin_add_overflow(counts.all, static_cast<std::uint64_t>(count), &counts.all)) {
      return tooLong("the counts together exceed the address space");
    }
    if (r == facts.rank) counts.block = counts.own = static_cast<std::uint64_t>(count);
  }
  return {};
}

BrokenRule lookAtTypes(const CallFacts& facts, const CallCounts& counts, CallTypes& types) {
  if (Status status = lookAtType(facts.arguments.type, types.all); !status.ok()) {
    return {CallFault::kArgument, status};
  }
  if (__builtin_mul_overflow(counts.all, types.all.size, &types.bytes) || types.bytes > kMost) {
    return exceedsMemory(counts.all, types.all.size);
  }
  types.are_blocks_copied = facts.moves_bytes && !types.all.isBytesInRow();
  // Elements without data: nothing moves.
  types.scale = facts.moves_bytes ? types.all.size : types.all.bytes > 0 ? 1 : 0;
  return {};
}

BrokenRule findSpan(const CallFacts& facts, const CallCounts& counts, const CallTypes& types,
                    CallSpan& span) {
  const CallArguments& arguments = facts.arguments;
  const NumberList& displacements = arguments.displacements;
  span.elements = counts.all;
  if (!arguments.has_displacements) return {};
  if (displacements.isNull()) return wrongArgument("displacements is NULL");
  if (types.are_blocks_copied) return {};  // the copy's blocks follow one another
  std::int64_t lowest = std::numeric_limits<std::int64_t>::max();
  std::int64_t highest = std::numeric_limits<std::int64_t>::min();
  for (int r = 0; r < facts.ranks; ++r) {
    if (arguments.counts[r] == 0) continue;
    lowest = std::min(lowest, displacements[r]);
    highest = std::max(highest, displacements[r]);
  }
  if (lowest > highest) return {};  // all blocks are empty
  std::int64_t apart = 0;
  if (__builtin_sub_overflow(highest, lowest, &apart)) {
    return tooLong(message("displacements span from ", lowest, " to ", highest));
  }
  span = {lowest, 0};
  for (int r = 0; r < facts.ranks; ++r) {
    const auto count = static_cast<std::uint64_t>(arguments.counts[r]);
    if (count == 0) continue;
    span.elements =
        std::max(span.elements, static_cast<std::uint64_t>(displacements[r] - lowest) + count);
  }
  return {};
}

BrokenRule lookAtOwnType(const CallFacts& facts, ElementType& own) {
  const CallArguments& arguments = facts.arguments;
  if (!facts.row.describesOwn() || !arguments.has_buffers || facts.in_place) return {};
  if (arguments.own_count < 0) {
    return wrongArgument(message(facts.ownBuffer(), "_count is ", arguments.own_count));
  }
  if (Status status = lookAtType(arguments.own_type, own); !status.ok()) {
    return {CallFault::kArgument, status.annotated(message(facts.ownBuffer(), "_type"))};
  }
  return {};
}

BrokenRule checkInPlace(const CallFacts& facts) {
  const CollectiveRow& row = facts.row;
  if (!facts.in_place) return {};
  if (!row.servesInPlace()) {
    // Under MPI's rules the copy of a contribution is there already (Packing).
    if (facts.mpi) return {};
    return {CallFault::kArgument,
            {StatusCode::kUnsupported,
             message("in is MPI_IN_PLACE, which no schedule of ", row.name, " serves")}};
  }
  if (row.mayBeInPlace(facts.is_root)) return {};
  return wrongArgument(
      message(facts.ownBuffer(), " is MPI_IN_PLACE, of a ", row.name, " at the root alone"));
}

BrokenRule checkBuffers(const CallFacts& facts, const CallCounts& counts, const CallTypes& types,
                        const BufferElements& held) {
  const CallArguments& arguments = facts.arguments;
  const std::uint64_t longest = std::max(held.in, held.out);
  if (types.all.size > 0 && longest > kMost / types.all.size) {
    return exceedsMemory(longest, types.all.size);
  }
  if (!arguments.has_buffers) return {};
  const bool own_in_place = facts.in_place && facts.row.describesOwnOut();
  const bool in_place = facts.in_place && !own_in_place;
  const std::uint64_t written = in_place ? longest : held.out;  // in place, `out` holds both
  if (!own_in_place) {
    if (arguments.out == MPI_IN_PLACE && (!facts.mpi || written > 0)) {
      return wrongArgument("out is MPI_IN_PLACE");
    }
    if (written > 0 && isMissing(facts, arguments.out, types.out(facts.row))) {
      return wrongArgument("out is NULL");
    }
  }
  const bool describes_in = types.describesOwn() && !facts.row.describesOwnOut();
  if (in_place || held.in == 0 || (describes_in && arguments.own_count == 0)) return {};
  if (arguments.in == MPI_IN_PLACE) return wrongArgument("in is MPI_IN_PLACE");
  if (isMissing(facts, arguments.in, types.in(facts.row))) return wrongArgument("in is NULL");
  // In reductions MPICH looks also where a rank gets nothing.
  const bool looks = held.out > 0 || !facts.row.describesOwn();
  if (facts.mpi && kRefusesAliases && !own_in_place && looks && isAliased(facts, counts, types)) {
    return wrongArgument("in and out are the same memory");
  }
  return {};
}

BrokenRule checkOwnBlock(const CallFacts& facts, const CallCounts& counts, const CallTypes& types,
                         bool& room_left) {
  if (!types.describesOwn()) return {};
  const bool has_gaps = !types.own.gapless || !types.all.gapless;
  if (!facts.mpi && has_gaps) return {};  // which torc.h's rules do not serve
  const auto bytes = [&](std::uint64_t count, const ElementType& element) {
    return static_cast<unsigned __int128>(count) * bytesOf(facts, element);
  };
  const auto own_count = static_cast<std::uint64_t>(facts.arguments.own_count);
  const bool own_is_out = facts.row.describesOwnOut();
  const auto own = bytes(own_count, types.own), other = bytes(counts.block, types.all);
  if (own == other) return {};
  const bool has_room = facts.mpi && (own < other) != own_is_out;
  // All ranks are to take the same for the length of a block: of a scatter each takes its room. One
  // whose block is empty would leave the call.
  room_left = has_room && !own_is_out && (own > 0 || facts.sendsRoom());
  if (room_left) return {};
  std::string text = message("the own block is ", own_count, " of ", types.own.name(), " in `",
                             facts.ownBuffer(), "`, but ", counts.block, " of ", types.all.name(),
                             " in `", own_is_out ? "in" : "out", "`");
  if (has_room) {
    text += message("; TORC_COLLECTIVES without ", facts.row.name,
                    " leaves the call to MPI, which takes less than there is room for");
  }
  return {CallFault::kOwnBlock, {StatusCode::kMismatch, std::move(text)}};
}

BrokenRule checkReduction(const CallFacts& facts, const CallTypes& types, Reduction& reduction) {
  const CollectiveRow& row = facts.row;
  const MPI_Op op = facts.arguments.op;
  if (row.reduces() && facts.mpi && op == MPI_OP_NULL) {
    return wrongArgument("the operation is MPI_OP_NULL");
  }
  if (!types.all.gapless && !facts.moves_bytes && !facts.copiesGaps(types.all)) {
    return hasGaps(types.all, "");
  }
  if (!row.reduces()) return checkOwnGaps(facts, types);
  if (Status status = lookAtReduction(types.all, op, reduction); !status.ok()) {
    const bool is_unsupported = status.code() == StatusCode::kUnsupported;
    return {is_unsupported ? CallFault::kOperation : CallFault::kArgument, status};
  }
  if (!reduction.commutes && !row.isPrefix() && givesMore(row) && types.bytes > kMostBytesOfMore) {
    return {CallFault::kOperation,
            {StatusCode::kUnsupported,
             message("the operation does not commute, and schedules that combine in the order "
                     "of ranks give all of them the whole vector, of ",
                     types.bytes, " bytes; up to ", kMostBytesOfMore, " are served so")}};
  }
  return {};
}

bool buffersOverlap(const CallFacts& facts, const CallTypes& types, const BufferElements& held,
                    const Call& call) {
  if (held.in == 0 || held.out == 0) return false;
  // Of the caller's own: one block of `own_count` elements, or one for each rank.
  const auto own_bytes = [&] {
    const bool pairs = facts.row.blocks == BlockSpace::kPair;
    return static_cast<std::uintptr_t>(pairs ? facts.ranks : 1) *
           static_cast<std::uintptr_t>(facts.arguments.own_count) * bytesOf(facts, types.own);
  };
  const bool own_is_out = facts.row.describesOwnOut();
  const bool own_is_in = facts.row.describesOwn() && !own_is_out;
  const auto in_begin = reinterpret_cast<std::uintptr_t>(call.inBegin());
  const auto out_begin = reinterpret_cast<std::uintptr_t>(call.outBegin());
  const std::uintptr_t in_end = in_begin + (own_is_in ? own_bytes() : held.in * types.all.bytes);
  const std::uintptr_t out_end =
      out_begin + (own_is_out ? own_bytes() : held.out * types.all.bytes);
  return in_begin < in_end && out_begin < out_end && in_begin < out_end && out_begin < in_end;
}

}  // namespace torc::runtime
