// Predicted runs of a schedule: the simulator's events as columns, in ticks of the page's clock.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "compiler/tool.h"
#include "compiler/view/columns_data.h"
#include "compiler/view/page_data.h"
#include "ir/node_classes.h"
#include "ir/peer_loops/peer_loops.h"
#include "model/bounds/bounds.h"
#include "model/simulator/simulation_graph.h"
#include "model/simulator/simulator.h"
#include "schedules/root.h"

namespace torc::compiler {
namespace {

using Json = nlohmann::ordered_json;

// Limit of events for all runs of a page.
constexpr std::size_t kMostEvents = 400'000;
// Limit of nodes that a page draws one by one, with the class of each.
constexpr std::uint64_t kMostDrawnNodes = 4096;
// Approximate ticks of a run, for as many digits as `torc simulate` prints.
constexpr double kTicks = 1e7;

/// Approximate number of events in a simulation of `schedule`.
double eventsOf(const ScheduleView& schedule, const model::Machine& machine) {
  const RootedSchedule rooted(schedule, 0);
  const ir::NodeClasses classes(rooted.view(), false);
  const bool one_by_one = ir::hasPeerLoops(schedule) &&
                          (machine.ports > 0 || ir::differAlongPeerLoops(rooted.view(), classes));
  return one_by_one ? ir::unrolledOperations(schedule) * classes.count()
                    : model::executions(rooted.view(), classes);
}

/// For every site, the index in `ranks` of its class's representative; -1 for a dead one. Null if
/// `ranks` are not the representatives.
Json classesData(const ScheduleView& schedule, const std::map<std::int32_t, std::size_t>& ranks) {
  const Topology& topology = schedule.topology;
  if (topology.sites() > kMostDrawnNodes) return {};
  const RootedSchedule rooted(schedule, 0);
  const ir::NodeClasses classes(rooted.view(), false);
  Json data = Json::array();
  for (std::uint64_t site = 0; site < topology.sites(); ++site) {
    const Coordinates at = topology.coordinatesOfSite(static_cast<std::int32_t>(site));
    if (topology.isDead(at)) {
      data.push_back(-1);
      continue;
    }
    auto found = ranks.find(topology.rankOf(at));
    if (found == ranks.end())
      found = ranks.find(topology.rankOf(classes.coordinatesOf(classes.classOf(at))));
    if (found == ranks.end()) return {};
    data.push_back(found->second);
  }
  return data;
}

/// The events of the critical path, and the start and end of each one's critical interval.
Json criticalData(const model::SimulateResult& result, double tick) {
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::int32_t>, std::size_t> event_of;
  for (std::size_t i = 0; i < result.events.size(); ++i) {
    const model::SimulatedEvent& event = result.events[i];
    event_of[{event.operation, event.segment, event.rank}] = i;
  }
  Json data = Json::array();
  for (const model::CriticalStep& step : result.critical_path) {
    const auto event = event_of.find({step.operation, step.segment, step.rank});
    if (event == event_of.end()) continue;
    data.push_back(
        {event->second, std::llround(step.start_s / tick), std::llround(step.end_s / tick)});
  }
  return data;
}

/// Sorts events by operation, segment and rank, so that equal ones are adjacent.
void sortEvents(std::vector<model::SimulatedEvent>& events) {
  std::vector<std::uint32_t> order(events.size()), place(events.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t i) {
    return std::tuple(events[i].operation, events[i].segment, events[i].rank);
  });
  for (std::uint32_t i = 0; i < order.size(); ++i)
    place[order[i]] = i;
  std::vector<model::SimulatedEvent> sorted;
  for (const std::uint32_t i : order) {
    model::SimulatedEvent& event = sorted.emplace_back(events[i]);
    if (event.partner != kNone) event.partner = place[event.partner];
    if (event.cause != kNone) event.cause = place[event.cause];
  }
  events = std::move(sorted);
}

/// Compact columns of differences (docs/schemas/view.schema.json).
Json eventsData(const ScheduleView& schedule, const model::SimulateResult& result, double tick) {
  const auto ticks = [&](double seconds) { return std::llround(seconds / tick); };
  std::map<std::int32_t, std::size_t> ranks;
  for (const model::SimulatedEvent& event : result.events)
    ranks.emplace(event.rank, 0);
  Json numbers = Json::array();
  for (auto& [rank, number] : ranks) {
    number = numbers.size();
    numbers.push_back(rank);
  }
  // The event of a rank that ends at a time.
  std::map<std::pair<std::int32_t, std::int64_t>, std::size_t> ended;
  for (std::size_t i = 0; i < result.events.size(); ++i)
    ended.emplace(std::pair(result.events[i].rank, ticks(result.events[i].end_s)), i);
  ColumnsData columns({"operation", "rank", "begin", "begun_by", "end", "start", "bytes", "partner",
                       "wire_begin", "wire_end", "waited_for", "cause"});
  Json segment = Json::array();
  std::int64_t end_above = 0;
  for (std::size_t i = 0; i < result.events.size(); ++i) {
    const model::SimulatedEvent& event = result.events[i];
    const auto stepsTo = [&](std::size_t other) {
      return other == kNone ? 0 : static_cast<std::int64_t>(other) - static_cast<std::int64_t>(i);
    };
    const auto endOf = [&](std::uint32_t other) { return ticks(result.events[other].end_s); };
    const std::int64_t begun = ticks(event.begin_s), started = ticks(event.start_s),
                       over = ticks(event.end_s);
    const auto before = ended.find({event.rank, begun});
    const bool is_begun_by = before != ended.end() && before->second != i;
    const bool is_of_partner = receives(event.kind) && event.partner != kNone;
    const std::int64_t end = over - (is_of_partner ? endOf(event.partner) : end_above);
    if (!is_of_partner) end_above = over;
    const bool sent = sends(event.kind);
    columns.add({event.operation, ranks[event.rank], is_begun_by ? 0 : begun,
                 is_begun_by ? stepsTo(before->second) : 0, end,
                 started - (event.cause == kNone ? begun : endOf(event.cause)),
                 std::llround(event.bytes), stepsTo(event.partner),
                 sent ? ticks(event.wire_begin_s) - started : 0,
                 sent ? over - ticks(event.wire_end_s) : 0, static_cast<int>(event.waited_for),
                 stepsTo(event.cause)});
    segment.push_back(event.segment);
  }
  Json data = {{"tick_s", tick}, {"ranks", numbers}};
  columns.moveTo(data);
  data["critical"] = criticalData(result, tick);
  data["class_of_site"] = classesData(schedule, ranks);
  if (schedule.segments > 1) data["segment"] = segment;
  if (const model::ContinuedSegments& continued = result.continued; continued.count > 0) {
    data["continued"] = {{"first", continued.first},
                         {"count", continued.count},
                         {"begin", ticks(continued.begin_s)},
                         {"end", ticks(continued.end_s)}};
  }
  return data;
}

}  // namespace

