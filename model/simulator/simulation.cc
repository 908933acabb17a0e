#include "model/simulator/simulation.h"

#include <algorithm>

namespace torc::model {
namespace {

/// Times closer than this are the same instant: what they differ by is rounding.
constexpr double kRounding = 1e-12;

}  // namespace

Simulation::Simulation(SimulationGraph& graph, const Machine& machine,
                       const SimulateOptions& options)
    : graph_(graph),
      machine_(machine),
      options_(options),
      waiting_(graph.tasks.size()),
      states_(graph.tasks.size()),
      cores_(graph.cores + (machine.message_gap > 0 ? graph.machine_nodes : 0)),
      sending_(machine.ports > 0 ? graph.machine_nodes : 0),
      receiving_(sending_.size()) {}

std::uint64_t Simulation::run() {
  for (std::uint32_t task = 0; task < graph_.tasks.size(); ++task) {
    waiting_[task].dependences = graph_.dependences[task];
    if (graph_.dependences[task] == 0) ready_.push_back(task);
  }
  while (true) {
    for (std::size_t i = 0; i < ready_.size(); ++i)
      becomeReady(ready_[i]);
    ready_.clear();
    const double next = nextEvent();
    if (next > instant_end_) {
      if (settle()) continue;
      if (next == FairShare::kInfinity) break;
      ++instant_;
      instant_end_ = next * (1 + kRounding);
    }
    now_ = next;
    handleEvent();
  }
  return graph_.tasks.size() - complete_;
}

double Simulation::nextEvent() {
  const double flow = graph_.network.nextEnd();
  return timers_.empty() ? flow : std::min(flow, timers_.top().time);
}

void Simulation::handleEvent() {
  if (graph_.network.nextEnd() == now_) {
    ended_.clear();
    graph_.network.end(ended_);
    for (std::uint32_t task : ended_) {
      if (graph_.tasks[task].kind == TaskKind::kSend) {
        transferred(task);
      } else {
        leaveCore(task);
      }
    }
    return;
  }
  const Timer event = timers_.top();
  timers_.pop();
  switch (event.event) {
    case Event::kStartedUp:
      startTransfer(event.task);
      // Of those that start at once rates are found once.
      while (!timers_.empty() && timers_.top().time == event.time &&
             timers_.top().event == Event::kStartedUp) {
        const std::uint32_t also = timers_.top().task;
        timers_.pop();
        startTransfer(also);
      }
      break;
    case Event::kServed:
      moveMemory(event.task);
      break;
  }
}

/// At the end of an instant: gives cores and ports to those that want them. Returns whether there
/// were any, so that more may happen at this instant.
bool Simulation::settle() {
  if (freed_cores_.empty() && port_requests_.empty()) return false;
  std::vector<std::uint32_t> cores;
  cores.swap(freed_cores_);
  for (std::uint32_t index : cores) {
    Core& core = cores_[index];
    if (core.busy || core.queue.empty()) continue;
    const Request request = *core.queue.begin();
    core.queue.erase(core.queue.begin());
    if (request.instant != instant_) {
      State& state = states_[request.task];
      (state.at_interface ? state.interface_before : state.core_before) = core.last;
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
  std::uint32_t task = 0;
  while (states_[task].is_complete)
    ++task;
  return task;
}

SimulateResult Simulation::result() const {
  SimulateResult result;
  if (last_ != kNone) result.makespan_s = states_[last_].end;
  result.nodes = static_cast<std::uint64_t>(
      std::count_if(graph_.ranks.begin(), graph_.ranks.end(), [](int rank) { return rank >= 0; }));
  std::vector<std::uint64_t> sent(graph_.nodes(), 0);
  for (std::uint32_t i = 0; i < graph_.tasks.size(); ++i) {
    const Task& task = graph_.tasks[i];
    if (task.kind == TaskKind::kSend) {
      sent[task.node] += task.messages;
      const bool is_awaited = graph_.first_successor[i + 1] > graph_.first_successor[i];
      result.buffers |= task.bytes > 0 && is_awaited && isBuffered(task);
    }
    if (task.kind != TaskKind::kPass) ++result.operations;
    result.steps = std::max<std::uint64_t>(result.steps, waiting_[i].depth);
  }
  result.messages = *std::max_element(sent.begin(), sent.end());
  std::map<LinkClass, LinkUse> busiest;
  for (const Link& link : graph_.links) {
    const double bytes = graph_.network.carried(link.resource);
    const auto [entry, fresh] = busiest.try_emplace(link.link_class);
    if (!fresh && bytes <= entry->second.bytes) continue;
    const double busy = graph_.network.busy(link.resource);
    entry->second = {link.link_class, bytes, busy, std::max(0.0, result.makespan_s - busy)};
  }
  for (const auto& [link_class, use] : busiest)
    result.links.push_back(use);
  if (options_.critical_path) result.critical_path = criticalPath();
  if (options_.events) result.events = events();
  return result;
}

/// Kinds and streams are the schedule's, and not known here.
std::vector<SimulatedEvent> Simulation::events() const {
  std::vector<SimulatedEvent> events;
  std::vector<std::uint32_t> event_of(graph_.tasks.size(), kNone);
  for (std::uint32_t i = 0; i < graph_.tasks.size(); ++i) {
    const Task& task = graph_.tasks[i];
    if (task.kind == TaskKind::kPass || graph_.ranks[task.node] < 0) continue;
    const State& state = states_[i];
    SimulatedEvent event;
    event.operation = task.operation;
    event.rank = graph_.ranks[task.node];
    event.begin_s = task.kind == TaskKind::kLocal ? state.served : state.ready;
    event.end_s = state.end;
    event.bytes = task.bytes * task.messages;
    event.wire_begin_s = state.departure;
    event.wire_end_s = state.arrival;
    event_of[i] = static_cast<std::uint32_t>(events.size());
    events.push_back(event);
  }
  for (std::uint32_t i = 0; i < graph_.tasks.size(); ++i) {
    if (event_of[i] == kNone) continue;
    SimulatedEvent& event = events[event_of[i]];
    const std::uint32_t partner = graph_.tasks[i].partner;
    if (partner != kNone) event.partner = event_of[partner];
    CriticalStep step;
    Point cause = before({i, Stage::kComplete}, step);
    event.start_s = step.start_s;
    event.waited_for = step.waited_for;
    while (cause.task != kNone && graph_.tasks[cause.task].kind == TaskKind::kPass)
      cause = before(cause, step);
    if (cause.task != kNone) event.cause = event_of[cause.task];
    if (event.cause == kNone) event.waited_for = WaitedFor::kNothing;
  }
  return events;
}

void Simulation::schedule(double delay, Event event, std::uint32_t task) {
  timers_.push({now_ + delay, event, task});
}

void Simulation::becomeReady(std::uint32_t index) {
  const Task& task = graph_.tasks[index];
  State& state = states_[index];
  state.is_ready = true;
  state.ready = now_;
  switch (task.kind) {
    case TaskKind::kPass:
      finish(index);
      break;
    case TaskKind::kLocal:
      occupyCore(index);
      break;
    case TaskKind::kSend:
      if (isBuffered(task) || states_[task.partner].is_ready) startMessage(index);
      break;
    case TaskKind::kReceive:
      if (state.has_arrived) {
        occupyCore(index);
      } else if (!isBuffered(graph_.tasks[task.partner])) {
        if (states_[task.partner].is_ready) startMessage(task.partner);
      } else if (!isEager(graph_.tasks[task.partner]) && states_[task.partner].is_complete) {
        startUp(task.partner);
      }
      break;
  }
}

void Simulation::finish(std::uint32_t index) {
  State& state = states_[index];
  state.end = now_;
  state.is_complete = true;
  ++complete_;
  last_ = index;
  for (std::uint32_t k = graph_.first_successor[index]; k < graph_.first_successor[index + 1];
       ++k) {
    const std::uint32_t next = graph_.successors[k];
    Waiting& waiting = waiting_[next];
    waiting.depth = std::max(waiting.depth, waiting_[index].depth);
    if (--waiting.dependences > 0) continue;
    states_[next].cause = index;
    ready_.push_back(next);
  }
}

void Simulation::startMessage(std::uint32_t send) {
  const Task& task = graph_.tasks[send];
  State& state = states_[send];
  std::uint32_t& depth = waiting_[send].depth;
  if (!isBuffered(task)) depth = 1 + std::max(depth, waiting_[task.partner].depth);
  state.served = now_;
  if (busySeconds(send) > 0) {
    wantCore(send);
  } else {
    leaveRank(send);
  }
}

/// What the core of the sender has done its part of goes through the node's interface.
void Simulation::leaveRank(std::uint32_t send) {
  State& state = states_[send];
  state.left = state.passing = now_;
  if (passesInterface(graph_.tasks[send])) {
    state.at_interface = true;
    wantCore(send);
  } else {
    postSend(send);
  }
}

/// Data in a buffer may wait there.
void Simulation::postSend(std::uint32_t send) {
  const Task& task = graph_.tasks[send];
  states_[send].posted = now_;
  if (isBuffered(task)) finish(send);
  if (!isBuffered(task) || isEager(task) || states_[task.partner].is_ready) startUp(send);
}

void Simulation::startUp(std::uint32_t send) {
  const double wait = machine_.alpha + graph_.routes[graph_.tasks[send].route].latency_s;
  if (wait > 0) {
    schedule(wait, Event::kStartedUp, send);
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
  const Task& task = graph_.tasks[send];
  const MessageRoute& route = graph_.routes[task.route];
  const double envelope = route.first == MessageRoute::kInside ? 0 : machine_.envelope;
  states_[send].departure = now_;
  graph_.network.start(route.group, send, task.bytes + envelope, now_);
}

/// Takes a port at both ends, or none: then the request waits where one is lacking. Messages that
/// leave or arrive on the same link use one port.
bool Simulation::takePorts(const Request& request) {
  const MessageRoute& route = graph_.routes[graph_.tasks[request.task].route];
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
  const MessageRoute& route = graph_.routes[graph_.tasks[send].route];
  if (sending_.empty() || route.first == MessageRoute::kInside) return;
  for (auto [ports, link] : {std::pair(&sending_[route.from], route.first),
                             std::pair(&receiving_[route.to], route.last)}) {
    const auto used = ports->in_use.find(link);
    if (--used->second > 0) continue;
    ports->in_use.erase(used);
    for (const Request& waiting : ports->queue) {
      states_[waiting.task].port_before = send;
      port_requests_.push_back(waiting);
    }
    ports->queue.clear();
  }
}

void Simulation::transferred(std::uint32_t send) {
  releasePorts(send);
  arrive(send);
}

void Simulation::arrive(std::uint32_t send) {
  const std::uint32_t receive = graph_.tasks[send].partner;
  State& state = states_[receive];
  const bool buffered = isBuffered(graph_.tasks[send]);
  if (!buffered) finish(send);
  states_[send].arrival = now_;
  std::uint32_t& depth = waiting_[receive].depth;
  depth = std::max(depth + (buffered && !isEager(graph_.tasks[send]) ? 1 : 0),
                   waiting_[send].depth + (buffered ? 1 : 0));
  state.has_arrived = true;
  if (state.is_ready) occupyCore(receive);
}

std::uint32_t Simulation::coreOf(std::uint32_t index) const {
  const Task& task = graph_.tasks[index];
  return states_[index].at_interface ? graph_.cores + graph_.routes[task.route].from : task.core;
}

/// How long the core, or the interface, is busy: the overhead of messages, the copy to the
/// interface, and the arithmetic, but where memory may take longer than that.
double Simulation::busySeconds(std::uint32_t index) const {
  const Task& task = graph_.tasks[index];
  if (states_[index].at_interface) return machine_.message_gap * task.messages * graph_.copies;
  const double overhead = task.kind == TaskKind::kLocal ? 0 : machine_.overhead * task.messages;
  return overhead + (task.memory == kNone ? task.work_s : 0);
}

void Simulation::wantCore(std::uint32_t index) {
  Core& core = cores_[coreOf(index)];
  core.queue.insert(request(index));
  if (!core.busy) freed_cores_.push_back(coreOf(index));
}

void Simulation::occupyCore(std::uint32_t index) {
  if (busySeconds(index) == 0 && graph_.tasks[index].memory == kNone) {
    states_[index].served = now_;
    finish(index);
    return;
  }
  wantCore(index);
}

/// Where memory may take longer than the arithmetic, which limits the flow through it, both follow
/// in moveMemory.
void Simulation::serve(std::uint32_t index) {
  State& state = states_[index];
  (state.at_interface ? state.passing : state.served) = now_;
  if (const double busy = busySeconds(index); busy > 0) {
    schedule(busy, Event::kServed, index);
  } else {
    moveMemory(index);
  }
}

void Simulation::moveMemory(std::uint32_t index) {
  const Task& task = graph_.tasks[index];
  if (task.memory != kNone) {
    graph_.network.start(task.memory, index, task.bytes, now_);
  } else {
    leaveCore(index);
  }
}

void Simulation::leaveCore(std::uint32_t index) {
  const std::uint32_t number = coreOf(index);
  cores_[number].busy = false;
  freed_cores_.push_back(number);
  if (graph_.tasks[index].kind != TaskKind::kSend) {
    finish(index);
  } else if (states_[index].at_interface) {
    postSend(index);
  } else {
    leaveRank(index);
  }
}

}  // namespace torc::model
