#include "model/simulator.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <queue>

namespace torc {
namespace {

/// One run over a graph.
class Simulation {
 public:
  Simulation(SimulationGraph& graph, const Machine& machine, const SimulateOptions& options)
      : graph_(graph),
        machine_(machine),
        options_(options),
        waits_(graph.waits),
        states_(graph.tasks.size()),
        cores_(graph.cores),
        ports_(machine.ports > 0 ? graph.machine_nodes : 0) {}

  /// Returns the number of tasks that never completed.
  std::uint64_t run() {
    for (std::uint32_t task = 0; task < graph_.tasks.size(); ++task) {
      if (waits_[task] == 0) ready_.push_back(task);
    }
    drain();
    std::vector<std::uint32_t> ended;
    while (true) {
      const double flow_end = graph_.network.nextEnd();
      const double timer = timers_.empty() ? FairShare::kInfinity : timers_.top().time;
      if (std::min(flow_end, timer) == FairShare::kInfinity) break;
      now_ = std::min(flow_end, timer);
      if (flow_end <= timer) {
        ended.clear();
        graph_.network.end(ended);
        for (std::uint32_t task : ended)
          flowEnded(task);
      } else {
        const Timer event = timers_.top();
        timers_.pop();
        timerFired(event);
      }
      drain();
    }
    return graph_.tasks.size() - complete_;
  }

  SimulateResult result() const;
  /// The first task that is not complete.
  std::uint32_t firstPending() const {
    std::uint32_t task = 0;
    while (states_[task].complete)
      ++task;
    return task;
  }

 private:
  enum class Event : std::uint8_t { kInject, kArrive, kCoreFree };

  struct Timer {
    double time;
    Event event;
    std::uint32_t task;

    bool operator<(const Timer& other) const {
      if (time != other.time) return time > other.time;
      return event != other.event ? event > other.event : task > other.task;
    }
  };

  struct State {
    double start = 0;              // of its message or of its work
    double end = 0;                // complete
    std::uint32_t cause = kNone;   // the task whose end let this one be ready
    std::uint32_t behind = kNone;  // the task that it waited for besides: on its core, at its port
    std::uint32_t depth = 0;       // messages one after the other up to its end
    bool ready = false;
    bool arrived = false;  // receives: the data have
    bool complete = false;
  };

  struct Core {
    bool busy = false;
    std::uint32_t last = kNone;  // task served last
    std::deque<std::uint32_t> queue;
  };

  struct Ports {
    std::map<std::uint32_t, std::uint32_t> in_use;  // messages under way by first link
    std::deque<std::uint32_t> queue;
  };

  void after(double delay, Event event, std::uint32_t task) {
    timers_.push({now_ + delay, event, task});
  }

  void drain() {
    for (; head_ < ready_.size(); ++head_)
      becomeReady(ready_[head_]);
    ready_.clear();
    head_ = 0;
  }

  void becomeReady(std::uint32_t index) {
    const Task& task = graph_.tasks[index];
    State& state = states_[index];
    state.ready = true;
    state.start = now_;
    switch (task.kind) {
      case TaskKind::kPass:
        finish(index);
        break;
      case TaskKind::kLocal:
        occupyCore(index);
        break;
      case TaskKind::kSend:
        if (isEager(task) || states_[task.partner].ready) startMessage(index);
        break;
      case TaskKind::kReceive:
        if (state.arrived) {
          occupyCore(index);
        } else if (!isEager(graph_.tasks[task.partner]) && states_[task.partner].ready) {
          startMessage(task.partner);
        }
        break;
    }
  }

  bool isEager(const Task& send) const { return send.bytes <= options_.eager_bytes; }

  void startMessage(std::uint32_t send) {
    states_[send].start = now_;
    states_[graph_.tasks[send].partner].start = now_;
    if (machine_.overhead > 0) {
      occupyCore(send);
    } else {
      startUp(send);
    }
  }

  void startUp(std::uint32_t send) {
    if (machine_.alpha > 0) {
      after(machine_.alpha, Event::kInject, send);
    } else {
      inject(send);
    }
  }

