// Loop nest: the loops around each operation of a schedule.
#ifndef TORC_SCHEDULES_LOOPS_LOOP_NEST_H_
#define TORC_SCHEDULES_LOOPS_LOOP_NEST_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "schedules/schedule.h"

namespace torc {

/// The loops around an operation as indices of the table, the outermost first.
class LoopsAround {
 public:
  void push(std::uint32_t loop) { loops_[depth_++] = loop; }
  std::uint32_t depth() const { return depth_; }
  std::uint32_t operator[](std::uint32_t level) const { return loops_[level]; }
  bool operator==(const LoopsAround&) const = default;

 private:
  std::array<std::uint32_t, kMaxLoopDepth> loops_{};
  std::uint32_t depth_ = 0;
};

/// Number of outermost loops that two operations share.
inline std::uint32_t sharedDepth(const LoopsAround& a, const LoopsAround& b) {
  std::uint32_t depth = 0;
  while (depth < a.depth() && depth < b.depth() && a[depth] == b[depth])
    ++depth;
  return depth;
}

/// The iterations of an operation in the loops `target` for which one in the loops `around` waits.
inline Iterations iterationsNamed(const ScheduleView& schedule, std::uint32_t dependence,
                                  const LoopsAround& around, const LoopsAround& target) {
  if (const std::uint32_t record = iterationsOf(dependence); record != 0)
    return schedule.iterations[record - 1];
  Iterations iterations;
  for (std::uint32_t level = sharedDepth(around, target); level < target.depth(); ++level)
    iterations.origin[level] = IterationOrigin::kAll;
  return iterations;
}

/// The name of the counter of a loop at `level`, 0 for the outermost: i, j, k, ...
inline constexpr char kSegmentCounter = 's';
inline char counterName(std::uint32_t level) {
  return "ijkl"[level];
}

/// "where i = 3, j = 0" for an operation in `depth` loops; empty outside of loops.
inline std::string iterationText(const Counters& counters, std::uint32_t depth) {
  std::string text;
  for (std::uint32_t level = 0; level < depth; ++level) {
    text += level == 0 ? "where " : ", ";
    text += counterName(level);
    text += " = " + std::to_string(counters[level]);
  }
  return text;
}

class LoopNest {
 public:
  /// The loops of `schedule` are nested or disjoint, at most kMaxLoopDepth deep (validate.h).
  explicit LoopNest(const ScheduleView& schedule) : loops_(schedule.loops) {
    if (loops_.empty()) return;
    innermost_.assign(schedule.operations.size(), kNone);
    for (std::uint32_t i = 0; i < loops_.size(); ++i) {
      LoopsAround around = aroundOperation(loops_[i].begin);
      around.push(i);
      around_.push_back(around);
      for (std::uint32_t operation = loops_[i].begin; operation < loops_[i].end; ++operation)
        innermost_[operation] = i;
    }
  }

  LoopsAround aroundOperation(std::uint32_t operation) const {
    if (loops_.empty() || innermost_[operation] == kNone) return {};
    return around_[innermost_[operation]];
  }
  const Loop& loop(std::uint32_t index) const { return loops_[index]; }
  /// Number of runs of an operation, at most kMostRuns.
  static constexpr std::uint64_t kMostRuns = std::uint64_t{1} << 32;
  std::uint64_t runs(std::uint32_t operation) const {
    const LoopsAround around = aroundOperation(operation);
    std::uint64_t runs = 1;
    for (std::uint32_t level = 0; level < around.depth(); ++level)
      runs = std::min(kMostRuns, runs * loops_[around[level]].count);
    return runs;
  }

 private:
  std::span<const Loop> loops_;
  std::vector<LoopsAround> around_;       // by loop: the loops around it, and itself
  std::vector<std::uint32_t> innermost_;  // by operation; kNone: outside of loops
};

/// Number of operations of a schedule with its loops unrolled.
inline std::uint64_t operationRuns(const ScheduleView& schedule) {
  const LoopNest nest(schedule);
  std::uint64_t runs = 0;
  for (std::uint32_t i = 0; i < schedule.operations.size(); ++i)
    runs += nest.runs(i);
  return runs;
}

}  // namespace torc

#endif  // TORC_SCHEDULES_LOOPS_LOOP_NEST_H_
