// Writes simulated events as a trace: rank by rank, each with a round around its operations.
#include <algorithm>
#include <cmath>
#include <map>

#include "compiler/commands/simulate.h"
#include "support/message.h"
#include "trace/trace_file.h"

namespace torc::compiler {
namespace {

std::int64_t nanoseconds(double seconds) {
  return std::llround(seconds * 1e9);
}

TraceKind kindOf(OperationKind kind) {
  if (sends(kind)) return TraceKind::kSend;
  if (receives(kind)) return TraceKind::kReceive;
  return kind == OperationKind::kCopy ? TraceKind::kCopy : TraceKind::kReduce;
}

// For a file of some 100 MB.
constexpr std::size_t kMostEvents = 500'000;

}  // namespace

Status writeTrace(const std::string& path, const ScheduleView& schedule,
                  const model::SimulateResult& result, std::uint64_t bytes) {
  if (result.events.size() > kMostEvents) {
    return {StatusCode::kOverflow, message("the trace would have ", result.events.size(),
                                           " events; the limit is ", kMostEvents)};
  }
  StatusOr<std::unique_ptr<TraceFile>> file = TraceFile::create(path, 0);
  if (!file.ok()) return file.status();
  std::map<std::int32_t, RankTrace> ranks;
  for (std::size_t i = 0; i < result.events.size(); ++i) {
    const model::SimulatedEvent& simulated = result.events[i];
    TraceEvent event;
    event.kind = kindOf(simulated.kind);
    event.begin = nanoseconds(simulated.begin_s);
    event.end = nanoseconds(simulated.end_s);
    event.bytes = static_cast<std::uint64_t>(std::llround(simulated.bytes));
    event.operation = simulated.operation;
    event.stream_row = traceRow(schedule, simulated.stream);
    const Operation& operation = schedule.operations[simulated.operation];
    if (simulated.partner != kNone && !operation.hasPeerLoop()) {
      const Topology& topology = schedule.topology;
      event.peer = topology.neighbour(topology.coordinatesOf(simulated.rank),
                                      schedule.shifts[operation.peer]);
      // If a node represents several, the event's partner may belong to a node that is not shown.
      if (event.peer == result.events[simulated.partner].rank) {
        event.flow = 1 + (sends(simulated.kind) ? i : simulated.partner);
      }
    }
    ranks[simulated.rank].events.push_back(event);
  }
  for (auto& [number, rank] : ranks) {
    rank.rank = number;
    rank.coordinates = traceCoordinates(schedule.topology, schedule.topology.coordinatesOf(number));
    rank.texts = {std::string(rowOf(schedule.collective).name), std::string(schedule.name)};
    TraceEvent round;
    round.kind = TraceKind::kCollective;
    round.name = 0;
    round.detail = 1;
    round.flow = 1;
    round.bytes = bytes;
    for (const TraceEvent& event : rank.events)
      round.end = std::max(round.end, event.end);
    rank.events.push_back(round);
    if (const model::ContinuedSegments& continued = result.continued; continued.count > 0) {
      TraceEvent& event = rank.events.emplace_back();
      event.begin = nanoseconds(continued.begin_s);
      event.end = nanoseconds(continued.end_s);
      event.name = static_cast<std::uint32_t>(rank.texts.size());
      event.detail = event.name + 1;
      rank.texts.push_back(model::text(continued));
      rank.texts.emplace_back("continued");
    }
    (*file)->add(rank);
  }
  return (*file)->finish();
}

}  // namespace torc::compiler
