#include "model/simulator/simulator.h"

#include <algorithm>
#include <optional>

#include "ir/make_error.h"
#include "ir/peer_loops/peer_loops.h"
#include "ir/segments/segments.h"
#include "model/simulator/routes.h"
#include "model/simulator/simulation.h"
#include "model/simulator/simulation_graph.h"
#include "schedules/loops/unroll.h"
#include "schedules/root.h"

namespace torc::model {
namespace {

// Operations on all nodes that are simulated of a schedule in segments; what more segments take
// follows from these.
constexpr double kMostSegmentTasks = 5e4;
// As many where a pipeline has to be filled first: of classes of nodes, of ranks that may differ,
// and of as few segments as fill it at all.
constexpr double kMostFillingTasks = 2.5e5;
constexpr double kMostFillingTasksOfRanks = 1.5e6;
constexpr double kMostTasks = 1e7;
// What it takes to see that a node does not execute an operation, compared with simulating it.
constexpr double kSeenOperation = 0.05;

/// Simulates the first `segments` segments of a schedule, which divide `options.bytes` among them.
/// `segments` is 1 where every rank is simulated, and where loops over peers may be unrolled.
llvm::Expected<SimulateResult> simulateAtOnce(const ScheduleView& any_root, const Machine& machine,
                                              const SimulateOptions& options,
                                              std::uint32_t segments) {
  const ScheduleView counted = asCounted(any_root);
  if (counted.topology != any_root.topology) {
    // No message goes over the links that cut its rings.
    Machine uncut = machine;
    std::erase_if(uncut.dead_links, [&](const DeadLink& link) {
      return std::ranges::find(any_root.topology.deadLinks(), link) !=
             any_root.topology.deadLinks().end();
    });
    return simulateAtOnce(counted, uncut, options, segments);
  }
  const RootedSchedule rooted(any_root, 0);
  // With few ports messages wait for one another, one by one.
  std::optional<ir::UnrolledSchedule> unrolled;
  if (!options.per_rank && ir::hasPeerLoops(rooted.view())) {
    const ir::NodeClasses classes(rooted.view(), false);
    if (machine.ports > 0 || ir::differAlongPeerLoops(rooted.view(), classes)) {
      const double tasks = ir::unrolledOperations(rooted.view()) * classes.count();
      if (llvm::Error error = checkTaskCount(rooted.view(), classes.count(), tasks)) {
        return error;
      }
      unrolled = ir::unrollPeerLoops(rooted.view());
    }
  }
  const ScheduleView schedule = unrolled ? unrolled->schedule.view() : rooted.view();
  llvm::Expected<SimulationGraph> graph =
      options.per_rank
          ? graphOfRanks(schedule, machine,
                         static_cast<std::uint64_t>(options.bytes / options.element_bytes),
                         options.element_bytes)
          : graphOfClasses(schedule, machine, options.bytes, segments);
  if (!graph) return graph.takeError();
  Simulation simulation(*graph, machine, options);
  if (const std::uint64_t pending = simulation.run(); pending > 0) {
    return makeError("deadlock: " + std::to_string(pending) +
                     " operations never complete, the first is " +
                     graph->taskName(simulation.firstPending()));
  }
  SimulateResult result = simulation.result();
  for (SimulatedEvent& event : result.events) {
    const Operation& operation = schedule.operations[event.operation % schedule.operations.size()];
    event.kind = operation.kind;
    event.stream = operation.stream;
    if (unrolled) event.operation = unrolled->source[event.operation];
  }
  for (CriticalStep& step : result.critical_path) {
    if (unrolled) step.operation = unrolled->source[step.operation];
  }
  return result;
}

/// Simulates the first `segments` segments of a schedule, as long as they are.
llvm::Expected<SimulateResult> simulateSegments(const ScheduleView& schedule,
                                                const Machine& machine,
                                                const SimulateOptions& options,
                                                std::uint32_t segments) {
  SimulateOptions some = options;
  some.bytes *= static_cast<double>(segments) / schedule.segments;
  const bool as_one = options.per_rank || ir::hasPeerLoops(schedule);
  llvm::Expected<SimulateResult> result =
      as_one ? simulate(ir::unrollSegments(schedule, segments).view(), machine, some)
             : simulateAtOnce(schedule, machine, some, segments);
  if (!result) return result;
  const auto count = static_cast<std::uint32_t>(schedule.operations.size());
  for (CriticalStep& step : result->critical_path)
    step.operation %= count;
  for (SimulatedEvent& event : result->events) {
    event.segment = event.operation / count;
    event.operation %= count;
  }
  return result;
}

/// `at_end` of `end` segments continued to `segments` as it has grown since `at_begin` of `begin`.
template <typename Number>
Number continued(Number at_begin, Number at_end, std::uint32_t begin, std::uint32_t end,
                 std::uint32_t segments) {
  const double grown = static_cast<double>(at_end) - static_cast<double>(at_begin);
  return static_cast<Number>(static_cast<double>(at_end) +
                             grown / (end - begin) * (segments - end));
}

/// The time of a pipeline grows by the same with every segment. So where there are many, some are
/// simulated, half of them too, and the rest takes as long for each as the other half did.
llvm::Expected<SimulateResult> simulateAllSegments(const ScheduleView& schedule,
                                                   const Machine& machine,
                                                   const SimulateOptions& options) {
  if (schedule.operations.empty()) return simulateSegments(schedule, machine, options, 1);
  const ir::NodeClasses classes(schedule,
                                options.per_rank || !looksAlike(schedule.topology, schedule.links));
  const double tasks = executions(schedule, classes);
  const double work =
      tasks +
      kSeenOperation * (static_cast<double>(schedule.operations.size()) * classes.count() - tasks);
  std::uint32_t end = ir::segmentsToSimulate(schedule, kMostSegmentTasks / work);
  // What is sent in one phase shares links with what is sent in another by segments ahead: before
  // there are as many as messages follow one another a segment takes less than later ones.
  if (schedule.operations.back().phase > 0) {
    llvm::Expected<SimulateResult> one = simulateSegments(schedule, machine, options, 1);
    if (!one) return one;
    const double most = options.per_rank ? kMostFillingTasksOfRanks : kMostFillingTasks;
    const double filled = std::min(2.0 * static_cast<double>(one->steps), most / work);
    const double least = std::min(2.0 * (schedule.window + 1), kMostTasks / tasks);
    end = ir::segmentsToSimulate(schedule, std::max(filled, least));
  }
  llvm::Expected<SimulateResult> result = simulateSegments(schedule, machine, options, end);
  if (!result || end == schedule.segments) return result;
  const std::uint32_t begin = end / 2;
  llvm::Expected<SimulateResult> half = simulateSegments(schedule, machine, options, begin);
  if (!half) return half;
  const auto grow = [&](auto& value, auto at_begin) {
    value = continued(at_begin, value, begin, end, schedule.segments);
  };
  grow(result->makespan_s, half->makespan_s);
  grow(result->messages, half->messages);
  grow(result->steps, half->steps);
  for (LinkUse& link : result->links) {
    // A link may be none of the first segments', and a pipeline that is not full yet may grow by
    // less than what its links carry.
    LinkUse before;
    for (const LinkUse& used : half->links) {
      if (used.link_class == link.link_class) before = used;
    }
    grow(link.bytes, before.bytes);
    grow(link.busy_s, before.busy_s);
    result->makespan_s = std::max(result->makespan_s, link.busy_s);
  }
  for (LinkUse& link : result->links)
    link.idle_s = result->makespan_s - link.busy_s;
  return result;
}

}  // namespace

std::string_view name(WaitedFor what) {
  static constexpr std::string_view kNames[] = {"nothing", "dependence", "peer",
                                                "core",    "interface",  "port"};
  return kNames[static_cast<int>(what)];
}

llvm::Expected<SimulateResult> simulate(const ScheduleView& any_root, const Machine& machine,
                                        const SimulateOptions& options) {
  if (!any_root.loops.empty()) {
    const UnrolledLoops unrolled = unrollLoops(any_root);
    llvm::Expected<SimulateResult> result = simulate(unrolled.schedule.view(), machine, options);
    if (!result) return result;
    for (CriticalStep& step : result->critical_path)
      step.operation = unrolled.operations[step.operation];
    for (SimulatedEvent& event : result->events)
      event.operation = unrolled.operations[event.operation];
    return result;
  }
  if (any_root.segments > 1) return simulateAllSegments(any_root, machine, options);
  return simulateAtOnce(any_root, machine, options, 1);
}

}  // namespace torc::model
