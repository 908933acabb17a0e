// Pair counts: sizes of the blocks that pass through one rank. If counts differ from pair to pair,
// a rank knows its own row and column; an exchange of counts adds those of the blocks that it
// forwards (schedules/expansion/count_exchange.h).
#ifndef TORC_SCHEDULES_EXPANSION_PAIR_COUNTS_H_
#define TORC_SCHEDULES_EXPANSION_PAIR_COUNTS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace torc {

/// Memory is proportional to the number of known pairs: the blocks that one rank forwards.
class PairCounts {
 public:
  /// The block from rank `source` to rank `destination` has `elements`. Throws std::bad_alloc.
  void set(std::int32_t source, std::int32_t destination, std::uint64_t elements);

  /// 0 for an unknown pair.
  std::uint64_t countOf(std::int32_t source, std::int32_t destination) const;

  /// Number of known pairs.
  std::size_t size() const { return size_; }

 private:
  static constexpr std::uint64_t kNobody = ~std::uint64_t{0};
  struct Entry {
    std::uint64_t pair = kNobody;
    std::uint64_t elements = 0;
  };

  static std::uint64_t pairOf(std::int32_t source, std::int32_t destination) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(source)) << 32 |
           static_cast<std::uint32_t>(destination);
  }
  /// The entry of the pair, or the free entry for it. At least one entry is free.
  std::size_t find(std::uint64_t pair) const;
  void grow();

  std::vector<Entry> entries_;  // by the hash of the pair; the size is a power of two
  std::size_t size_ = 0;
};

}  // namespace torc

#endif  // TORC_SCHEDULES_EXPANSION_PAIR_COUNTS_H_