  void inject(std::uint32_t send) {
    const Route& route = graph_.routes[graph_.tasks[send].route];
    if (!ports_.empty() && route.first != kNone) {
      Ports& ports = ports_[route.node];
      const auto used = ports.in_use.find(route.first);
      if (used != ports.in_use.end()) {
        ++used->second;
      } else if (ports.in_use.size() < machine_.ports) {
        ports.in_use[route.first] = 1;
      } else {
        ports.queue.push_back(send);
        return;
      }
    }
    graph_.network.start(route.group, send, graph_.tasks[send].bytes, now_);
  }

  /// A link that no message of the node uses any more makes room for those that wait for it or for
  /// another, first come, first served.
  void releasePort(std::uint32_t send) {
    const Route& route = graph_.routes[graph_.tasks[send].route];
    if (ports_.empty() || route.first == kNone) return;
    Ports& ports = ports_[route.node];
    const auto used = ports.in_use.find(route.first);
    if (--used->second > 0) return;
    ports.in_use.erase(used);
    std::deque<std::uint32_t> waiting;
    waiting.swap(ports.queue);
    for (std::uint32_t task : waiting) {
      inject(task);
      states_[task].behind = send;
    }
  }

  void flowEnded(std::uint32_t index) {
    const Task& task = graph_.tasks[index];
    if (task.kind != TaskKind::kSend) {
      freeCore(index);
      return;
    }
    releasePort(index);
    const double latency = graph_.routes[task.route].latency;
    if (latency > 0) {
      after(latency, Event::kArrive, index);
    } else {
      arrive(index);
    }
  }

  void timerFired(const Timer& timer) {
    switch (timer.event) {
      case Event::kInject:
        inject(timer.task);
        break;
      case Event::kArrive:
        arrive(timer.task);
        break;
      case Event::kCoreFree:
        overheadOrWorkDone(timer.task);
        break;
    }
  }

  void arrive(std::uint32_t send) {
    const std::uint32_t receive = graph_.tasks[send].partner;
    finish(send);
    states_[receive].arrived = true;
    if (states_[receive].ready) occupyCore(receive);
  }

  bool needsCore(const Task& task) const {
    return (task.kind != TaskKind::kLocal && machine_.overhead > 0) || task.work > 0 ||
           task.memory != kNone;
  }

  void occupyCore(std::uint32_t index) {
    const Task& task = graph_.tasks[index];
    if (!needsCore(task)) {
      finish(index);
      return;
    }
    Core& core = cores_[task.core];
    if (core.busy) {
      core.queue.push_back(index);
    } else {
      serve(core, index);
    }
  }

  void serve(Core& core, std::uint32_t index) {
    const Task& task = graph_.tasks[index];
    core.busy = true;
    core.last = index;
    if (task.kind == TaskKind::kLocal) states_[index].start = now_;
    const double overhead = task.kind == TaskKind::kLocal ? 0 : machine_.overhead;
    const double work = task.memory == kNone ? task.work : 0;
    if (overhead + work > 0) {
      after(overhead + work, Event::kCoreFree, index);
    } else {
      overheadOrWorkDone(index);
    }
  }

  /// What is left is the work on memory, which the cores of the node share.
  void overheadOrWorkDone(std::uint32_t index) {
    const Task& task = graph_.tasks[index];
    if (task.memory != kNone) {
      graph_.network.start(task.memory, index, task.bytes, now_);
    } else {
      freeCore(index);
    }
  }

  void freeCore(std::uint32_t index) {
    const Task& task = graph_.tasks[index];
    Core& core = cores_[task.core];
    core.busy = false;
    if (!core.queue.empty()) {
      const std::uint32_t next = core.queue.front();
      core.queue.pop_front();
      states_[next].behind = index;
      serve(core, next);
    }
    if (task.kind == TaskKind::kSend) {
      startUp(index);
    } else {
      finish(index);
    }
  }

