// Injects single faults into loops and segments.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "schedules/loops/loop_nest.h"
#include "tests/properties/mutants.h"

namespace torc {
namespace {

bool oneIn(std::uint32_t n, std::mt19937_64& random) {
  return random() % n == 0;
}

/// `value` and one more or less, but at least `least`.
template <typename T>
T oneOff(T value, T least, std::mt19937_64& random) {
  return static_cast<T>(value == least || oneIn(2, random) ? value + 1 : value - 1);
}

/// What a dependence of operation `waits` says, also where it says so by default.
Iterations instanceOf(const Schedule& schedule, const LoopNest& nest, std::uint32_t waits,
                      std::uint32_t dependence) {
  Iterations instance;
  if (const std::uint32_t record = iterationsOf(dependence); record != 0) {
    return schedule.iterations[record - 1];
  }
  const LoopsAround target = nest.aroundOperation(operationOf(dependence));
  instance.depth = static_cast<std::uint16_t>(target.depth());
  for (std::uint32_t level = sharedDepth(nest.aroundOperation(waits), target);
       level < target.depth(); ++level) {
    instance.origin[level] = IterationOrigin::kAll;
  }
  return instance;
}

/// `schedule` with one dependence, of those that `change` can change, changed by it.
template <typename Change>
Mutant changeDependence(const Schedule& schedule, std::mt19937_64& random, Change change) {
  if (schedule.iterations.size() == kMaxIterationRecords) return {};
  const LoopNest nest(schedule.view());
  std::vector<MutantStep> steps = stepsOf(schedule);
  struct Wait {
    std::uint32_t operation, number;
    Iterations instance;
  };
  std::vector<Wait> waits;
  for (std::uint32_t i = 0; i < steps.size(); ++i) {
    for (std::uint32_t k = 0; k < steps[i].after.size(); ++k) {
      Iterations instance = instanceOf(schedule, nest, i, steps[i].after[k]);
      if (change(instance)) waits.push_back({i, k, instance});
    }
  }
  if (waits.empty()) return {};
  const Wait& wait = waits[random() % waits.size()];
  Schedule mutant = schedule;
  std::uint32_t& dependence = steps[wait.operation].after[wait.number];
  const std::uint32_t on = operationOf(dependence);
  dependence = mutant.dependence(on, wait.instance);
  return {withSteps(mutant, steps),
          percent(wait.operation) + " after another instance of " + percent(on)};
}

/// Adds the boxes that a region or a frame names to `boxes`.
template <typename Blocks>
void addBoxes(const ScheduleView& view, const Blocks& blocks, std::vector<std::uint32_t>& boxes) {
  for (const Piece& piece : view.piecesOf(blocks)) {
    if (view.hasPairs()) {
      boxes.push_back(view.pairs[piece.box].source);
      boxes.push_back(view.pairs[piece.box].destination);
    } else {
      boxes.push_back(piece.box);
    }
  }
}

/// All boxes that an operation names, those of its frames included; some more than once.
std::vector<std::uint32_t> boxesOf(const ScheduleView& view, const Operation& operation) {
  std::vector<std::uint32_t> boxes;
  for (const Region* region : {&operation.dst, &operation.a, &operation.b}) {
    addBoxes(view, *region, boxes);
    if (region->frame != kNone) addBoxes(view, view.frames[region->frame], boxes);
  }
  if (operation.guard != kNone) boxes.push_back(operation.guard);
  return boxes;
}

/// Whether of any two loops one lies inside the other, or both apart.
bool areNested(const std::vector<Loop>& loops) {
  for (const Loop& one : loops) {
    if (one.begin >= one.end) return false;
    for (const Loop& other : loops) {
      if (one.begin < other.begin && other.begin < one.end && one.end < other.end) return false;
    }
  }
  return std::ranges::is_sorted(loops, [](const Loop& a, const Loop& b) {
    return a.begin < b.begin || (a.begin == b.begin && a.end > b.end);
  });
}

}  // namespace

Mutant changeTripCount(const Schedule& schedule, std::mt19937_64& random) {
  if (schedule.loops.empty()) return {};
  Schedule mutant = schedule;
  const std::size_t index = random() % mutant.loops.size();
  std::uint32_t& count = mutant.loops[index].count;
  count = oneOff(count, 1u, random);
  return {std::move(mutant),
          "loop " + std::to_string(index) + " of " + std::to_string(count) + " iterations"};
}

/// Dependences follow: those on an operation that leaves the loop are on its one instance, those on
/// one that joins it are on the own iteration, or on all.
Mutant moveLoopEnd(const Schedule& schedule, std::mt19937_64& random) {
  if (schedule.loops.empty()) return {};
  Schedule mutant = schedule;
  const std::size_t index = random() % mutant.loops.size();
  Loop& loop = mutant.loops[index];
  (oneIn(2, random) ? loop.begin : loop.end) += oneIn(2, random) ? 1u : -1u;
  const std::string what = "loop " + std::to_string(index) + " around " + percent(loop.begin) +
                           " to before " + percent(loop.end);
  if (!areNested(mutant.loops) || loop.end > mutant.operations.size())
    return {std::move(mutant), what};
  const LoopNest before(schedule.view()), nest(mutant.view());
  std::vector<MutantStep> steps = stepsOf(schedule);
  for (std::uint32_t i = 0; i < steps.size(); ++i) {
    const LoopsAround around = nest.aroundOperation(i);
    for (std::uint32_t& dependence : steps[i].after) {
      if (iterationsOf(dependence) == 0) continue;
      const LoopsAround target = nest.aroundOperation(operationOf(dependence));
      Iterations instance = instanceOf(schedule, before, i, dependence);
      for (std::uint32_t level = 0; level < kMaxLoopDepth; ++level) {
        const bool joins = level >= instance.depth && level < target.depth();
        const bool by_counter = instance.origin[level] == IterationOrigin::kOwn ||
                                instance.origin[level] == IterationOrigin::kBack;
        if (level >= target.depth()) {
          instance.origin[level] = IterationOrigin::kOwn;
          instance.offset[level] = 0;
        } else if (joins ? level >= sharedDepth(around, target)
                         : by_counter && level >= around.depth()) {
          instance.origin[level] = IterationOrigin::kAll;
          instance.offset[level] = 0;
        }
      }
      instance.depth = static_cast<std::uint16_t>(target.depth());
      if (mutant.iterations.size() == kMaxIterationRecords) return {};
      dependence = mutant.dependence(operationOf(dependence), instance);
    }
  }
  return {withSteps(mutant, steps), what};
}

/// With the loops go, as a rule, their counters in boxes and iterations.
Mutant exchangeLoops(const Schedule& schedule, std::mt19937_64& random) {
  const auto& loops = schedule.loops;
  const std::uint32_t outer = pick(loops.size(), random, [&](std::uint32_t i) {
    return i + 1 < loops.size() && loops[i + 1].end <= loops[i].end;
  });
  if (outer == kNone) return {};
  Schedule mutant = schedule;
  Loop& inner = mutant.loops[outer + 1];
  std::swap(mutant.loops[outer].count, inner.count);
  const std::string what = "exchange loops " + std::to_string(outer) + " and the next";
  if (oneIn(3, random)) return {std::move(mutant), what + ", but for their counters"};
  const LoopNest nest(schedule.view());
  std::uint32_t level = 0;
  while (nest.aroundOperation(inner.begin)[level] != outer)
    ++level;
  std::vector<std::uint32_t> boxes;
  for (std::uint32_t i = inner.begin; i < inner.end; ++i) {
    const std::vector<std::uint32_t> named = boxesOf(schedule.view(), schedule.operations[i]);
    boxes.insert(boxes.end(), named.begin(), named.end());
  }
  std::ranges::sort(boxes);
  boxes.erase(std::unique(boxes.begin(), boxes.end()), boxes.end());
  for (const std::uint32_t box : boxes) {
    for (Interval& interval : mutant.boxes[box].axes) {
      if (interval.loop == level + 1 || interval.loop == level + 2) {
        interval.loop = static_cast<std::uint8_t>(2 * level + 3 - interval.loop);
      }
    }
  }
  std::vector<MutantStep> steps = stepsOf(schedule);
  for (std::uint32_t i = inner.begin; i < inner.end; ++i) {
    for (std::uint32_t& dependence : steps[i].after) {
      const std::uint32_t on = operationOf(dependence);
      if (on < inner.begin || on >= inner.end || iterationsOf(dependence) == 0) continue;
      if (mutant.iterations.size() == kMaxIterationRecords) return {};
      Iterations instance = instanceOf(schedule, nest, i, dependence);
      std::swap(instance.origin[level], instance.origin[level + 1]);
      std::swap(instance.offset[level], instance.offset[level + 1]);
      dependence = mutant.dependence(on, instance);
    }
  }
  return {withSteps(mutant, steps), what};
}

/// In a box, of all who name it; or in the regions of an operation alone.
Mutant changeStride(const Schedule& schedule, std::mt19937_64& random) {
  const LoopNest nest(schedule.view());
  const std::uint32_t index = pick(schedule.operations.size(), random, [&](std::uint32_t i) {
    return nest.aroundOperation(i).depth() > 0 && !isSignal(schedule.operations[i].kind);
  });
  if (index == kNone) return {};
  Schedule mutant = schedule;
  const std::vector<std::uint32_t> boxes = boxesOf(schedule.view(), schedule.operations[index]);
  std::uint32_t box = boxes[random() % boxes.size()];
  const std::uint32_t axis = pick(mutant.topology.axis_count, random, [&](std::uint32_t i) {
    const IntervalKind kind = mutant.boxes[box][i].kind;
    return kind == IntervalKind::kAbsolute || kind == IntervalKind::kRelative;
  });
  if (axis == kNone) return {};
  std::string what = "another stride of box " + std::to_string(box);
  if (!schedule.view().hasPairs() && oneIn(2, random)) {
    what += " in " + percent(index);
    const auto copy = static_cast<std::uint32_t>(mutant.boxes.size());
    mutant.boxes.push_back(Box(mutant.boxes[box]));
    Operation& operation = mutant.operations[index];
    for (Region* region : {&operation.dst, &operation.a, &operation.b}) {
      if (region->present() && region->pieces == 0 && region->box == box) region->box = copy;
    }
    if (operation.guard == box) operation.guard = copy;
    box = copy;
  }
  Interval& interval = mutant.boxes[box][axis];
  if (interval.loop == 0) {
    interval.loop = static_cast<std::uint8_t>(1 + random() % nest.aroundOperation(index).depth());
  }
  std::int8_t& stride = oneIn(3, random) ? interval.growth : interval.step;
  stride = static_cast<std::int8_t>(stride + (oneIn(2, random) ? 1 : -1));
  if (interval.step == 0 && interval.growth == 0) interval.loop = 0;
  return {std::move(mutant), what};
}

Mutant changeCopies(const Schedule& schedule, std::mt19937_64& random) {
  if (schedule.loops.empty() || schedule.frames.empty()) return {};
  Schedule mutant = schedule;
  const std::size_t index = random() % mutant.frames.size();
  Frame& frame = mutant.frames[index];
  const std::uint32_t group = frame.group();
  if (frame.copies > 1 && oneIn(3, random)) {
    frame.slot = frame.slotOf(1);
  } else {
    const std::uint32_t first = frame.slot - group;
    frame.copies = oneOff<std::uint16_t>(frame.copies, 1, random);
    frame.slot = group - group % frame.copies + first % frame.copies;
    mutant.slot_count = std::max(mutant.slot_count, frame.group() + frame.copies);
  }
  return {std::move(mutant), "frame " + std::to_string(index) + " of " +
                                 std::to_string(frame.copies) + " copies from slot " +
                                 std::to_string(frame.slot)};
}

Mutant changeDistance(const Schedule& schedule, std::mt19937_64& random) {
  return changeDependence(schedule, random, [&](Iterations& instance) {
    if (instance.depth == 0) return false;
    const std::size_t level = random() % instance.depth;
    instance.offset[level] += oneIn(2, random) ? 1 : -1;
    return instance.origin[level] != IterationOrigin::kAll;
  });
}

Mutant changeOrigin(const Schedule& schedule, std::mt19937_64& random) {
  return changeDependence(schedule, random, [&](Iterations& instance) {
    if (instance.depth == 0) return false;
    const std::size_t level = random() % instance.depth;
    IterationOrigin& origin = instance.origin[level];
    const auto other = (static_cast<std::uint64_t>(origin) + 1 + random() % 4) % 5;
    origin = static_cast<IterationOrigin>(other);
    if (origin == IterationOrigin::kAll) instance.offset[level] = 0;
    return true;
  });
}

Mutant changeSegmentsBefore(const Schedule& schedule, std::mt19937_64& random) {
  if (schedule.segments == 1) return {};
  return changeDependence(schedule, random, [&](Iterations& instance) {
    instance.segments = oneOff<std::uint16_t>(instance.segments, 0, random);
    return true;
  });
}

Mutant changeWindow(const Schedule& schedule, std::mt19937_64& random) {
  if (schedule.segments == 1) return {};
  Schedule mutant = schedule;
  mutant.window = oneOff(mutant.window, 1u, random);
  return {std::move(mutant), "window " + std::to_string(mutant.window)};
}

}  // namespace torc
