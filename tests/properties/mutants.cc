// Injects single faults into a schedule.
#include "tests/properties/mutants.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "schedules/loops/loop_nest.h"

namespace torc {

std::vector<MutantStep> stepsOf(const Schedule& schedule) {
  std::vector<MutantStep> steps;
  const ScheduleView view = schedule.view();
  for (const Operation& operation : view.operations) {
    const auto after = view.dependencesOf(operation);
    steps.push_back({operation, {after.begin(), after.end()}});
  }
  return steps;
}

Schedule withSteps(const Schedule& schedule, const std::vector<MutantStep>& steps) {
  Schedule result = schedule;
  result.operations.clear();
  result.dependences.clear();
  for (MutantStep step : steps) {
    std::sort(step.after.begin(), step.after.end());
    step.after.erase(std::unique(step.after.begin(), step.after.end()), step.after.end());
    step.operation.first_dependence = static_cast<std::uint32_t>(result.dependences.size());
    step.operation.dependence_count = static_cast<std::uint32_t>(step.after.size());
    result.dependences.insert(result.dependences.end(), step.after.begin(), step.after.end());
    result.operations.push_back(step.operation);
  }
  return result;
}

namespace {

Mutant drop(const Schedule& schedule, std::mt19937_64& random) {
  std::vector<MutantStep> steps = stepsOf(schedule);
  const std::uint32_t gone = pick(steps.size(), random, [&](std::uint32_t i) {
    return std::ranges::none_of(schedule.loops, [i](const Loop& loop) {
      return loop.begin == i && loop.end == i + 1;  // no loop is left without operations
    });
  });
  if (gone == kNone) return {};
  const std::vector<std::uint32_t> inherited = steps[gone].after;
  steps.erase(steps.begin() + gone);
  for (MutantStep& step : steps) {
    if (std::erase(step.after, gone) > 0) {
      step.after.insert(step.after.end(), inherited.begin(), inherited.end());
    }
    // Of other iterations and segments nothing is inherited.
    std::erase_if(step.after, [&](std::uint32_t d) { return operationOf(d) == gone; });
    for (std::uint32_t& d : step.after)
      d -= operationOf(d) > gone ? 1 : 0;
  }
  Schedule mutant = withSteps(schedule, steps);
  for (Loop& loop : mutant.loops) {
    loop.begin -= loop.begin > gone ? 1 : 0;
    loop.end -= loop.end > gone ? 1 : 0;
  }
  return {std::move(mutant), "drop " + percent(gone)};
}

Mutant repeat(const Schedule& schedule, std::mt19937_64& random) {
  std::vector<MutantStep> steps = stepsOf(schedule);
  const std::uint32_t twice = pick(steps.size(), random, [](std::uint32_t) { return true; });
  if (twice == kNone) return {};
  for (MutantStep& step : steps) {  // those that waited for the first now wait for the second
    for (std::uint32_t& d : step.after)
      d += operationOf(d) >= twice ? 1 : 0;
  }
  MutantStep second = steps[twice];
  second.after.push_back(twice);
  steps.insert(steps.begin() + twice + 1, second);
  Schedule mutant = withSteps(schedule, steps);
  for (Loop& loop : mutant.loops) {
    loop.begin += loop.begin > twice ? 1 : 0;
    loop.end += loop.end > twice ? 1 : 0;
  }
  return {std::move(mutant), "double " + percent(twice)};
}

Mutant swap(const Schedule& schedule, std::mt19937_64& random) {
  std::vector<MutantStep> steps = stepsOf(schedule);
  const LoopNest nest(schedule.view());
  const std::uint32_t first = pick(steps.size(), random, [&](std::uint32_t i) {
    return i + 1 < steps.size() && steps[i].operation.stream == steps[i + 1].operation.stream &&
           steps[i].operation.phase == steps[i + 1].operation.phase &&
           nest.aroundOperation(i) == nest.aroundOperation(i + 1);
  });
  if (first == kNone) return {};
  std::erase(steps[first + 1].after, first);
  std::swap(steps[first], steps[first + 1]);
  for (MutantStep& step : steps) {
    for (std::uint32_t& d : step.after) {
      if (operationOf(d) - first < 2) d = movedTo(d, 2 * first + 1 - operationOf(d));
    }
  }
  return {withSteps(schedule, steps), "swap " + percent(first) + " and its successor"};
}

Mutant redirect(const Schedule& schedule, std::mt19937_64& random) {
  Schedule mutant = schedule;
  const std::uint32_t index = pick(mutant.operations.size(), random, [&](std::uint32_t i) {
    return mutant.operations[i].peer != kNone && mutant.shifts.size() > 1;
  });
  if (index == kNone) return {};
  std::uint32_t& peer = mutant.operations[index].peer;
  peer = (peer + 1 + random() % (mutant.shifts.size() - 1)) % mutant.shifts.size();
  return {std::move(mutant), "redirect " + percent(index)};
}

Mutant otherBlocks(const Schedule& schedule, std::mt19937_64& random) {
  if (schedule.view().hasPairs()) return {};
  Schedule mutant = schedule;
  auto movable = [](const Region& region) {
    return region.present() && region.pieces == 0 && region.buffer != Buffer::kScratch;
  };
  const std::uint32_t index = pick(mutant.operations.size(), random, [&](std::uint32_t i) {
    return movable(mutant.operations[i].a) || movable(mutant.operations[i].dst);
  });
  if (index == kNone) return {};
  // Moves every region of the operation alike, so that its structure stays sound.
  Operation& operation = mutant.operations[index];
  const std::uint32_t box = operation.a.present() ? operation.a.box : operation.dst.box;
  const std::uint32_t axis = pick(mutant.topology.axis_count, random, [&](std::uint32_t i) {
    return mutant.boxes[box][i].kind == IntervalKind::kRelative &&
           mutant.boxes[box][i].length < mutant.topology.axes[i].size;
  });
  if (axis == kNone) return {};
  const auto distance =
      static_cast<std::int32_t>(1 + random() % (mutant.topology.axes[axis].size - 1));
  for (Region* region : {&operation.dst, &operation.a, &operation.b}) {
    if (!movable(*region)) continue;
    Box moved = mutant.boxes[region->box];
    moved[axis].start += distance;
    region->box = static_cast<std::uint32_t>(mutant.boxes.size());
    mutant.boxes.push_back(moved);
  }
  return {std::move(mutant), "other blocks for " + percent(index)};
}

Mutant removeDependence(const Schedule& schedule, std::mt19937_64& random) {
  std::vector<MutantStep> steps = stepsOf(schedule);
  const std::uint32_t index =
      pick(steps.size(), random, [&](std::uint32_t i) { return !steps[i].after.empty(); });
  if (index == kNone) return {};
  std::vector<std::uint32_t>& after = steps[index].after;
  const std::size_t which = random() % after.size();
  const std::string what =
      percent(index) + " no longer after " + percent(operationOf(after[which]));
  after.erase(after.begin() + static_cast<std::ptrdiff_t>(which));
  return {withSteps(schedule, steps), what};
}

/// In the order of Mutation.
constexpr struct {
  std::string_view name;
  Mutant (*mutate)(const Schedule& schedule, std::mt19937_64& random);
} kMutations[kMutationCount] = {{"drop", drop},
                                {"double", repeat},
                                {"swap", swap},
                                {"redirect", redirect},
                                {"other blocks", otherBlocks},
                                {"remove dependence", removeDependence},
                                {"trip count", changeTripCount},
                                {"loop end", moveLoopEnd},
                                {"exchange loops", exchangeLoops},
                                {"stride", changeStride},
                                {"copies", changeCopies},
                                {"distance", changeDistance},
                                {"origin", changeOrigin},
                                {"segments before", changeSegmentsBefore},
                                {"window", changeWindow}};

}  // namespace

std::string_view name(Mutation mutation) {
  return kMutations[static_cast<int>(mutation)].name;
}

Mutant mutate(const Schedule& schedule, Mutation mutation, std::mt19937_64& random) {
  return kMutations[static_cast<int>(mutation)].mutate(schedule, random);
}

}  // namespace torc