  void finish(std::uint32_t index) {
    const Task& task = graph_.tasks[index];
    State& state = states_[index];
    state.end = now_;
    state.complete = true;
    ++complete_;
    last_ = index;
    if (task.partner != kNone && task.kind == TaskKind::kSend) {
      state.depth = std::max(state.depth, states_[task.partner].depth) + 1;
      states_[task.partner].depth = state.depth;
    }
    for (std::uint32_t k = graph_.first_successor[index]; k < graph_.first_successor[index + 1];
         ++k) {
      const std::uint32_t next = graph_.successors[k];
      states_[next].depth = std::max(states_[next].depth, state.depth);
      if (--waits_[next] == 0) {
        states_[next].cause = index;
        ready_.push_back(next);
      }
    }
  }

  std::vector<CriticalStep> criticalPath() const;

  SimulationGraph& graph_;
  const Machine& machine_;
  const SimulateOptions& options_;
  std::vector<std::uint32_t> waits_;
  std::vector<State> states_;
  std::vector<Core> cores_;
  std::vector<Ports> ports_;
  std::priority_queue<Timer> timers_;
  std::vector<std::uint32_t> ready_;
  std::size_t head_ = 0;
  double now_ = 0;
  std::uint64_t complete_ = 0;
  std::uint32_t last_ = kNone;
};

SimulateResult Simulation::result() const {
  SimulateResult result;
  result.makespan_s = now_;
  result.nodes = graph_.nodes;
  std::vector<std::uint64_t> sent(graph_.nodes, 0);
  for (std::uint32_t index = 0; index < graph_.tasks.size(); ++index) {
    const Task& task = graph_.tasks[index];
    if (task.kind == TaskKind::kSend) ++sent[task.node];
    if (task.kind != TaskKind::kPass) ++result.operations;
    result.steps = std::max<std::uint64_t>(result.steps, states_[index].depth);
  }
  if (!sent.empty()) result.messages = *std::max_element(sent.begin(), sent.end());
  std::map<std::pair<std::uint32_t, int>, LinkUse> busiest;
  for (const Link& link : graph_.links) {
    LinkUse& use = busiest[{link.link_class.axis, -link.link_class.sign}];
    const double bytes = graph_.network.carried(link.resource);
    if (bytes < use.bytes) continue;
    use = {link.link_class, bytes, graph_.network.busy(link.resource), 0};
    use.idle_s = now_ - use.busy_s;
  }
  for (const auto& [key, use] : busiest)
    result.links.push_back(use);
  if (options_.critical_path) result.critical_path = criticalPath();
  return result;
}

/// Backwards from the last task: what each waited for last.
std::vector<CriticalStep> Simulation::criticalPath() const {
  std::vector<CriticalStep> path;
  for (std::uint32_t index = last_; index != kNone;) {
    const Task& task = graph_.tasks[index];
    const State& state = states_[index];
    CriticalStep step{task.operation, task.node, state.start, state.end, WaitedFor::kNothing};
    std::uint32_t next = state.cause;
    if (next != kNone) step.waited_for = WaitedFor::kDependence;
    if (state.behind != kNone && states_[state.behind].end > state.start) {
      step.waited_for = WaitedFor::kCore;
      next = state.behind;
    }
    if (task.kind != TaskKind::kPass) path.push_back(step);
    index = next;
  }
  std::reverse(path.begin(), path.end());
  return path;
}

}  // namespace

std::string_view name(WaitedFor what) {
  static constexpr std::string_view kNames[] = {"nothing", "dependence", "peer", "core", "port"};
  return kNames[static_cast<int>(what)];
}

llvm::Expected<SimulateResult> simulate(const ScheduleView& schedule, const Machine& machine,
                                        const SimulateOptions& options) {
  llvm::Expected<SimulationGraph> graph =
      options.per_rank
          ? graphOfRanks(schedule, machine,
                         static_cast<std::uint64_t>(options.bytes / options.element_bytes),
                         options.element_bytes)
          : graphOfClasses(schedule, machine, options.bytes);
  if (!graph) return graph.takeError();
  Simulation simulation(*graph, machine, options);
  if (const std::uint64_t pending = simulation.run()) {
    const Task& task = graph->tasks[simulation.firstPending()];
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   "deadlock: " + std::to_string(pending) +
                                       " operations never complete, first operation " +
                                       std::to_string(task.operation) + " on node " +
                                       std::to_string(task.node) + " (torc verify)");
  }
  return simulation.result();
}

}  // namespace torc
