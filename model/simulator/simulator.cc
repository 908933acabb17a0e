#include "model/simulator/simulator.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include <llvm/ADT/STLExtras.h>

#include "ir/make_error.h"
#include "ir/peer_loops/peer_loops.h"
#include "ir/segments/segments.h"
#include "model/simulator/graph_cache.h"
#include "model/simulator/routes.h"
#include "model/simulator/simulation.h"
#include "model/simulator/simulation_graph.h"
#include "schedules/loops/unroll.h"
#include "schedules/root.h"

namespace torc::model {
namespace {

// Most operations, on all simulated nodes, of a schedule in segments; the times of further segments
// follow from these.
constexpr double kMostSegmentTasks = 5e4;
// Operations of all segments below which none are omitted.
constexpr double kFewTasks = 5e3;
// Segments to simulate, as a multiple of those that fill a pipeline of one phase, and at least:
// beyond these all active ones are alike.
constexpr double kFilledTimes = 4;
constexpr double kLeastFilled = 24;
// The multiple if all segments take equal time from the first on.
constexpr double kEvenTimes = 1.5;
// Additional factor if messages are whole elements, which segments get in rotation.
constexpr double kTimesOfRanks = 2;
// Limits if a pipeline has to be filled first: for classes of nodes, for ranks that may differ, and
// for the fewest segments that fill it.
constexpr double kMostFillingTasks = 2.5e5;
constexpr double kMostFillingTasksOfRanks = 1.5e6;
constexpr double kMostTasks = 1e7;
// Relative growth of links' busy time beyond the time of a segment by rounding alone.
constexpr double kEvenGrowth = 1 + 1e-6;
// Cost of recognising that a node does not execute an operation, relative to simulating it.
constexpr double kSeenOperation = 0.05;

/// The machine without links that cut rings of `schedule` and are absent in its `counted` form: no
/// message uses them.
Machine uncutMachine(const ScheduleView& schedule, const ScheduleView& counted,
                     const Machine& machine) {
  Machine uncut = machine;
  if (counted.topology == schedule.topology) return uncut;
  std::erase_if(uncut.dead_links, [&](const DeadLink& link) {
    return llvm::is_contained(schedule.topology.deadLinks(), link);
  });
  return uncut;
}

/// Renames operations to those of another schedule: `nameOf(operation)`.
template <typename NameOf>
void renameOperations(SimulateResult& result, NameOf nameOf) {
  for (CriticalStep& step : result.critical_path) {
    if (step.operation != kNone) step.operation = nameOf(step.operation);
  }
  for (SimulatedEvent& event : result.events)
    event.operation = nameOf(event.operation);
}

/// Renames operations of unrolled segments, `operations` in each, by segment and operation.
void nameSegments(SimulateResult& result, std::uint32_t operations) {
  const auto split = [&](auto& named) {
    named.segment = named.operation / operations;
    named.operation %= operations;
  };
  llvm::for_each(result.critical_path, split);
  llvm::for_each(result.events, split);
}

/// Moves the events in the later half of the `simulated` segments to the last of `segments`, which
/// end `later_s` later.
void continueSegments(SimulateResult& result, std::uint32_t simulated, std::uint32_t segments,
                      double later_s) {
  ContinuedSegments& continued = result.continued;
  continued = {.first = simulated / 2,
               .count = segments - simulated,
               .simulated_s = result.makespan_s - later_s};
  std::vector<SimulatedEvent>& events = result.events;
  continued.begin_s = continued.simulated_s;
  for (SimulatedEvent& event : events) {
    if (event.segment < continued.first) continue;
    continued.begin_s = std::min(continued.begin_s, event.start_s);
    // Its cause may be in an omitted segment.
    if (event.cause != kNone && events[event.cause].segment < continued.first) event.cause = kNone;
    if (event.begin_s > 0) event.begin_s += later_s;  // otherwise ready from the beginning
    for (double* time : {&event.end_s, &event.wire_begin_s, &event.wire_end_s, &event.start_s})
      *time += later_s;
  }
  for (SimulatedEvent& event : events) {
    if (event.segment >= continued.first) event.segment += continued.count;
  }
  continued.end_s = continued.begin_s + later_s;
  std::vector<CriticalStep>& path = result.critical_path;
  if (path.empty()) return;
  const auto behind = llvm::find_if(
      path, [&](const CriticalStep& step) { return step.segment >= continued.first; });
  const double begin_s = behind == path.end() ? continued.simulated_s : behind->start_s;
  for (CriticalStep& step : llvm::make_range(behind, path.end())) {
    if (step.segment >= continued.first) step.segment += continued.count;
    step.start_s += later_s;
    step.end_s += later_s;
  }
  path.insert(behind, {.operation = kNone,
                       .segment = continued.first,
                       .rank = behind == path.end() ? path.back().rank : behind->rank,
                       .start_s = begin_s,
                       .end_s = begin_s + later_s,
                       .waited_for = WaitedFor::kDependence});
}

/// Simulates any number of segments of a schedule with equal segments.
class SegmentSimulator {
 public:
  /// All must outlive this.
  SegmentSimulator(const ScheduleView& any_root, const Machine& machine,
                   const SimulateOptions& options, GraphCache* graphs)
      : any_root_(any_root),
        counted_(asCounted(any_root)),
        machine_(uncutMachine(any_root, counted_, machine)),
        options_(options),
        graphs_(graphs),
        rooted_(counted_, 0) {}

