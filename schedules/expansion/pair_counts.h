// Pair counts: how many elements the blocks of pairs have that pass through one rank. Where counts
// differ from pair to pair a rank is told its own row and its own column; of the blocks that it
// forwards for others it learns by an exchange of counts (schedules/expansion/count_exchange.h).
#ifndef TORC_SCHEDULES_EXPANSION_PAIR_COUNTS_H_
#define TORC_SCHEDULES_EXPANSION_PAIR_COUNTS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace torc {

/// As large as what it knows, which is what one rank forwards.
class PairCounts {
 public:
  /// The block from rank `source` to rank `destination` has `elements`. Throws std::bad_alloc.
  void set(std::int32_t source, std::int32_t destination, std::uint64_t elements);

  /// 0 for a pair of which nothing is known.
  std::uint64_t countOf(std::int32_t source, std::int32_t destination) const;

  /// Pairs that are known.
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
  /// Where the pair is, or the free entry where it belongs. At least one entry is free.
  std::size_t find(std::uint64_t pair) const;
  void grow();

  std::vector<Entry> entries_;  // by the hash of the pair, a power of two of them
  std::size_t size_ = 0;
};

}  // namespace torc

#endif  // TORC_SCHEDULES_EXPANSION_PAIR_COUNTS_H_
