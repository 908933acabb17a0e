// The rules that check a call.
#include "runtime/collectives/call_check.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "runtime/transport/which_mpi.h"
#include "support/message.h"

namespace torc::runtime {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();

// Limit of a vector that all ranks get whole although each needs only a block: up to it start-up
// times dominate.
constexpr std::uint64_t kMostBytesOfMore = 64 << 10;

/// Whether the schedules that combine in the order of ranks give a rank more than its result.
bool givesMore(const CollectiveRow& row) {
  return row.ordered && rowOf(*row.ordered).outWhole() && !row.outWhole();
}

}  // namespace

CallCheck::CallCheck(const CallArguments& given, const CollectiveRow& row_of_call, int own_rank,
                     int all_ranks, Call& checked)
    : arguments(given),
      row(row_of_call),
      rank(own_rank),
      ranks(all_ranks),
      mpi(given.rules == CallRules::kMpi),
      by_rank(given.has_counts && row.counts == CountOf::kBlock),
      is_root(!row.isRooted() || own_rank == given.root),
      in_place((row.describesOwnOut() ? given.out : given.in) == MPI_IN_PLACE),
      moves_bytes(mpi && !row.reduces()),
      call(checked) {}

Status CallCheck::run() {
  begin();
  if (arguments.hasPairLists()) {
    checkPairs();
    return std::move(status);
  }
  if (!checkRoot() || !countElements() || !lookAtTypes() || !findSpan() || !lookAtOwnType() ||
      !checkInPlace()) {
    return std::move(status);
  }
  findHeld();
  layOut();
  if (checkBuffers() && checkOwnBlock() && checkReduction()) checkOverlap();
  return std::move(status);
}

bool CallCheck::breaks(Reason fault, Status what) {
  call.fault = fault;
  status = std::move(what);
  return false;
}

bool CallCheck::exceedsMemory(std::uint64_t elements, std::size_t element_bytes) {
  return isTooLong(message("a vector of ", elements, " elements of ", element_bytes,
                           " bytes exceeds the address space"));
}

bool CallCheck::hasGaps(const ElementType& type, std::string_view argument) {
  const Status gaps = gapsIn(type);
  return breaks(Reason::kDatatypeGaps,
                argument.empty() ? gaps : gaps.annotated(std::string(argument)));
}

bool CallCheck::checkTypesOfPair(const ElementType& in_type, const ElementType& out_type) {
  if (arguments.own_type == arguments.type || (in_type.simple && out_type.simple)) return true;
  return breaks(
      Reason::kDatatypeGaps,
      {StatusCode::kUnsupported, message("in_type ", in_type.name(), " and out_type ",
                                         out_type.name(), " are different derived datatypes")});
}

bool CallCheck::checkRoot() {
  const int root = arguments.root;
  if (!row.isRooted() || (root >= 0 && root < ranks)) return true;
  return isWrong(message("root is ", root, ", of ", ranks, " ranks"));
}

bool CallCheck::countElements() {
  if (!by_rank) {
    if (arguments.count < 0) return isWrong(message("count is ", arguments.count));
    counts.block = static_cast<std::uint64_t>(arguments.count);
    const std::uint64_t blocks = row.countedBlocks(static_cast<std::uint64_t>(ranks));
    if (__builtin_mul_overflow(counts.block, blocks, &counts.all)) {
      return isTooLong(message(counts.block, " elements of each rank exceed the address space"));
    }
    counts.own = row.blocks == BlockSpace::kPair ? counts.all : counts.block;
    return true;
  }
  if (arguments.counts.isNull()) return isWrong("counts is NULL");
  for (int r = 0; r < ranks; ++r) {
    const std::int64_t count = arguments.counts[r];
    if (count < 0) return isWrong(message("counts[", r, "] is ", count));
    if (__builtin_add_overflow(counts.all, static_cast<std::uint64_t>(count), &counts.all)) {
      return isTooLong("the counts together exceed the address space");
    }
    if (r == rank) counts.block = counts.own = static_cast<std::uint64_t>(count);
  }
  return true;
}

bool CallCheck::lookAtTypes() {
  if (Status looked = lookAtType(arguments.type, types.all); !looked.ok()) {
    return breaks(Reason::kArgument, std::move(looked));
  }
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(counts.all, types.all.size, &bytes) || bytes > kMost) {
    return exceedsMemory(counts.all, types.all.size);
  }
  call.bytes = bytes;
  types.are_blocks_copied = moves_bytes && !types.all.isBytesInRow();
  // Elements without data move nothing.
  types.scale = moves_bytes ? types.all.size : types.all.bytes > 0 ? 1 : 0;
  return true;
}

