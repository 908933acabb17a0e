#include "model/simulation_graph.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>

#include "ir/node_classes.h"
#include "schedules/expand.h"
#include "schedules/partition.h"

namespace torc {
namespace {

/// Beyond this a simulation would take minutes and gigabytes.
constexpr double kMaxTasks = 3e7;

/// Bytes of memory moved per byte: a reduction reads two and writes one, a copy reads and writes.
constexpr double kReduceTraffic = 3;
constexpr double kCopyTraffic = 2;

llvm::Error failure(const std::string& message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

/// A shape of nodes without their cores, as in "4x3mx2".
llvm::Error checkMachine(const Topology& topology, const Machine& machine) {
  const auto dimensions = static_cast<std::uint32_t>(topology.dimensions());
  bool same = machine.dimensions.size() == dimensions;
  std::string shape;
  for (std::uint32_t i = 0; i < machine.dimensions.size(); ++i) {
    const MachineDimension& dimension = machine.dimensions[i];
    shape += (i > 0 ? "x" : "") + std::to_string(dimension.size) + (dimension.torus ? "" : "m");
    same = same && dimension.size == topology.axes[i].size;
  }
  if (same) return llvm::Error::success();
  return failure("the schedule is for a torus of " + topology.shape() + ", the machine is " +
                 shape);
}

/// What both modes share: nodes, links, routes, memory.
class GraphBuilder {
 public:
  GraphBuilder(const ScheduleView& schedule, const Machine& machine, bool per_rank)
      : schedule_(schedule),
        topology_(schedule.topology),
        machine_(machine),
        classes_(schedule, per_rank) {
    const std::uint32_t last = topology_.axis_count - 1;
    if (topology_.hasCores()) {
      ranks_per_node_ = topology_.axes[last].size;
      if (classes_.collapsed(last)) copies_ = ranks_per_node_;
    }
    // Classes count the axes from the first on, so that the cores of a node lie one machine apart.
    graph_.nodes = classes_.count();
    graph_.machine_nodes = graph_.nodes / (ranks_per_node_ / copies_);
    cores_ = std::max(1u, machine.cores / ranks_per_node_);
    graph_.cores = graph_.nodes * cores_;
    if (machine.memory_bandwidth > 0) {
      for (std::uint32_t node = 0; node < graph_.machine_nodes; ++node)
        memory_.push_back(graph_.network.addResource(machine.memory_bandwidth));
    }
    links_.assign(std::size_t{graph_.machine_nodes} * kMaxAxes * 2, kNone);
    routes_.assign(std::size_t{graph_.nodes} * schedule.shifts.size(), kNone);
  }

  const NodeClasses& classes() const { return classes_; }
  SimulationGraph& graph() { return graph_; }
  SimulationGraph take() { return std::move(graph_); }

  llvm::Error checkSize(double tasks) const {
    if (tasks <= kMaxTasks) return llvm::Error::success();
    return failure("too large to simulate: " + std::to_string(graph_.nodes) + " nodes with " +
                   std::to_string(static_cast<std::uint64_t>(tasks / graph_.nodes)) +
                   " operations each");
  }

  /// Appends the task of an operation that node `node` executes with messages of `bytes`.
  void addTask(std::uint32_t node, std::uint32_t index, double bytes) {
    const Operation& operation = schedule_.operations[index];
    Task task;
    task.node = node;
    task.operation = index;
    task.core = node * cores_ + schedule_.streams[operation.stream].core % cores_;
    task.bytes = bytes;
    switch (operation.kind) {
      case OperationKind::kSend:
        task.kind = TaskKind::kSend;
        task.route = routeOf(node, operation.peer);
        break;
      case OperationKind::kRecv:
        task.kind = TaskKind::kReceive;
        break;
      case OperationKind::kRecvReduce:
        task.kind = TaskKind::kReceive;
        task.work = bytes * machine_.gamma;
        task.memory = memoryOf(node, kReduceTraffic, reduce_rate());
        break;
      case OperationKind::kReduce:
        task.kind = TaskKind::kLocal;
        task.work = bytes * machine_.gamma;
        task.memory = memoryOf(node, kReduceTraffic, reduce_rate());
        break;
      case OperationKind::kCopy:
        task.kind = TaskKind::kLocal;
        task.memory = memoryOf(node, kCopyTraffic, FairShare::kInfinity);
        break;
    }
    graph_.tasks.push_back(task);
  }

  /// Appends a task that does nothing: dependences pass through it.
  void addPass(std::uint32_t node, std::uint32_t index) {
    Task task;
    task.node = node;
    task.operation = index;
    graph_.tasks.push_back(task);
  }

  /// `dependences(task)` gives the tasks that each task waits for.
  template <typename Dependences>
  void layDependences(Dependences dependences) {
    const auto count = static_cast<std::uint32_t>(graph_.tasks.size());
    graph_.first_successor.assign(count + 1, 0);
    graph_.waits.assign(count, 0);
    for (std::uint32_t task = 0; task < count; ++task) {
      dependences(task, [&](std::uint32_t before) {
        ++graph_.first_successor[before + 1];
        ++graph_.waits[task];
      });
    }
    for (std::uint32_t task = 0; task < count; ++task)
      graph_.first_successor[task + 1] += graph_.first_successor[task];
    graph_.successors.resize(graph_.first_successor[count]);
    std::vector<std::uint32_t> next(graph_.first_successor.begin(),
                                    graph_.first_successor.end() - 1);
    for (std::uint32_t task = 0; task < count; ++task)
      dependences(task, [&](std::uint32_t before) { graph_.successors[next[before]++] = task; });
  }

 private:
  double reduce_rate() const {
    return machine_.gamma > 0 ? 1 / machine_.gamma : FairShare::kInfinity;
  }

  std::uint32_t machineNode(std::uint32_t node) const { return node % graph_.machine_nodes; }

  /// The group of flows through the memory of `node`; kNone where memory is no limit. Each of the
  /// node's cores that `node` stands for moves the same.
  std::uint32_t memoryOf(std::uint32_t node, double traffic, double rate) {
    if (memory_.empty()) return kNone;
    const std::uint32_t machine_node = machineNode(node);
    const auto [entry, fresh] = memory_groups_.try_emplace({machine_node, traffic}, 0);
    if (fresh) {
      entry->second = graph_.network.addGroup({{memory_[machine_node], traffic * copies_}}, rate);
    }
    return entry->second;
  }

  std::uint32_t linkOf(std::uint32_t machine_node, std::uint32_t axis, bool down) {
    std::uint32_t& link = links_[(std::size_t{machine_node} * kMaxAxes + axis) * 2 + down];
    if (link == kNone) {
      link = graph_.network.addResource(machine_.linkBandwidth(axis));
      graph_.links.push_back({{axis, down ? -1 : 1}, link});
    }
    return link;
  }

  std::uint32_t routeOf(std::uint32_t node, std::uint32_t shift_index) {
    std::uint32_t& index = routes_[std::size_t{node} * schedule_.shifts.size() + shift_index];
    if (index != kNone) return index;
    const Shift& shift = schedule_.shifts[shift_index];
    Route route;
    route.node = machineNode(node);
    std::vector<FairShare::Use> uses;
    auto use = [&](std::uint32_t resource) {
      auto at = std::find_if(uses.begin(), uses.end(),
                             [&](const FairShare::Use& it) { return it.resource == resource; });
      if (at == uses.end()) at = uses.insert(at, {resource, 0});
      at->amount += copies_;
    };
    Coordinates at = classes_.coordinatesOf(node);
    const auto dimensions = static_cast<std::uint32_t>(topology_.dimensions());
    for (std::uint32_t axis = 0; axis < dimensions; ++axis) {
      const Axis& it = topology_.axes[axis];
      const bool one_cable = it.kind == AxisKind::kMesh && it.size == 2;
      const int step = shift[axis] > 0 ? 1 : -1;
      for (std::int32_t hop = 0; hop < std::abs(shift[axis]); ++hop) {
        const std::uint32_t link =
            linkOf(machineNode(classes_.classOf(at)), axis, step < 0 && !one_cable);
        if (route.first == kNone) route.first = link;
        use(link);
        route.latency += machine_.dimensions[axis].latency;
        at[axis] = static_cast<std::int32_t>(wrap(std::int64_t{at[axis]} + step, it.size));
      }
    }
    if (route.first != kNone) {
      route.latency += machine_.latency;
      route.group = graph_.network.addGroup(std::move(uses));
    } else if (memory_.empty()) {
      route.group = graph_.network.addGroup({});
    } else {
      // From core to core of a node.
      route.group = memoryOf(node, kCopyTraffic, FairShare::kInfinity);
    }
    index = static_cast<std::uint32_t>(graph_.routes.size());
    graph_.routes.push_back(route);
    return index;
  }

  ScheduleView schedule_;
  const Topology& topology_;
  const Machine& machine_;
  NodeClasses classes_;
  std::uint32_t ranks_per_node_ = 1;
  std::uint32_t copies_ = 1;  // ranks of a node that one class stands for
  std::uint32_t cores_ = 1;   // of a rank
  SimulationGraph graph_;
  std::vector<std::uint32_t> memory_;  // resources
  std::map<std::pair<std::uint32_t, double>, std::uint32_t> memory_groups_;
  std::vector<std::uint32_t> links_;   // resource by machine node, axis, direction
  std::vector<std::uint32_t> routes_;  // by node and shift
};

/// The k-th send of a stream in a direction matches the k-th receive of the stream at the peer from
/// that direction.
class ClassMatching {
 public:
  explicit ClassMatching(const ScheduleView& schedule) : topology_(schedule.topology) {
    for (const Shift& shift : schedule.shifts) {
      outgoing_.push_back(number(messageDirection(topology_, shift, 1)));
      incoming_.push_back(number(messageDirection(topology_, shift, -1)));
    }
  }

  struct Message {
    std::uint64_t channel;  // peer's class, stream, direction
    std::uint32_t node, ordinal, task;
    auto operator<=>(const Message&) const = default;
  };
  std::uint32_t outgoing(std::uint32_t shift) const { return outgoing_[shift]; }
  std::uint32_t incoming(std::uint32_t shift) const { return incoming_[shift]; }
  const Shift& direction(std::uint32_t index) const { return directions_[index]; }
  std::uint32_t directions() const { return static_cast<std::uint32_t>(directions_.size()); }

 private:
  std::uint32_t number(const Shift& direction) {
    const auto [entry, fresh] =
        numbers_.try_emplace(direction, static_cast<std::uint32_t>(numbers_.size()));
    if (fresh) directions_.push_back(direction);
    return entry->second;
  }

  const Topology& topology_;
  std::map<Shift, std::uint32_t> numbers_;
  std::vector<Shift> directions_;
  std::vector<std::uint32_t> outgoing_, incoming_;  // of each shift
};

std::string operationName(const SimulationGraph& graph, std::uint32_t task) {
  return "operation " + std::to_string(graph.tasks[task].operation) + " on node " +
         std::to_string(graph.tasks[task].node);
}

llvm::Error unmatched(const SimulationGraph& graph, std::uint32_t task) {
  return failure(operationName(graph, task) +
                 (graph.tasks[task].kind == TaskKind::kSend
                      ? " sends what its peer does not receive"
                      : " receives what nobody sends") +
                 " (torc verify)");
}

llvm::Error matchClasses(const ScheduleView& schedule, const NodeClasses& classes,
                         SimulationGraph& graph) {
  const ClassMatching matching(schedule);
  // The receives of each channel (class, stream, direction) in order.
  const auto count = static_cast<std::uint32_t>(schedule.operations.size());
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> receives;
  auto channel = [&](std::uint32_t node, std::uint32_t stream, std::uint32_t direction) {
    return (std::uint64_t{node} * schedule.streams.size() + stream) * matching.directions() +
           direction;
  };
  for (std::uint32_t task = 0; task < graph.tasks.size(); ++task) {
    if (graph.tasks[task].kind != TaskKind::kReceive) continue;
    const Operation& operation = schedule.operations[task % count];
    receives[channel(task / count, operation.stream, matching.incoming(operation.peer))].push_back(
        task);
  }
  std::unordered_map<std::uint64_t, std::uint32_t> taken;
  for (std::uint32_t task = 0; task < graph.tasks.size(); ++task) {
    if (graph.tasks[task].kind != TaskKind::kSend) continue;
    const Operation& operation = schedule.operations[task % count];
    const std::uint32_t direction = matching.outgoing(operation.peer);
    Coordinates distance{};
    const std::uint32_t peer =
        classes.neighbour(task / count, matching.direction(direction), distance);
    const std::uint64_t key = channel(peer, operation.stream, direction);
    const auto found = receives.find(key);
    const std::uint32_t ordinal = taken[key]++;
    if (found == receives.end() || ordinal >= found->second.size()) return unmatched(graph, task);
    graph.tasks[task].partner = found->second[ordinal];
    graph.tasks[found->second[ordinal]].partner = task;
  }
  for (std::uint32_t task = 0; task < graph.tasks.size(); ++task) {
    if (graph.tasks[task].kind == TaskKind::kReceive && graph.tasks[task].partner == kNone) {
      return unmatched(graph, task);
    }
  }
  return llvm::Error::success();
}

}  // namespace

llvm::Expected<SimulationGraph> graphOfClasses(const ScheduleView& schedule, const Machine& machine,
                                               double bytes) {
  if (llvm::Error error = checkMachine(schedule.topology, machine)) return error;
  GraphBuilder builder(schedule, machine, false);
  SimulationGraph& graph = builder.graph();
  const auto count = static_cast<std::uint32_t>(schedule.operations.size());
  if (llvm::Error error = builder.checkSize(static_cast<double>(count) * graph.nodes)) return error;
  const VectorShares shares(schedule);
  graph.tasks.reserve(std::size_t{count} * graph.nodes);
  for (std::uint32_t node = 0; node < graph.nodes; ++node) {
    for (std::uint32_t i = 0; i < count; ++i) {
      const Operation& operation = schedule.operations[i];
      if (builder.classes().executes(node, operation)) {
        const Region& moved = sends(operation.kind) ? operation.a : operation.dst;
        builder.addTask(node, i, shares.of(moved, builder.classes().coordinatesOf(node)) * bytes);
      } else {
        builder.addPass(node, i);
      }
    }
  }
  if (llvm::Error error = matchClasses(schedule, builder.classes(), graph)) return error;
  builder.layDependences([&](std::uint32_t task, auto add) {
    const std::uint32_t first = task - task % count;
    for (std::uint32_t before : schedule.dependencesOf(schedule.operations[task % count]))
      add(first + before);
  });
  return builder.take();
}

llvm::Expected<SimulationGraph> graphOfRanks(const ScheduleView& schedule, const Machine& machine,
                                             std::uint64_t elements, double element_bytes) {
  if (llvm::Error error = checkMachine(schedule.topology, machine)) return error;
  GraphBuilder builder(schedule, machine, true);
  SimulationGraph& graph = builder.graph();
  const CollectiveTraits& facts = traits(schedule.collective);
  const bool block_counts = !(facts.in_whole && facts.out_whole);
  const Counts counts{block_counts ? elements / schedule.topology.ranks() : elements, {}, {}};
  std::vector<std::uint32_t> first_task;
  std::vector<std::uint32_t> first_dependence, dependences;  // of each task
  std::map<std::tuple<std::uint32_t, std::int32_t, std::uint32_t>, std::uint32_t> waiting;
  std::vector<std::pair<std::tuple<std::uint32_t, std::int32_t, std::uint32_t>, std::uint32_t>>
      sent;
  for (std::uint32_t node = 0; node < graph.nodes; ++node) {
    const Coordinates at = builder.classes().coordinatesOf(node);
    const std::int32_t rank = schedule.topology.rankOf(at);
    const StatusOr<FlatProgram> program = expand(schedule, rank, counts);
    if (!program.ok()) return failure(program.status().message());
    const auto first = static_cast<std::uint32_t>(graph.tasks.size());
    const auto tasks = static_cast<double>(first + program->operations.size());
    if (llvm::Error error = builder.checkSize(tasks)) return error;
    for (std::uint32_t i = 0; i < program->operations.size(); ++i) {
      const FlatOperation& operation = program->operations[i];
      const FlatRegion& moved = sends(operation.kind) ? operation.a : operation.dst;
      builder.addTask(node, operation.source, static_cast<double>(moved.elements) * element_bytes);
      first_dependence.push_back(static_cast<std::uint32_t>(dependences.size()));
      for (std::uint32_t before : program->dependencesOf(operation))
        dependences.push_back(first + before);
      if (sends(operation.kind)) {
        const Coordinates to = schedule.topology.coordinatesOf(operation.peer);
        sent.push_back({{builder.classes().classOf(to), rank, operation.tag}, first + i});
      } else if (receives(operation.kind)) {
        waiting.insert({{node, operation.peer, operation.tag}, first + i});
      }
    }
  }
  for (const auto& [key, task] : sent) {
    const auto found = waiting.find(key);
    if (found == waiting.end()) return unmatched(graph, task);
    graph.tasks[task].partner = found->second;
    graph.tasks[found->second].partner = task;
  }
  for (std::uint32_t task = 0; task < graph.tasks.size(); ++task) {
    if (graph.tasks[task].kind == TaskKind::kReceive && graph.tasks[task].partner == kNone) {
      return unmatched(graph, task);
    }
  }
  first_dependence.push_back(static_cast<std::uint32_t>(dependences.size()));
  builder.layDependences([&](std::uint32_t task, auto add) {
    for (std::uint32_t k = first_dependence[task]; k < first_dependence[task + 1]; ++k)
      add(dependences[k]);
  });
  return builder.take();
}

}  // namespace torc
