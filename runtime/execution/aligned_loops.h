// Aligned loops: the memory of up to three operands (the one written, and those read) with equally
// many elements, as one common nest of loops. Local work on large regions then needs no list of
// runs.
#ifndef TORC_RUNTIME_EXECUTION_ALIGNED_LOOPS_H_
#define TORC_RUNTIME_EXECUTION_ALIGNED_LOOPS_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "schedules/expansion/strided.h"

namespace torc::runtime {

inline constexpr std::size_t kOperands = 3;  // dst, a, b

/// A run of `length` bytes, repeated by `loops`, the slowest first.
struct StridedOperand {
  std::uint64_t length = 0;
  std::span<const RunLoop> loops;
};

/// One loop for all operands: equal repeats, and for each operand its own stride.
using AlignedLoop = std::array<RunLoop, kOperands>;

/// The longest run that is contiguous in all operands, and the loops around it, the slowest first.
struct AlignedLoops {
  std::uint64_t length = 0;
  std::vector<AlignedLoop> loops;

  std::uint64_t runs() const {
    std::uint64_t product = 1;
    for (const AlignedLoop& loop : loops)
      product *= loop[0].repeat;
    return product;
  }
};

/// std::nullopt if the operands' runs do not nest, or if this needs more than kMaxLoops.
/// Precondition: all operands have equally many elements.
std::optional<AlignedLoops> alignLoops(const std::array<StridedOperand, kOperands>& operands);

/// Iterates over aligned loops, the last one fastest.
class AlignedWalk {
 public:
  AlignedWalk(const AlignedLoop* loops, std::uint32_t count) : loops_(loops), count_(count) {
    std::fill_n(index_.begin(), count, 0);
  }

  /// Distances of this iteration from the first, by operand, modulo 2^64.
  const std::array<std::uint64_t, kOperands>& distances() const { return distances_; }

  /// Advances; false after the last iteration.
  bool next() {
    for (std::uint32_t level = count_; level-- > 0;) {
      const AlignedLoop& loop = loops_[level];
      const std::uint32_t index = ++index_[level];
      for (std::size_t k = 0; k < kOperands; ++k) {
        distances_[k] += loop[k].stride;
        if (index == loop[k].turn) distances_[k] -= loop[k].back;
      }
      if (index < loop[0].repeat) return true;
      for (std::size_t k = 0; k < kOperands; ++k)
        distances_[k] -= loop[k].stride * loop[k].repeat - loop[k].back;
      index_[level] = 0;
    }
    return false;
  }

 private:
  const AlignedLoop* loops_;
  std::uint32_t count_;
  std::array<std::uint32_t, kMaxLoops> index_;  // by loop
  std::array<std::uint64_t, kOperands> distances_{};
};

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_EXECUTION_ALIGNED_LOOPS_H_