bool CallCheck::findSpan() {
  const NumberList& displacements = arguments.displacements;
  span.elements = counts.all;
  if (!arguments.has_displacements) return true;
  if (displacements.isNull()) return isWrong("displacements is NULL");
  if (types.are_blocks_copied) return true;  // the copy has contiguous blocks
  std::int64_t lowest = std::numeric_limits<std::int64_t>::max();
  std::int64_t highest = std::numeric_limits<std::int64_t>::min();
  for (int r = 0; r < ranks; ++r) {
    if (arguments.counts[r] == 0) continue;
    lowest = std::min(lowest, displacements[r]);
    highest = std::max(highest, displacements[r]);
  }
  if (lowest > highest) return true;  // all blocks are empty
  std::int64_t apart = 0;
  if (__builtin_sub_overflow(highest, lowest, &apart)) {
    return isTooLong(message("displacements span from ", lowest, " to ", highest));
  }
  span = {lowest, 0};
  for (int r = 0; r < ranks; ++r) {
    const auto count = static_cast<std::uint64_t>(arguments.counts[r]);
    if (count == 0) continue;
    span.elements =
        std::max(span.elements, static_cast<std::uint64_t>(displacements[r] - lowest) + count);
  }
  return true;
}

bool CallCheck::lookAtOwnType() {
  if (!row.describesOwn() || !arguments.has_buffers || in_place) return true;
  if (arguments.own_count < 0) {
    return isWrong(message(ownBuffer(), "_count is ", arguments.own_count));
  }
  const Status looked = lookAtType(arguments.own_type, types.own);
  return looked.ok() || breaks(Reason::kArgument, looked.annotated(message(ownBuffer(), "_type")));
}

bool CallCheck::checkInPlace() {
  if (!in_place) return true;
  if (row.servesInPlace()) {
    return row.mayBeInPlace(is_root) ||
           isWrong(message(ownBuffer(), " is MPI_IN_PLACE, of a ", row.name, " at the root alone"));
  }
  // Under MPI's rules Packing copies the contribution.
  return mpi || breaks(Reason::kArgument,
                       {StatusCode::kUnsupported,
                        message("in is MPI_IN_PLACE, which no schedule of ", row.name, " serves")});
}

bool CallCheck::checkBuffers() {
  const std::uint64_t longest = std::max(held.in, held.out);
  if (types.all.size > 0 && longest > kMost / types.all.size) {
    return exceedsMemory(longest, types.all.size);
  }
  if (!arguments.has_buffers) return true;
  const bool own_in_place = in_place && ownIsOut();
  const bool all_in_place = in_place && !own_in_place;
  const std::uint64_t written = all_in_place ? longest : held.out;  // `out` then holds both
  if (!own_in_place) {
    if (arguments.out == MPI_IN_PLACE && (!mpi || written > 0)) {
      return isWrong("out is MPI_IN_PLACE");
    }
    if (written > 0 && isMissing(arguments.out, outType())) return isWrong("out is NULL");
  }
  const bool describes_in = describesOwn() && !ownIsOut();
  if (all_in_place || held.in == 0 || (describes_in && arguments.own_count == 0)) return true;
  if (arguments.in == MPI_IN_PLACE) return isWrong("in is MPI_IN_PLACE");
  if (isMissing(arguments.in, inType())) return isWrong("in is NULL");
  // In reductions MPICH also checks ranks without a result.
  const bool looks = held.out > 0 || !row.describesOwn();
  if (mpi && kRefusesAliases && !own_in_place && looks && isAliased()) {
    return isWrong("in and out are the same memory");
  }
  return true;
}

/// Whether MPICH regards `in` as the memory of the result, and refuses the call. The answer must be
/// exact: a rank that falls back, although MPI accepts the call, would block the others
/// (tests/runtime/pmpi/differences). MPICH compares the own block with its place in `out` if both
/// have the same count and datatype, by the type's size.
bool CallCheck::isAliased() const {
  if (!row.describesOwn()) return arguments.in == arguments.out && arguments.in != nullptr;
  if (arguments.own_type != arguments.type ||
      arguments.own_count != static_cast<std::int64_t>(counts.block)) {
    return false;
  }
  if (row.blocks == BlockSpace::kPair) return arguments.out == arguments.in && counts.own > 0;
  const std::int64_t place =
      arguments.has_displacements ? arguments.displacements[rank] : rank * arguments.count;
  const void* whole = ownIsOut() ? arguments.in : arguments.out;
  const void* own = ownIsOut() ? arguments.out : arguments.in;
  return static_cast<const std::byte*>(whole) + place * static_cast<std::int64_t>(types.all.size) ==
         own;
}

