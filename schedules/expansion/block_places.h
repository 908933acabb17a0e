// Block places: sizes and offsets of the blocks of a buffer. There is one block for each rank (of
// pairs, the one to it or from it) or for each neighbour.
#ifndef TORC_SCHEDULES_EXPANSION_BLOCK_PLACES_H_
#define TORC_SCHEDULES_EXPANSION_BLOCK_PLACES_H_

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "support/status.h"

namespace torc {

/// Most elements of a vector: their sums and offsets fit 63 bits.
inline constexpr std::uint64_t kMaxElements = std::numeric_limits<std::int64_t>::max();

class BlockPlaces {
 public:
  /// Blocks of `count` elements or, unless `per_rank` is empty, of `per_rank[r]` elements. They
  /// begin at `displacements`, in elements; empty: they are contiguous. The tables must outlive
  /// this.
  BlockPlaces(std::uint64_t count, std::span<const std::uint64_t> per_rank,
              std::span<const std::uint64_t> displacements)
      : count_(count), per_rank_(per_rank), displacements_(displacements) {}

  /// Sums up the blocks of `ranks` ranks, or neighbours. Call first. Errors: tables of another
  /// length; sums that do not fit 63 bits.
  Status prepare(std::uint64_t ranks, const char* of = "ranks");

  /// Whether all blocks are of one size.
  bool alike() const { return per_rank_.empty(); }
  /// Whether they are also contiguous.
  bool inRow() const { return alike() && displacements_.empty(); }
  std::uint64_t countOf(std::int32_t rank) const {
    return alike() ? count_ : per_rank_[static_cast<std::size_t>(rank)];
  }
  std::uint64_t offsetOf(std::int32_t rank) const {
    if (inRow()) return static_cast<std::uint64_t>(rank) * count_;
    return displacements_.empty() ? packed_[static_cast<std::size_t>(rank)]
                                  : displacements_[static_cast<std::size_t>(rank)];
  }
  /// Elements to the end of the last block.
  std::uint64_t end() const { return end_; }

 private:
  std::uint64_t count_;
  std::span<const std::uint64_t> per_rank_;
  std::span<const std::uint64_t> displacements_;
  std::vector<std::uint64_t> packed_;  // offsets for unequal counts without displacements
  std::uint64_t end_ = 0;
};

}  // namespace torc

#endif  // TORC_SCHEDULES_EXPANSION_BLOCK_PLACES_H_