  /// The first `segments` segments, each with its own length; all of them, if the result can be
  /// extrapolated from these and `fewer`. 1 if loops over peers may be unrolled.
  llvm::Expected<SimulateResult> run(std::uint32_t segments,
                                     const Simulation::Fewer* fewer = nullptr) {
    if (!graph_) {
      if (llvm::Error error = build()) return error;
    }
    const double tasks = static_cast<double>(graph_->tasks.size()) * segments;
    if (llvm::Error error = checkTaskCount(schedule(), graph_->nodes(), tasks)) return error;
    if (isOfRanks() && static_cast<double>(graph_->bytes.size()) < tasks)
      layElements(schedule(), elements(), options_.element_bytes, segments, *graph_);
    graph_->segments = segments;
    Simulation simulation(*graph_, machine_, options_);
    if (const std::uint64_t pending = simulation.run(); pending > 0) {
      return makeError("deadlock: " + std::to_string(pending) +
                       " operations never complete, the first is " +
                       graph_->taskName(simulation.firstPending()));
    }
    SimulateResult result = simulation.result();
    nameSegments(result, graph_->operations);
    for (SimulatedEvent& event : result.events) {
      const Operation& operation = schedule().operations[event.operation];
      event.kind = operation.kind;
      event.stream = operation.stream;
    }
    if (unrolled_) {
      renameOperations(result,
                       [&](std::uint32_t operation) { return unrolled_->source[operation]; });
    }
    const double simulated_s = result.makespan_s;
    is_continued_ = fewer != nullptr && graph_->bytes.empty() &&
                    simulation.continueTo(counted_.segments, *fewer, result);
    if (is_continued_)
      continueSegments(result, segments, counted_.segments, result.makespan_s - simulated_s);
    return result;
  }

  /// Whether the last result is for all segments.
  bool isContinued() const { return is_continued_; }

 private:
  std::uint64_t elements() const {
    return static_cast<std::uint64_t>(options_.bytes / options_.element_bytes);
  }
  /// Whether its segments are those of all ranks, with whole elements.
  bool isOfRanks() const { return options_.per_rank && counted_.segments > 1; }
  ScheduleView schedule() const { return unrolled_ ? unrolled_->schedule.view() : rooted_.view(); }

