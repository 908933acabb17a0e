// Pair blocks: sums and positions.
#include "runtime/collectives/pair_blocks.h"

#include <algorithm>
#include <limits>

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

}  // namespace torc::runtime
