// Strided runs: elements (or bytes) at equal distances, described by loops, so that regions of
// large and small toruses take equal memory.
#ifndef TORC_SCHEDULES_EXPANSION_STRIDED_H_
#define TORC_SCHEDULES_EXPANSION_STRIDED_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

#include "schedules/block_axes.h"
#include "schedules/expansion/shares.h"

namespace torc {

/// A repetition of a run or of inner loops. A loop over a cyclic interval beyond the end of its
/// axis turns once: from iteration `turn` on, offsets are smaller by `back`.
struct RunLoop {
  std::uint64_t stride = 0;  // from one iteration to the next
  std::uint64_t back = 0;
  std::uint32_t repeat = 1;  // iterations, at least 2 in an extent
  std::uint32_t turn = 1;    // in [1, repeat]; repeat: never

  bool turns() const { return turn < repeat; }
  bool operator==(const RunLoop&) const = default;
};
static_assert(sizeof(RunLoop) == 24);

/// Most loops around one run.
inline constexpr std::size_t kMaxLoops = kMaxBlockAxes;

/// `length` elements at `offset`, repeated by loops of a table, the first slowest.
struct StridedExtent {
  std::uint64_t offset = 0;  // elements
  std::uint64_t length = 0;  // elements, contiguous
  std::uint32_t first_loop = 0;
  std::uint32_t loop_count = 0;  // 0: a single run

  bool operator==(const StridedExtent&) const = default;
};
static_assert(sizeof(StridedExtent) == 24);

/// Walks the iterations of nested loops, the last fastest.
class LoopWalk {
 public:
  LoopWalk() = default;
  /// At most kMaxLoops; none: one iteration.
  explicit LoopWalk(std::span<const RunLoop> loops) : loops_(loops) {
    std::fill_n(index_.begin(), loops.size(), 0);
  }
  LoopWalk(const LoopWalk& other) { *this = other; }
  LoopWalk& operator=(const LoopWalk& other) {
    loops_ = other.loops_;
    distance_ = other.distance_;
    std::copy_n(other.index_.begin(), loops_.size(), index_.begin());
    return *this;
  }

  /// How far this iteration is from the first. It may be less, modulo 2^64.
  std::uint64_t distance() const { return distance_; }

  /// Goes to the next iteration; after the last, false and back to the first.
  bool next() {
    for (std::size_t level = loops_.size(); level-- > 0;) {
      const RunLoop& loop = loops_[level];
      distance_ += loop.stride;
      if (++index_[level] == loop.turn) distance_ -= loop.back;
      if (index_[level] < loop.repeat) return true;
      distance_ -= loop.stride * loop.repeat - loop.back;
      index_[level] = 0;
    }
    return false;
  }

 private:
  std::span<const RunLoop> loops_;
  std::uint64_t distance_ = 0;
  // Of each loop; entries beyond the depth stay unset, as replays make a walk for every run.
  std::array<std::uint32_t, kMaxLoops> index_;
};

/// Iterations of nested loops.
inline std::uint64_t iterations(std::span<const RunLoop> loops) {
  std::uint64_t product = 1;
  for (const RunLoop& loop : loops)
    product *= loop.repeat;
  return product;
}

/// The single runs of strided extents, in order: a range of `Extent`.
class ExtentRange {
 public:
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Extent;
    using difference_type = std::ptrdiff_t;

    Iterator() = default;
    explicit Iterator(const ExtentRange& range) : range_(&range) { enter(); }

    Extent operator*() const {
      const StridedExtent& extent = range_->extents_[index_];
      return {extent.offset + walk_.distance(), extent.length};
    }
    Iterator& operator++() {
      if (walk_.next()) return *this;
      ++index_;
      enter();
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const { return index_ == range_->extents_.size(); }

   private:
    void enter() {
      if (index_ < range_->extents_.size()) walk_ = LoopWalk(range_->loopsOf(index_));
    }

    const ExtentRange* range_ = nullptr;
    std::size_t index_ = 0;
    LoopWalk walk_;
  };

  ExtentRange(std::span<const StridedExtent> extents, std::span<const RunLoop> loops)
      : extents_(extents), loops_(loops) {}

  /// The range must outlive its iterators.
  Iterator begin() const { return Iterator(*this); }
  std::default_sentinel_t end() const { return {}; }
  /// Number of runs.
  std::uint64_t size() const {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < extents_.size(); ++i)
      sum += iterations(loopsOf(i));
    return sum;
  }

 private:
  std::span<const RunLoop> loopsOf(std::size_t index) const {
    return loops_.subspan(extents_[index].first_loop, extents_[index].loop_count);
  }

  std::span<const StridedExtent> extents_;
  std::span<const RunLoop> loops_;
};

/// Index of `loops` in `table`; appends them unless the table ends with them. Consecutive regions
/// of a program mostly repeat alike.
template <typename LoopType>
std::uint32_t addLoops(std::span<const LoopType> loops, std::vector<LoopType>& table) {
  if (loops.empty()) return 0;
  constexpr std::size_t kLookedAt = 16;
  for (std::size_t back = loops.size(); back <= table.size() && back <= kLookedAt; ++back) {
    const auto found = table.end() - static_cast<std::ptrdiff_t>(back);
    if (std::equal(loops.begin(), loops.end(), found)) {
      return static_cast<std::uint32_t>(found - table.begin());
    }
  }
  table.insert(table.end(), loops.begin(), loops.end());
  return static_cast<std::uint32_t>(table.size() - loops.size());
}

}  // namespace torc

#endif  // TORC_SCHEDULES_EXPANSION_STRIDED_H_
