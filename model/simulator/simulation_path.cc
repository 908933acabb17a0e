// The critical path: backwards from the last end, always to the last cause of a wait.
#include <algorithm>

#include "model/simulator/simulation.h"

namespace torc::model {

double Simulation::timeOf(const Point& point) const {
  static constexpr double History::*kTimes[] = {&History::left, &History::posted, &History::arrival,
                                                &History::end};
  const bool is_send = taskOf(point.task).kind == TaskKind::kSend;
  const Stage stage = is_send ? point.stage : Stage::kComplete;
  return history_[point.task].*kTimes[static_cast<std::size_t>(stage)];
}

/// Describes in `step` the event at `point`, and returns the point at which it could start.
Simulation::Point Simulation::before(const Point& point, CriticalStep& step) const {
  const Task& task = taskOf(point.task);
  const History& state = history_[point.task];
  step.operation = graph_.operationOf(point.task);
  step.rank = graph_.ranks[task.node];
  step.end_s = timeOf(point);
  auto causeOf = [&](std::uint32_t index, WaitedFor what) {
    step.start_s = history_[index].ready;
    step.waited_for = history_[index].cause == kNone ? WaitedFor::kNothing : what;
    return Point{history_[index].cause, Stage::kComplete};
  };
  auto afterCore = [&](std::uint32_t index) {
    step.start_s = history_[index].served;
    step.waited_for = WaitedFor::kCore;
    return Point{history_[index].core_before, Stage::kServed};
  };
  const bool message = task.kind == TaskKind::kSend || task.kind == TaskKind::kReceive;
  if (task.kind != TaskKind::kSend && state.core_before != kNone) return afterCore(point.task);
  if (!message) return causeOf(point.task, WaitedFor::kDependence);

  const std::uint32_t send = task.kind == TaskKind::kSend ? point.task : partnerOf(point.task);
  const bool eager = isEager(send);
  if (task.kind == TaskKind::kReceive && eager && state.ready > history_[send].arrival) {
    return causeOf(point.task, WaitedFor::kDependence);
  }
  const History& sender = history_[send];
  // Buffered data are sent, for the sender, before they have a port, and before the receive is
  // ready.
  const bool buffered =
      isBuffered(send) && task.kind == TaskKind::kSend && point.stage == Stage::kComplete;
  const bool early = point.stage == Stage::kServed || point.stage == Stage::kPosted;
  if (sender.port_before != kNone && !early && !buffered) {
    const Point port{sender.port_before, Stage::kTransferred};
    step.start_s = timeOf(port);
    step.waited_for = WaitedFor::kPort;
    return port;
  }
  const std::uint32_t receive = partnerOf(send);
  const bool waits_for_receive =
      isBuffered(send) ? !eager && !buffered && !early && history_[receive].ready > sender.end
                       : history_[receive].ready > sender.ready;
  const bool waits_in_buffer = waits_for_receive && isBuffered(send);
  if (sender.interface_before != kNone && point.stage != Stage::kServed && !waits_in_buffer) {
    step.start_s = sender.passing;
    step.waited_for = WaitedFor::kInterface;
    return {sender.interface_before, Stage::kPosted};
  }
  if (sender.core_before != kNone && !waits_in_buffer) return afterCore(send);
  const std::uint32_t later = waits_for_receive ? receive : send;
  return causeOf(later, later == point.task ? WaitedFor::kDependence : WaitedFor::kPeer);
}

std::vector<CriticalStep> Simulation::criticalPath() const {
  std::vector<CriticalStep> path;
  for (Point point{last_, Stage::kComplete}; point.task != kNone;) {
    CriticalStep step;
    const bool passes = taskOf(point.task).kind == TaskKind::kPass;
    point = before(point, step);
    if (!passes) path.push_back(step);
  }
  // The first step's cause, if any, took no time: operations that its rank omits.
  if (!path.empty()) path.back().waited_for = WaitedFor::kNothing;
  std::reverse(path.begin(), path.end());
  return path;
}

}  // namespace torc::model
