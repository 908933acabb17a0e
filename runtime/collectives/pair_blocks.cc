// Pair blocks: sums and positions; and the check of calls with different counts for each pair
// (MPI_Alltoallv, MPI_Alltoallw): MPI's rules for their buffers. Elements become bytes.
#include "runtime/collectives/pair_blocks.h"

#include <algorithm>
#include <limits>

#include "runtime/collectives/call_check.h"
#include "runtime/transport/which_mpi.h"
#include "support/message.h"

namespace torc::runtime {

PairBlocks::PairBlocks(const CallArguments& arguments, bool sent)
    : arguments_(arguments),
      sent_(sent && arguments.in != MPI_IN_PLACE),
      buffer_(static_cast<std::byte*>(sent_ ? const_cast<void*>(arguments.in) : arguments.out)),
      counts_(sent_ ? arguments.own_counts : arguments.counts),
      displacements_(sent_ ? arguments.own_displacements : arguments.displacements),
      type_(sent_ ? arguments.own_type : arguments.type),
      types_(sent_ ? arguments.own_types : arguments.types) {}

Status PairBlocks::look(int rank, ElementType& element) const {
  return lookAtType(types_ == nullptr ? type_ : types_[rank], element);
}

bool PairBlocks::placeOf(int rank, const ElementType& element, std::int64_t& place) const {
  // With a datatype for each block, displacements are in bytes.
  const auto unit = types_ == nullptr ? static_cast<std::int64_t>(element.bytes) : 1;
  return !__builtin_mul_overflow(displacements_[rank], unit, &place);
}

Status PairBlocks::measure(int rank, int ranks, PairBytes& bytes) const {
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  const auto too_long = [&] {
    return Status(StatusCode::kOverflow,
                  message("the blocks of ", prefix(), "counts exceed the address space"));
  };
  bytes = {};
  if (counts_.isNull()) {
    return {StatusCode::kInvalidArgument, message(prefix(), "counts is NULL")};
  }
  ElementType element;
  if (types_ == nullptr) {
    if (Status status = look(0, element); !status.ok()) {
      return status.annotated(message(prefix(), "type"));
    }
  }
  std::int64_t lowest = kMost, end = std::numeric_limits<std::int64_t>::min();
  for (int r = 0; r < ranks; ++r) {
    const std::int64_t count = countOf(r);
    if (count < 0) {
      return {StatusCode::kInvalidArgument, message(prefix(), "counts[", r, "] is ", count)};
    }
    if (count == 0) continue;
    if (types_ != nullptr) {
      if (Status status = look(r, element); !status.ok()) {
        return status.annotated(message(prefix(), "types[", r, "]"));
      }
    }
    std::int64_t length = 0, place = 0, last = 0;
    if (__builtin_mul_overflow(count, static_cast<std::int64_t>(element.size), &length) ||
        length > kMost - static_cast<std::int64_t>(bytes.data)) {
      return too_long();
    }
    bytes.data += static_cast<std::uint64_t>(length);
    if (r == rank) bytes.own = static_cast<std::uint64_t>(length);
    if (length == 0) continue;
    bytes.gapless = bytes.gapless && element.gapless;
    bytes.in_row = bytes.in_row && isInRow(element);
    if (!bytes.in_row || displacements_.isNull()) continue;
    if (!placeOf(r, element, place) || __builtin_add_overflow(place, length, &last)) {
      return too_long();
    }
    lowest = std::min(lowest, place);
    end = std::max(end, last);
  }
  if (!bytes.in_row || lowest > end) return {};
  std::int64_t span = 0;
  if (__builtin_sub_overflow(end, lowest, &span)) return too_long();
  bytes.lowest = lowest;
  bytes.span = static_cast<std::uint64_t>(span);
  return {};
}

void PairBlocks::take(int ranks, std::int64_t lowest, std::vector<std::uint64_t>& bytes,
                      std::vector<std::uint64_t>* places) const {
  bytes.assign(static_cast<std::size_t>(ranks), 0);
  if (places != nullptr) places->assign(bytes.size(), 0);
  ElementType element;
  if (types_ == nullptr) static_cast<void>(look(0, element));
  for (int r = 0; r < ranks; ++r) {
    const auto index = static_cast<std::size_t>(r);
    if (countOf(r) == 0) continue;
    if (types_ != nullptr) static_cast<void>(look(r, element));
    bytes[index] = static_cast<std::uint64_t>(counts_[r]) * element.size;
    if (places == nullptr || bytes[index] == 0) continue;
    std::int64_t place = 0;
    static_cast<void>(placeOf(r, element, place));
    (*places)[index] = static_cast<std::uint64_t>(place - lowest);
  }
}

PairBlocks::Block PairBlocks::block(int rank) const {
  if (countOf(rank) == 0) return {};
  ElementType element;
  static_cast<void>(look(rank, element));
  std::int64_t place = 0;
  static_cast<void>(placeOf(rank, element, place));
  return {buffer_ + place, counts_[rank], types_ == nullptr ? type_ : types_[rank],
          static_cast<std::size_t>(counts_[rank]) * element.size};
}

// ---- The check

namespace {

/// With a datatype for each block a null pointer means MPI_BOTTOM.
bool lacksBuffer(const void* buffer, const MPI_Datatype* types, MPI_Datatype type) {
  ElementType element;
  return buffer == nullptr && types == nullptr && lookAtType(type, element).ok() &&
         element.predefined;
}

/// Whether MPICH regards `in` and `out` as the same memory, and refuses that, even without data:
/// the lists and the datatypes are the same, too.
bool isOneBuffer(const CallArguments& arguments) {
  const bool alike = arguments.types == nullptr ? arguments.type == arguments.own_type
                                                : arguments.types == arguments.own_types;
  return alike && arguments.in == arguments.out &&
         arguments.counts.address() == arguments.own_counts.address();
}

bool overlap(const Call& call, const PairBytes& sent, const PairBytes& received) {
  if (sent.span == 0 || received.span == 0) return false;
  const auto in =
      reinterpret_cast<std::uintptr_t>(call.in) + static_cast<std::uintptr_t>(sent.lowest);
  const auto out =
      reinterpret_cast<std::uintptr_t>(call.out) + static_cast<std::uintptr_t>(received.lowest);
  return in < out + received.span && out < in + sent.span;
}

}  // namespace

bool CallCheck::measurePairs(bool is_sent, PairBytes& bytes) {
  const int blocks = arguments.listLength(ranks);
  Status measured = PairBlocks(arguments, is_sent).measure(rank, blocks, bytes);
  if (measured.ok()) return true;
  const bool is_overflow = measured.code() == StatusCode::kOverflow;
  return breaks(is_overflow ? Reason::kOverflow : Reason::kArgument, std::move(measured));
}

bool CallCheck::checkPairBuffers(const PairBytes& sent, const PairBytes& received) {
  if (arguments.displacements.isNull()) return isWrong("out_displacements is NULL");
  if (arguments.out == MPI_IN_PLACE) return isWrong("out is MPI_IN_PLACE");
  if (received.data > 0 && lacksBuffer(arguments.out, arguments.types, arguments.type)) {
    return isWrong("out is NULL");
  }
  if (in_place) return true;
  if (arguments.own_displacements.isNull()) return isWrong("in_displacements is NULL");
  if (sent.data > 0 && lacksBuffer(arguments.in, arguments.own_types, arguments.own_type)) {
    return isWrong("in is NULL");
  }
  if (mpi && kRefusesAliases && !row.isOfNeighbours() && isOneBuffer(arguments)) {
    return isWrong("in and out are the same memory");
  }
  return true;
}

/// Types that torc.h's rules exclude.
bool CallCheck::checkPairElements(const PairBytes& sent, const PairBytes& received) {
  ElementType in, out;
  static_cast<void>(lookAtType(arguments.own_type, in));
  static_cast<void>(lookAtType(arguments.type, out));
  if (!sent.gapless) return hasGaps(in, "in_type");
  if (!received.gapless) return hasGaps(out, "out_type");
  return checkTypesOfPair(in, out);
}

bool CallCheck::checkPairs() {
  PairBytes sent, received;
  if (!checkInPlace() || !measurePairs(false, received)) return false;
  call.scale = 1;
  call.count = 0;
  static_cast<void>(lookAtType(MPI_BYTE, call.type));
  call.bytes = received.data;
  if (!arguments.has_buffers) return true;
  if (!measurePairs(true, sent)) return false;
  call.bytes = sent.data;
  if (!checkPairBuffers(sent, received)) return false;
  if (!mpi && !checkPairElements(sent, received)) return false;
  const bool fits = mpi ? sent.own <= received.own : sent.own == received.own;
  if (!row.isOfNeighbours() && !fits) {
    return breaks(Reason::kOwnBlock, {StatusCode::kMismatch,
                                      message("the own block has ", sent.own,
                                              " bytes in `in`, but ", received.own, " in `out`")});
  }
  call.takes_shorter = mpi;
  if (!row.isOfNeighbours() && sent.own < received.own) call.short_own = rank;
  const bool overlaps = !in_place && overlap(call, sent, received);
  if (overlaps && !mpi) return isWrong("in and out overlap");
  call.unpacks_out = received.data > 0 && !received.in_row;
  call.packs_in = sent.data > 0 && (in_place || !sent.in_row || (overlaps && !call.unpacks_out));
  call.in_place = false;  // the sent data are then a copy
  call.elements = {call.packs_in ? sent.data : sent.span,
                   call.unpacks_out ? received.data : received.span};
  call.in_displaced = call.packs_in ? 0 : sent.lowest;
  call.out_displaced = received.lowest;
  return true;
}

}  // namespace torc::runtime