  llvm::Error build() {
    // With few ports messages wait for one another, one by one.
    if (!options_.per_rank && ir::hasPeerLoops(rooted_.view())) {
      const ir::NodeClasses classes(rooted_.view(), false);
      if (machine_.ports > 0 || ir::differAlongPeerLoops(rooted_.view(), classes)) {
        const double tasks = ir::unrolledOperations(rooted_.view()) * classes.count();
        if (llvm::Error error = checkTaskCount(rooted_.view(), classes.count(), tasks)) {
          return error;
        }
        unrolled_ = ir::unrollPeerLoops(rooted_.view());
      }
    }
    const bool is_flat = options_.per_rank && !isOfRanks();
    GraphCache* const graphs = unrolled_ || is_flat ? nullptr : graphs_;
    if (graphs != nullptr) {
      if (const auto known = graphs->find(any_root_, machine_, isOfRanks())) graph_ = *known;
    }
    if (!graph_) {
      llvm::Expected<SimulationGraph> graph =
          is_flat ? graphOfRanks(schedule(), machine_, elements(), options_.element_bytes)
                  : graphOfClasses(schedule(), machine_, isOfRanks());
      if (!graph) return graph.takeError();
      graph_ = std::move(*graph);
      if (graphs != nullptr) graphs->add(any_root_, machine_, isOfRanks(), *graph_);
    }
    if (!is_flat) graph_->setBytes(options_.bytes / counted_.segments);
    return llvm::Error::success();
  }

