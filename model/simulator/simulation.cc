#include "model/simulator/simulation.h"

#include <algorithm>
#include <functional>

#include <llvm/ADT/STLExtras.h>

namespace torc::model {
namespace {

/// Times closer than this are equal up to rounding.
constexpr double kRounding = 1e-12;
/// Segments whose durations differ by less than this share are equal.
constexpr double kEven = 1e-9;
/// Segments after which, if messages alternate on links, the same message is next.
constexpr std::uint32_t kTurn = 2;

}  // namespace

Simulation::Simulation(const SimulationGraph& graph, const Machine& machine,
                       const SimulateOptions& options)
    : graph_(graph),
      network_(graph.network),
      machine_(machine),
      options_(options),
      inverse_(~std::uint64_t{0} / std::max<std::size_t>(graph.tasks.size(), 1)),
      states_(graph.taskCount()),
      history_(options.critical_path || options.events ? states_.size() : 0),
      segments_(graph.segments, {.left = static_cast<std::uint32_t>(graph.tasks.size())}),
      cores_(graph.cores + (machine.message_gap > 0 ? graph.machine_nodes : 0)),
      sending_(machine.ports > 0 ? graph.machine_nodes : 0),
      receiving_(sending_.size()) {}

std::uint64_t Simulation::run() {
  for (std::uint32_t segment = 0; segment < graph_.segments; ++segment) {
    for (std::uint32_t task = 0; task < graph_.tasks.size(); ++task) {
      const std::uint32_t index = graph_.segmentStart(segment) + task;
      states_[index].dependences = graph_.dependencesOf(segment, task);
      if (states_[index].dependences == 0) ready_.push_back(index);
    }
  }
  while (true) {
    for (std::size_t i = 0; i < ready_.size(); ++i)
      becomeReady(ready_[i]);
    ready_.clear();
    const double flow = network_.nextEnd();
    const double next = timers_.empty() ? flow : std::min(flow, timers_.top().time);
    if (next > instant_end_) {
      if (settle()) continue;
      if (next == FairShare::kInfinity) break;
      ++instant_;
      instant_end_ = next * (1 + kRounding);
    }
    now_ = next;
    flow == next ? endFlows() : handleTimer();
  }
  return states_.size() - complete_;
}

void Simulation::endFlows() {
  ended_.clear();
  network_.end(ended_);
  for (std::uint32_t task : ended_)
    taskOf(task).kind == TaskKind::kSend ? arrive(task) : leaveCore(task);
}

void Simulation::handleTimer() {
  const Timer event = timers_.top();
  timers_.pop();
  if (event.event == Event::kServed) return moveMemory(event.task);
  startTransfer(event.task);
  // Flows that start at once share one computation of rates.
  while (!timers_.empty() && timers_.top().time == event.time &&
         timers_.top().event == Event::kStartedUp) {
    const std::uint32_t also = timers_.top().task;
    timers_.pop();
    startTransfer(also);
  }
}

/// At the end of an instant: assigns cores and ports to requests. Returns whether there were any,
/// so that more events may follow at this instant.
bool Simulation::settle() {
  if (freed_cores_.empty() && port_requests_.empty()) return false;
  std::vector<std::uint32_t> cores;
  cores.swap(freed_cores_);
  for (std::uint32_t index : cores) {
    Core& core = cores_[index];
    if (core.busy || core.queue.empty()) continue;
    std::pop_heap(core.queue.begin(), core.queue.end(), std::greater());
    const Request request = core.queue.back();
    core.queue.pop_back();
    if (request.instant != instant_) {
      note(request.task,
           states_[request.task].at_interface ? &History::interface_before : &History::core_before,
           core.last);
    }
    core.busy = true;
    core.last = request.task;
    serve(request.task);
  }
  std::vector<Request> requests;
  requests.swap(port_requests_);
  std::sort(requests.begin(), requests.end());
  for (const Request& request : requests) {
    if (takePorts(request)) transfer(request.task);
  }
  return true;
}

std::uint32_t Simulation::firstPending() const {
  const auto isPending = [](const State& state) { return !state.is_complete; };
  return static_cast<std::uint32_t>(llvm::find_if(states_, isPending) - states_.begin());
}

SimulateResult Simulation::result() const {
  SimulateResult result;
  result.makespan_s = end_;
  result.nodes = llvm::count_if(graph_.ranks, [](int rank) { return rank >= 0; });
  std::vector<std::uint64_t> sent(graph_.nodes(), 0);
  for (std::uint32_t i = 0; i < graph_.tasks.size(); ++i) {
    const Task& task = graph_.tasks[i];
    if (task.kind == TaskKind::kSend) {
      sent[task.node] += std::uint64_t{task.messages} * graph_.segments;
      result.buffers |= task.bytes > 0 && graph_.isAwaited(i, i) && isBuffered(i);
    }
    if (task.kind != TaskKind::kPass) result.operations += graph_.segments;
  }
  for (const State& state : states_)
    result.steps = std::max<std::uint64_t>(result.steps, state.depth);
  result.messages = *std::max_element(sent.begin(), sent.end());
  std::map<LinkClass, LinkUse> busiest;
  for (const Link& link : graph_.links) {
    const double bytes = network_.carried(link.resource);
    const auto [entry, fresh] = busiest.try_emplace(link.link_class);
    if (!fresh && bytes <= entry->second.bytes) continue;
    const double busy = network_.busy(link.resource);
    entry->second = {link.link_class, bytes, busy, std::max(0.0, result.makespan_s - busy)};
  }
  for (const auto& [link_class, use] : busiest)
    result.links.push_back(use);
  if (options_.critical_path) result.critical_path = criticalPath();
  if (options_.events) result.events = events();
  return result;
}

bool Simulation::continueTo(std::uint32_t segments, const Fewer& fewer,
                            SimulateResult& result) const {
  if (segments_.size() <= 2 * kTurn) return false;
  const Segment &last = segments_.back(), &before = *(segments_.rbegin() + kTurn);
  const double seconds = last.end - before.end;  // of a turn
  const std::uint32_t depth = last.depth - before.depth;
  const auto isTurn = [&](double taken) { return std::abs(taken - seconds) <= kEven * seconds; };
  if (last.depth < before.depth) return false;
  for (std::size_t i = kTurn; i < segments_.size(); ++i) {
    const Segment &one = segments_[i], &other = segments_[i - kTurn];
    if (one.depth - other.depth != depth || !isTurn(one.end - other.end)) return false;
  }
  // Early segments and buffered messages share links with the ends of the first segments: half of
  // the segments must grow by the same turns.
  if (!isTurn((end_ - fewer.makespan_s) / (graph_.segments - fewer.segments) * kTurn)) return false;
  const double scale = static_cast<double>(segments) / graph_.segments;
  const double turns = (static_cast<double>(segments) - graph_.segments) / kTurn;
  result.makespan_s += turns * seconds;
  result.steps += static_cast<std::uint64_t>(turns * depth);
  result.messages = result.messages / graph_.segments * segments;
  for (LinkUse& link : result.links) {
    link.bytes *= scale;
    link.busy_s = std::min(scale * link.busy_s, result.makespan_s);
    link.idle_s = result.makespan_s - link.busy_s;
  }
  return true;
}

/// Kinds and streams belong to the schedule, and are not known here.
std::vector<SimulatedEvent> Simulation::events() const {
  std::vector<SimulatedEvent> events;
  std::vector<std::uint32_t> event_of(states_.size(), kNone);
  for (std::uint32_t i = 0; i < states_.size(); ++i) {
    const Task& task = taskOf(i);
    if (task.kind == TaskKind::kPass || graph_.ranks[task.node] < 0) continue;
    const History& history = history_[i];
    SimulatedEvent event;
    event.operation = graph_.operationOf(i);
    event.rank = graph_.ranks[task.node];
    event.begin_s = task.kind == TaskKind::kLocal ? history.served : history.ready;
    event.end_s = history.end;
    event.bytes = bytesOf(i) * task.messages;
    event.wire_begin_s = history.departure;
    event.wire_end_s = history.arrival;
    event_of[i] = static_cast<std::uint32_t>(events.size());
    events.push_back(event);
  }
  for (std::uint32_t i = 0; i < states_.size(); ++i) {
    if (event_of[i] == kNone) continue;
    SimulatedEvent& event = events[event_of[i]];
    if (taskOf(i).partner != kNone) event.partner = event_of[partnerOf(i)];
    CriticalStep step;
    Point cause = before({i, Stage::kComplete}, step);
    event.start_s = step.start_s;
    event.waited_for = step.waited_for;
    while (cause.task != kNone && taskOf(cause.task).kind == TaskKind::kPass)
      cause = before(cause, step);
    if (cause.task != kNone) event.cause = event_of[cause.task];
    if (event.cause == kNone) event.waited_for = WaitedFor::kNothing;
  }
  return events;
}

void Simulation::becomeReady(std::uint32_t index) {
  const Task& task = taskOf(index);
  State& state = states_[index];
  state.is_ready = true;
  note(index, &History::ready);
  switch (task.kind) {
    case TaskKind::kPass:
      finish(index);
      break;
    case TaskKind::kLocal:
      occupyCore(index);
      break;
    case TaskKind::kSend:
      if (isBuffered(index) || states_[partnerOf(index)].is_ready) startMessage(index);
      break;
    case TaskKind::kReceive:
      const std::uint32_t send = partnerOf(index);
      if (state.has_arrived) {
        occupyCore(index);
      } else if (!isBuffered(send)) {
        if (states_[send].is_ready) startMessage(send);
      } else if (!isEager(send) && states_[send].is_complete) {
        startUp(send);
      }
      break;
  }
}

void Simulation::finish(std::uint32_t index) {
  State& state = states_[index];
  state.is_complete = true;
  note(index, &History::end);
  ++complete_;
  last_ = index;
  end_ = now_;
  graph_.forSuccessors(index, inSegment(index), [&](std::uint32_t next) {
    State& waiting = states_[next];
    waiting.depth = std::max(waiting.depth, state.depth);
    if (--waiting.dependences > 0) return;
    note(next, &History::cause, index);
    ready_.push_back(next);
  });
  Segment& segment = segments_[segmentOf(index)];
  segment.depth = std::max(segment.depth, state.depth);
  if (--segment.left == 0) segment.end = now_;
}

void Simulation::startMessage(std::uint32_t send) {
  std::uint32_t& depth = states_[send].depth;
  if (!isBuffered(send)) depth = 1 + std::max(depth, states_[partnerOf(send)].depth);
  note(send, &History::served);
  if (busySeconds(send) > 0) {
    wantCore(send);
  } else {
    leaveRank(send);
  }
}

/// After the sender's core, the message passes the node's interface.
void Simulation::leaveRank(std::uint32_t send) {
  note(send, &History::left);
  note(send, &History::passing);
  const MessageRoute& route = graph_.routes[taskOf(send).route];
  if (machine_.message_gap == 0 || route.first == MessageRoute::kInside) return postSend(send);
  states_[send].at_interface = true;
  wantCore(send);
}

/// Buffered data may wait there.
void Simulation::postSend(std::uint32_t send) {
  note(send, &History::posted);
  if (isBuffered(send)) finish(send);
  if (!isBuffered(send) || isEager(send) || states_[partnerOf(send)].is_ready) startUp(send);
}

void Simulation::startUp(std::uint32_t send) {
  const double wait = machine_.alpha + graph_.routes[taskOf(send).route].latency_s;
  if (wait > 0) {
    timers_.push({now_ + wait, Event::kStartedUp, send});
  } else {
    startTransfer(send);
  }
}

void Simulation::startTransfer(std::uint32_t send) {
  if (sending_.empty()) {
    transfer(send);
  } else {
    port_requests_.push_back(request(send));
  }
}

void Simulation::transfer(std::uint32_t send) {
  const Task& task = taskOf(send);
  const MessageRoute& route = graph_.routes[task.route];
  const double envelope = route.first == MessageRoute::kInside ? 0 : machine_.envelope;
  note(send, &History::departure);
  network_.start(route.group, send, bytesOf(send) + envelope, now_);
}

/// Takes a port at both ends, or none: then the request waits for the missing one. Messages that
/// leave or arrive on the same link use one port.
bool Simulation::takePorts(const Request& request) {
  const MessageRoute& route = graph_.routes[taskOf(request.task).route];
  if (route.first == MessageRoute::kInside) return true;
  Ports& from = sending_[route.from];
  Ports& to = receiving_[route.to];
  for (auto [ports, link] : {std::pair(&from, route.first), std::pair(&to, route.last)}) {
    if (ports->in_use.contains(link) || ports->in_use.size() < machine_.ports) continue;
    ports->queue.push_back(request);
    return false;
  }
  ++from.in_use[route.first];
  ++to.in_use[route.last];
  return true;
}

void Simulation::releasePorts(std::uint32_t send) {
  const MessageRoute& route = graph_.routes[taskOf(send).route];
  if (sending_.empty() || route.first == MessageRoute::kInside) return;
  for (auto [ports, link] : {std::pair(&sending_[route.from], route.first),
                             std::pair(&receiving_[route.to], route.last)}) {
    const auto used = ports->in_use.find(link);
    if (--used->second > 0) continue;
    ports->in_use.erase(used);
    for (const Request& waiting : ports->queue) {
      note(waiting.task, &History::port_before, send);
      port_requests_.push_back(waiting);
    }
    ports->queue.clear();
  }
}

void Simulation::arrive(std::uint32_t send) {
  releasePorts(send);
  const std::uint32_t receive = partnerOf(send);
  State& state = states_[receive];
  const bool buffered = isBuffered(send);
  if (!buffered) finish(send);
  note(send, &History::arrival);
  state.depth = std::max(state.depth + (buffered && !isEager(send) ? 1 : 0),
                         states_[send].depth + (buffered ? 1 : 0));
  state.has_arrived = true;
  if (state.is_ready) occupyCore(receive);
}

std::uint32_t Simulation::coreOf(std::uint32_t index) const {
  const Task& task = taskOf(index);
  return states_[index].at_interface ? graph_.cores + graph_.routes[task.route].from : task.core;
}

/// Busy time of the core, or the interface: the overhead of messages, the copy to the interface,
/// and the arithmetic, unless memory may take longer.
double Simulation::busySeconds(std::uint32_t index) const {
  const Task& task = taskOf(index);
  if (states_[index].at_interface) return machine_.message_gap * task.messages * graph_.copies;
  const double overhead = task.kind == TaskKind::kLocal ? 0 : machine_.overhead * task.messages;
  return task.memory != kNone ? overhead : overhead + task.work * bytesOf(index);
}

void Simulation::wantCore(std::uint32_t index) {
  Core& core = cores_[coreOf(index)];
  core.queue.push_back(request(index));
  std::push_heap(core.queue.begin(), core.queue.end(), std::greater());
  if (!core.busy) freed_cores_.push_back(coreOf(index));
}

void Simulation::occupyCore(std::uint32_t index) {
  if (busySeconds(index) > 0 || taskOf(index).memory != kNone) return wantCore(index);
  note(index, &History::served);
  finish(index);
}

/// If memory may take longer than the arithmetic, moveMemory handles both: the arithmetic limits
/// the flow through memory.
void Simulation::serve(std::uint32_t index) {
  note(index, states_[index].at_interface ? &History::passing : &History::served);
  if (const double busy = busySeconds(index); busy > 0) {
    timers_.push({now_ + busy, Event::kServed, index});
  } else {
    moveMemory(index);
  }
}

void Simulation::moveMemory(std::uint32_t index) {
  const Task& task = taskOf(index);
  if (task.memory != kNone) {
    network_.start(task.memory, index, bytesOf(index), now_);
  } else {
    leaveCore(index);
  }
}

void Simulation::leaveCore(std::uint32_t index) {
  const std::uint32_t number = coreOf(index);
  cores_[number].busy = false;
  freed_cores_.push_back(number);
  if (taskOf(index).kind != TaskKind::kSend) {
    finish(index);
  } else if (states_[index].at_interface) {
    postSend(index);
  } else {
    leaveRank(index);
  }
}

}  // namespace torc::model