bool CallCheck::checkOwnBlock() {
  if (!describesOwn()) return true;
  const bool has_gaps = !types.own.gapless || !types.all.gapless;
  if (!mpi && has_gaps) return true;  // torc.h's rules exclude these
  const auto bytes = [&](std::uint64_t count, const ElementType& element) {
    return static_cast<unsigned __int128>(count) * ownBytes(element);
  };
  const auto own_count = static_cast<std::uint64_t>(arguments.own_count);
  const auto own = bytes(own_count, types.own), other = bytes(counts.block, types.all);
  if (own == other) return true;
  const bool has_room = mpi && (own < other) != ownIsOut();
  // All ranks must use the same length of a block: in a scatter each uses its room. A rank with an
  // empty block would leave the call.
  if (has_room && !ownIsOut() && (own > 0 || sendsRoom())) {
    useRoom();
    return true;
  }
  std::string text = message("the own block is ", own_count, " of ", types.own.name(), " in `",
                             ownBuffer(), "`, but ", counts.block, " of ", types.all.name(),
                             " in `", ownIsOut() ? "in" : "out", "`");
  if (has_room) {
    text += message("; TORC_COLLECTIVES without ", row.name,
                    " leaves the call to MPI, which takes less than there is room for");
  }
  return breaks(Reason::kOwnBlock, {StatusCode::kMismatch, std::move(text)});
}

bool CallCheck::checkReduction() {
  const MPI_Op op = arguments.op;
  if (row.reduces() && mpi && op == MPI_OP_NULL) return isWrong("the operation is MPI_OP_NULL");
  if (!types.all.gapless && !moves_bytes && !copiesGaps(types.all)) return hasGaps(types.all, "");
  if (!row.reduces()) {  // by torc.h's rules moved data have no gaps
    if (mpi || !describesOwn()) return true;
    if (!types.own.gapless) return hasGaps(types.own, ownIsOut() ? "out_type" : "in_type");
    return checkTypesOfPair(inType(), outType());
  }
  if (Status looked = lookAtReduction(types.all, op, call.reduction); !looked.ok()) {
    const bool is_unsupported = looked.code() == StatusCode::kUnsupported;
    return breaks(is_unsupported ? Reason::kOperation : Reason::kArgument, std::move(looked));
  }
  if (!call.reduction.commutes && !row.isPrefix() && givesMore(row) &&
      call.bytes > kMostBytesOfMore) {
    return breaks(
        Reason::kOperation,
        {StatusCode::kUnsupported,
         message("the operation does not commute, and schedules that combine in the order "
                 "of ranks give all of them the whole vector, of ",
                 call.bytes, " bytes; up to ", kMostBytesOfMore, " are served so")});
  }
  return true;
}

/// MPI leaves it to the caller to avoid other overlaps.
bool CallCheck::checkOverlap() {
  if (mpi || !arguments.has_buffers || call.in_place || !buffersOverlap()) return true;
  return isWrong("in and out overlap (MPI_IN_PLACE says that they are the same)");
}

bool CallCheck::buffersOverlap() const {
  if (held.in == 0 || held.out == 0) return false;
  // The caller's own data: one block of `own_count` elements, or one for each rank.
  const auto own_bytes = [&] {
    const bool pairs = row.blocks == BlockSpace::kPair;
    return static_cast<std::uintptr_t>(pairs ? ranks : 1) *
           static_cast<std::uintptr_t>(arguments.own_count) * ownBytes(types.own);
  };
  const bool own_is_in = row.describesOwn() && !ownIsOut();
  const auto in_begin = reinterpret_cast<std::uintptr_t>(call.inBegin());
  const auto out_begin = reinterpret_cast<std::uintptr_t>(call.outBegin());
  const std::uintptr_t in_end = in_begin + (own_is_in ? own_bytes() : held.in * types.all.bytes);
  const std::uintptr_t out_end =
      out_begin + (ownIsOut() ? own_bytes() : held.out * types.all.bytes);
  return in_begin < in_end && out_begin < out_end && in_begin < out_end && out_begin < in_end;
}

}  // namespace torc::runtime
