// Nested floor division of a number of elements into colors, directions, chunks and blocks. Sizes
// differ by at most one per level, any count works, and every rank computes the same boundaries.
#ifndef TORC_SCHEDULES_EXPANSION_SHARES_H_
#define TORC_SCHEDULES_EXPANSION_SHARES_H_

#include <cstdint>
#include <vector>

#include "schedules/schedule.h"

namespace torc {

/// A run of elements.
struct Extent {
  std::uint64_t offset = 0;  // elements
  std::uint64_t length = 0;  // elements

  bool operator==(const Extent&) const = default;
};

/// floor(total * numerator / denominator) without overflow; numerator <=
/// denominator.
inline std::uint64_t share(std::uint64_t total, std::uint64_t numerator,
                           std::uint64_t denominator) {
  std::uint64_t product = 0;
  if (!__builtin_mul_overflow(total, numerator, &product)) return product / denominator;
  return static_cast<std::uint64_t>(static_cast<unsigned __int128>(total) * numerator /
                                    denominator);
}

/// Share `index` of `count` equal ones of `whole`.
inline Extent shareOf(const Extent& whole, std::uint64_t index, std::uint64_t count) {
  std::uint64_t begin = share(whole.length, index, count);
  std::uint64_t end = share(whole.length, index + 1, count);
  return {whole.offset + begin, end - begin};
}

/// The parts of a schedule with their cumulative weights: cuts `length`
/// elements into parts.
class PartTable {
 public:
  explicit PartTable(const ScheduleView& schedule);

  std::uint32_t size() const { return static_cast<std::uint32_t>(parts_.size()); }
  const PartIndex& index(std::uint32_t part) const { return parts_[part]; }

  /// Elements of `part` within `whole`: color by weight, then direction, then
  /// chunk.
  Extent extent(std::uint32_t part, const Extent& whole) const;
  /// Elements of `parts` consecutive parts from `part` on: they are contiguous.
  Extent extent(std::uint32_t part, std::uint32_t parts, const Extent& whole) const;

 private:
  struct ColorShare {
    std::uint64_t begin, end;  // cumulative weights
    std::uint32_t directions, chunks;
  };
  std::vector<PartIndex> parts_;
  std::vector<ColorShare> colors_;
  std::uint64_t denominator_ = 1;
};

/// Sizes of regions as shares of the whole vector, independent of its size. The vector is all
/// blocks and parts; of pairs and of neighbours, the blocks that one node sends.
class VectorShares {
 public:
  /// `schedule` must outlive this object.
  explicit VectorShares(const ScheduleView& schedule);

  /// Share of `part`, of all blocks.
  double part(std::uint32_t part) const { return parts_[part]; }
  /// Share of `region` for the node at `at`.
  double of(const Region& region, const Coordinates& at) const;
  /// Share of a node's scratch: the largest frame of each slot, times the segments in the window.
  /// It is equal at every node.
  double scratch() const;

 private:
  const ScheduleView& schedule_;
  std::vector<double> parts_;
};

}  // namespace torc

#endif  // TORC_SCHEDULES_EXPANSION_SHARES_H_
