// Splits the loops of several operands, fastest first, into common ones.
#include "runtime/execution/aligned_loops.h"

#include <algorithm>

namespace torc::runtime {
namespace {

/// The remaining loops of one operand, including the rest of a split one.
class LoopStack {
 public:
  LoopStack(const StridedOperand& operand, std::uint64_t length) {
    for (const RunLoop& loop : operand.loops)
      loops_.push_back(loop);
    // A longer run becomes a loop over the common run.
    const auto repeat = static_cast<std::uint32_t>(operand.length / length);
    if (repeat > 1) loops_.push_back({length, 0, repeat, repeat});
  }

  bool empty() const { return loops_.empty(); }
  std::uint32_t repeat() const { return loops_.back().repeat; }

  /// Takes `repeat` iterations of the fastest loop, and leaves a loop over the rest. False:
  /// impossible.
  bool take(std::uint32_t repeat, RunLoop& taken) {
    RunLoop& loop = loops_.back();
    if (loop.repeat == repeat) {
      taken = loop;
      loops_.pop_back();
      return true;
    }
    if (loop.repeat % repeat != 0 || (loop.turns() && loop.turn % repeat != 0)) return false;
    taken = {loop.stride, 0, repeat, repeat};
    loop = {loop.stride * repeat, loop.back, loop.repeat / repeat, loop.turn / repeat};
    return true;
  }

 private:
  std::vector<RunLoop> loops_;  // the fastest is last
};

}  // namespace

std::optional<AlignedLoops> alignLoops(const std::array<StridedOperand, kOperands>& operands) {
  AlignedLoops aligned;
  aligned.length = operands[0].length;
  for (const StridedOperand& operand : operands)
    aligned.length = std::min(aligned.length, operand.length);
  std::vector<LoopStack> stacks;
  for (const StridedOperand& operand : operands) {
    constexpr std::uint64_t kMostRepeats = std::uint32_t(-1);
    if (operand.length % aligned.length != 0 || operand.length / aligned.length > kMostRepeats) {
      return std::nullopt;
    }
    stacks.emplace_back(operand, aligned.length);
  }
  while (!stacks[0].empty()) {
    std::uint32_t repeat = stacks[0].repeat();
    for (const LoopStack& stack : stacks) {
      if (stack.empty()) return std::nullopt;
      repeat = std::min(repeat, stack.repeat());
    }
    AlignedLoop loop;
    for (std::size_t k = 0; k < kOperands; ++k) {
      if (!stacks[k].take(repeat, loop[k])) return std::nullopt;
    }
    aligned.loops.push_back(loop);
    if (aligned.loops.size() > kMaxLoops) return std::nullopt;
  }
  for (const LoopStack& stack : stacks) {
    if (!stack.empty()) return std::nullopt;
  }
  std::reverse(aligned.loops.begin(), aligned.loops.end());
  return aligned;
}

}  // namespace torc::runtime
