// Aligned loops: up to three strided runs of equal many elements (what an operation writes and what
// it reads) as one nest of loops with a stride each, so that local work on large regions needs no
// list of its runs.
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

/// A run of `length`, repeated by `loops`, the first slowest.
struct StridedOperand {
  std::uint64_t length = 0;
  std::span<const RunLoop> loops;
};

/// A loop that all operands are inside of. Their repeats are equal; each has its own stride and
/// turn.
using AlignedLoop = std::array<RunLoop, kOperands>;

/// The longest run that is contiguous in all operands, and what repeats it, the first slowest.
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

/// Nothing where the operands' runs do not fit into each other, or where it would take more than
/// kMaxLoops. Precondition: equally many elements in all.
std::optional<AlignedLoops> alignLoops(const std::array<StridedOperand, kOperands>& operands);

/// Walks aligned loops, the last fastest.
class AlignedWalk {
 public:
  AlignedWalk(const AlignedLoop* loops, std::uint32_t count) : loops_(loops), count_(count) {
    std::fill_n(index_.begin(), count, 0);
  }

  /// How far this iteration is from the first, for every operand, modulo 2^64.
  const std::array<std::uint64_t, kOperands>& distances() const { return distances_; }

  /// Goes to the next iteration; false behind the last.
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
  std::array<std::uint32_t, kMaxLoops> index_;  // of each of the loops
  std::array<std::uint64_t, kOperands> distances_{};
};

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_EXECUTION_ALIGNED_LOOPS_H_