Json runsData(const ViewedSchedule& viewed, const model::Machine& machine,
              llvm::ArrayRef<std::uint64_t> sizes) {
  const ScheduleView schedule = viewed.view();
  const Topology& topology = schedule.topology;
  Json data = {{"machine", machine.name}};
  Json& bandwidth = data["link_bandwidth"] = Json::array();
  for (int axis = 0; axis < topology.dimensions(); ++axis)
    bandwidth.push_back(machine.linkBandwidth(static_cast<std::uint32_t>(axis)));
  Json& runs = data["runs"] = Json::array();
  std::size_t all_events = 0;
  const bool may_have_events =
      eventsOf(schedule, machine) * static_cast<double>(sizes.size()) <= kMostEvents;
  for (const std::uint64_t size : sizes) {
    const model::SimulateOptions options{
        .bytes = static_cast<double>(size), .critical_path = true, .events = may_have_events};
    llvm::Expected<model::SimulateResult> result = model::simulate(schedule, machine, options);
    if (!result) {
      data["fault"] = llvm::toString(result.takeError());
      break;
    }
    const model::Bound bound =
        model::lowerBound(machine, {rowOf(schedule.collective), options.bytes});
    Json run = {{"bytes", size},
                {"makespan_s", result->makespan_s},
                {"bound_s", bound.bound_s},
                {"bandwidth_bound_s", bound.bandwidth_s},
                {"compute_bound_s", bound.compute_s},
                {"latency_bound_s", bound.latency_s},
                {"nodes", result->nodes},
                {"operations", result->operations},
                {"messages", result->messages},
                {"steps", result->steps}};
    Json& links = run["links"] = Json::array();
    for (const model::LinkUse& use : result->links) {
      links.push_back(
          {{"link", linkName(topology.axes[use.link_class.axis], use.link_class.sign > 0)},
           {"bytes", use.bytes},
           {"busy_s", use.busy_s},
           {"idle_s", use.idle_s}});
    }
    all_events += result->events.size();
    if (!result->events.empty() && all_events <= kMostEvents && result->makespan_s > 0) {
      const double tick = std::pow(10, std::floor(std::log10(result->makespan_s / kTicks)));
      sortEvents(result->events);
      run["events"] = eventsData(schedule, *result, tick);
    }
    runs.push_back(std::move(run));
  }
  return data;
}

}  // namespace torc::compiler