  const ScheduleView any_root_;
  const ScheduleView counted_;
  const Machine machine_;
  const SimulateOptions& options_;
  GraphCache* const graphs_;
  const RootedSchedule rooted_;
  std::optional<ir::UnrolledSchedule> unrolled_;
  std::optional<SimulationGraph> graph_;
  bool is_continued_ = false;
};

/// Simulates the first `segments` segments of a schedule, unrolled, with their own lengths.
llvm::Expected<SimulateResult> simulateWrittenOut(const ScheduleView& schedule,
                                                  const Machine& machine,
                                                  const SimulateOptions& options,
                                                  std::uint32_t segments) {
  SimulateOptions some = options;
  some.bytes *= static_cast<double>(segments) / schedule.segments;
  llvm::Expected<SimulateResult> result =
      simulate(ir::unrollSegments(schedule, segments).view(), machine, some);
  if (!result) return result;
  nameSegments(*result, static_cast<std::uint32_t>(schedule.operations.size()));
  return result;
}

/// The time of a pipeline grows equally with every segment. So of many segments, some are
/// simulated, and half of them too; each of the rest takes as long as one of the other half, or as
/// the busiest link needs for it, if the pipeline still fills.
llvm::Expected<SimulateResult> simulateAllSegments(const ScheduleView& schedule,
                                                   const Machine& machine,
                                                   const SimulateOptions& options,
                                                   GraphCache* graphs) {
  const bool as_one =
      ir::hasPeerLoops(schedule) ||
      (options.per_rank && !allHaveElements(schedule, options.bytes / options.element_bytes));
  SegmentSimulator simulator(schedule, machine, options, graphs);
  const auto simulateSegments = [&](std::uint32_t segments) {
    return as_one ? simulateWrittenOut(schedule, machine, options, segments)
                  : simulator.run(segments);
  };
  if (schedule.operations.empty()) return simulateSegments(1);
  const ir::NodeClasses classes(schedule,
                                options.per_rank || !looksAlike(schedule.topology, schedule.links));
  const double tasks = executions(schedule, classes);
  const double work =
      tasks +
      kSeenOperation * (static_cast<double>(schedule.operations.size()) * classes.count() - tasks);
  if (schedule.segments * work <= kFewTasks) return simulateSegments(schedule.segments);
  llvm::Expected<SimulateResult> one = simulateSegments(1);
  if (!one) return one;
  const auto steps = static_cast<double>(one->steps);
  if (!as_one && !options.per_rank) {
    const double wanted =
        std::max({kLeastFilled, kEvenTimes * steps, 2 * std::min<double>(steps, schedule.window)});
    if (wanted + 1 < schedule.segments && wanted * work <= kMostSegmentTasks) {
      auto few = static_cast<std::uint32_t>(wanted);
      few += (schedule.segments - few) % 2;
      Simulation::Fewer fewer = {.segments = few - few / 4 * 2};
      llvm::Expected<SimulateResult> half = simulator.run(fewer.segments);
      if (!half) return half;
      fewer.makespan_s = half->makespan_s;
      llvm::Expected<SimulateResult> result = simulator.run(few, &fewer);
      if (!result || simulator.isContinued()) return result;
    }
  }
  const double most = (options.per_rank ? kMostFillingTasksOfRanks : kMostFillingTasks) / work;
  double fit = kMostSegmentTasks / work;
  if (options.per_rank && as_one) {
    fit = kMostTasks / tasks;  // some would have no element
  } else if (schedule.operations.back().phase > 0) {
    // Messages of different phases and segments share links: a segment takes less time than later
    // ones until the number of segments reaches that of successive messages.
    fit = std::max(std::min(2 * steps, most), std::min(2.0 * schedule.window, kMostTasks / tasks));
  } else {
    const double times = options.per_rank ? kTimesOfRanks : 1;
    fit = std::min(fit, times * std::max(kFilledTimes * steps, kLeastFilled));
  }
  // A node waits for its operations a window before: both halves are multiples of the window.
  const double turn = 2.0 * schedule.window;
  const double turns = std::ceil(fit / turn) * turn;
  if (turns <= std::max(fit, most)) fit = turns;
  // Twice as many segments while they follow faster than links carry them: the pipeline fills.
  for (std::uint32_t end = ir::segmentsToSimulate(schedule, fit);;
       end = ir::segmentsToSimulate(schedule, 2.0 * end)) {
    llvm::Expected<SimulateResult> result = simulateSegments(end);
    if (!result || end == schedule.segments) return result;
    const std::uint32_t begin = end / 2;
    llvm::Expected<SimulateResult> half = simulateSegments(begin);
    if (!half) return half;
    const auto grow = [&]<typename Number>(Number& value, Number at_begin) {
      const auto at_end = static_cast<double>(value);
      const double grown = at_end - static_cast<double>(at_begin);
      value = static_cast<Number>(at_end + grown / (end - begin) * (schedule.segments - end));
    };
    const double simulated_s = result->makespan_s;
    const double grown_s = simulated_s - half->makespan_s;
    double later_s = grown_s;
    grow(result->messages, half->messages);
    grow(result->steps, half->steps);
    for (LinkUse& link : result->links) {
      // The first segments may not use some link.
      LinkUse before;
      for (const LinkUse& used : half->links) {
        if (used.link_class == link.link_class) before = used;
      }
      later_s = std::max(later_s, link.busy_s - before.busy_s);
      grow(link.bytes, before.bytes);
      grow(link.busy_s, before.busy_s);
    }
    if (later_s > kEvenGrowth * grown_s && 2 * end <= most) continue;
    grow(result->makespan_s, simulated_s - later_s);
    for (LinkUse& link : result->links)
      link.idle_s = result->makespan_s - link.busy_s;
    continueSegments(*result, end, schedule.segments, result->makespan_s - simulated_s);
    return result;
  }
}

}  // namespace

std::string_view name(WaitedFor what) {
  static constexpr std::string_view kNames[] = {"nothing", "dependence", "peer",
                                                "core",    "interface",  "port"};
  return kNames[static_cast<int>(what)];
}

std::string text(const ContinuedSegments& continued) {
  return "segments " + std::to_string(continued.first) + " to " +
         std::to_string(continued.first + continued.count - 1) + " continued";
}

llvm::Expected<SimulateResult> simulate(const ScheduleView& any_root, const Machine& machine,
                                        const SimulateOptions& options, GraphCache* graphs) {
  if (!any_root.loops.empty()) {
    const UnrolledLoops unrolled = unrollLoops(any_root);
    llvm::Expected<SimulateResult> result = simulate(unrolled.schedule.view(), machine, options);
    if (!result) return result;
    renameOperations(*result,
                     [&](std::uint32_t operation) { return unrolled.operations[operation]; });
    return result;
  }
  if (any_root.segments > 1) return simulateAllSegments(any_root, machine, options, graphs);
  return SegmentSimulator(any_root, machine, options, graphs).run(1);
}

}  // namespace torc::model
