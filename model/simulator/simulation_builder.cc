#include "model/simulator/simulation_builder.h"

#include <algorithm>
#include <numeric>

#include <llvm/ADT/STLExtras.h>

#include "ir/make_error.h"
#include "ir/peer_loops/peer_loops.h"

namespace torc::model {
namespace {

/// Most links of all routes on a graph: a gigabyte and seconds.
constexpr std::uint64_t kMostRouteLinks = 50'000'000;

}  // namespace

llvm::Error checkMachine(const Topology& topology, const Machine& machine) {
  auto fault = [&](const std::string& what) {
    return makeError("the schedule is for " + topology.shape() + ", machine '" + machine.name +
                     "' " + what);
  };
  const auto dimensions = static_cast<std::size_t>(topology.dimensions());
  bool same = machine.dimensions.size() == dimensions;
  std::string shape;
  for (std::size_t i = 0; i < machine.dimensions.size(); ++i) {
    const MachineDimension& dimension = machine.dimensions[i];
    shape += (i > 0 ? "x" : "") + std::to_string(dimension.size) + (dimension.torus ? "" : "m");
    if (!same) continue;
    const Axis& axis = topology.axes[i];
    // A line within a ring does not use the link around it.
    same = dimension.size == axis.size && (dimension.torus || !axis.isRing());
  }
  if (!same) return fault("is " + shape);
  for (std::size_t i = 0; i < dimensions; ++i) {
    const Axis& axis = topology.axes[i];
    if (axis.isRing() && axis.size == 2 && machine.dimensions[i].cables() < 2) {
      return fault(std::string("has one cable along ") + axis.name + ", which is 2m");
    }
  }
  for (const Coordinates& dead : machine.dead_nodes) {
    if (!topology.isDead(dead)) return fault("has dead nodes that it does not know of");
  }
  return llvm::Error::success();
}

SimulationBuilder::SimulationBuilder(const ScheduleView& schedule, const Machine& machine,
                                     ir::NodeClasses classes, bool has_links)
    : schedule_(schedule),
      machine_(machine),
      classes_(classes),
      has_links_(has_links),
      routes_(schedule.topology, classes_),
      graph_routes_(schedule.links, schedule.topology.ranks()),
      cores_(std::max(1u, machine.cores / routes_.ranksPerNode())),
      links_(schedule.isOnGraph() ? schedule.links.size()
                                  : std::size_t{routes_.nodeCount()} * kMaxAxes * 2,
             kNone),
      route_index_(
          std::size_t{classes_.count()} * (schedule.shifts.size() + schedule.peer_loops.size()),
          kNone) {
  graph_.operations = static_cast<std::uint32_t>(schedule.operations.size());
  graph_.is_synchronous = (schedule.flags & kSynchronousSends) != 0;
  graph_.eager = machine.eager;
  graph_.buffered = std::max(machine.eager, machine.buffered);
  graph_.machine_nodes = routes_.nodeCount();
  graph_.cores = classes_.count() * cores_;
  graph_.copies = routes_.copies();
  for (std::uint32_t node = 0; node < classes_.count(); ++node)
    graph_.ranks.push_back(schedule.topology.rankOf(classes_.coordinatesOf(node)));
  // The memory of a node is the resource of its number.
  for (std::uint32_t node = 0; machine.memory_bandwidth > 0 && node < graph_.machine_nodes; ++node)
    graph_.network.addResource(machine.memory_bandwidth);
}

Task& SimulationBuilder::addPass(std::uint32_t node, std::uint32_t index) {
  graph_.first_dependence.push_back(static_cast<std::uint32_t>(dependences_.size()));
  return graph_.tasks.emplace_back(Task{.node = node, .operation = index});
}

void SimulationBuilder::addTask(std::uint32_t node, std::uint32_t index, double bytes,
                                std::int32_t peer) {
  const Operation& operation = schedule_.operations[index];
  Task& task = addPass(node, index);
  task.core = node * cores_ + schedule_.streams[operation.stream].core % cores_;
  task.bytes = bytes;
  if (operation.hasPeerLoop() && peer < 0) {
    task.messages = static_cast<std::uint32_t>(schedule_.peer_loops[operation.peer].size());
  }
  switch (operation.kind) {
    case OperationKind::kSend:
    case OperationKind::kNotify:
      task.kind = TaskKind::kSend;
      task.route = peer < 0 ? routeOf(node, operation) : routeTo(node, operation, peer);
      task.blocks = blocksApart(node, operation);
      // Time of the core to copy it to the node's interface.
      if (machine_.injection > 0 && graph_.routes[task.route].first != MessageRoute::kInside)
        task.work = task.messages / machine_.injection;
      break;
    case OperationKind::kRecv:
    case OperationKind::kAwait:
      task.kind = TaskKind::kReceive;
      break;
    case OperationKind::kRecvReduce:
    case OperationKind::kReduce:
      task.kind = receives(operation.kind) ? TaskKind::kReceive : TaskKind::kLocal;
      task.work = machine_.gamma;
      task.memory = memoryGroup(node, kReduceTraffic,
                                machine_.gamma > 0 ? 1 / machine_.gamma : FairShare::kInfinity);
      break;
    case OperationKind::kCopy:
      task.kind = TaskKind::kLocal;
      task.memory = memoryGroup(node, kCopyTraffic, FairShare::kInfinity);
      break;
  }
}

void SimulationBuilder::addDependence(std::uint32_t task, std::uint32_t segments_before) {
  dependences_.push_back({task, segments_before});
}

/// Number of blocks of a message that are apart in memory, if it may be buffered.
std::uint32_t SimulationBuilder::blocksApart(std::uint32_t node, const Operation& operation) const {
  const CollectiveRow& row = rowOf(schedule_.collective);
  const bool is_whole = row.layout == Layout::kPartMajor || row.isOfNeighbours();
  const bool may_be_buffered = machine_.eager > 0 || machine_.buffered > 0;
  if (is_whole || !may_be_buffered || operation.hasPeerLoop()) return 1;
  const Coordinates at = classes_.coordinatesOf(node);
  std::uint64_t blocks = 0;
  for (const Piece& piece : schedule_.piecesOf(operation.a))
    blocks += volume(schedule_.blocksOf(piece.box, at), schedule_.blockAxes());
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(blocks, kNone));
}

llvm::Error SimulationBuilder::checkMessages() const {
  if (route_links_ > kMostRouteLinks) {
    return makeError("too large to simulate: routes have more than " +
                     llvm::Twine(kMostRouteLinks) + " links in all");
  }
  for (std::uint32_t i = 0; i < graph_.tasks.size(); ++i) {
    const Task& task = graph_.tasks[i];
    if (task.kind == TaskKind::kSend && llvm::is_contained(broken_routes_, task.route)) {
      return makeError(graph_.taskName(i) + (schedule_.isOnGraph() ? " sends where no link leads"
                                                                   : " sends over what is dead"));
    }
    const bool message = task.kind == TaskKind::kSend || task.kind == TaskKind::kReceive;
    if (!message || task.partner != kNone) continue;
    return makeError(graph_.taskName(i) + (task.kind == TaskKind::kSend
                                               ? " sends what its peer does not receive"
                                               : " receives what no peer sends"));
  }
  return llvm::Error::success();
}

SimulationGraph SimulationBuilder::finish() {
  const auto count = static_cast<std::uint32_t>(graph_.tasks.size());
  std::vector<std::uint32_t>& first = graph_.first_dependence;
  std::vector<std::uint32_t>& first_successor = graph_.first_successor;
  first.push_back(static_cast<std::uint32_t>(dependences_.size()));
  first_successor.assign(std::size_t{count} + 1, 0);
  for (const TaskDependence& dependence : dependences_) {
    ++first_successor[dependence.task + 1];
    graph_.segments_before.push_back(dependence.segments_before);
  }
  std::partial_sum(first_successor.begin(), first_successor.end(), first_successor.begin());
  graph_.successors.resize(dependences_.size());
  std::vector<std::uint32_t> next(first_successor.begin(), first_successor.end() - 1);
  for (std::uint32_t task = 0; task < count; ++task) {
    for (std::uint32_t k = first[task]; k < first[task + 1]; ++k) {
      const auto [before, back] = dependences_[k];
      // There are fewer tasks.
      const std::uint64_t distance = std::uint64_t{back} * count + task - before;
      graph_.successors[next[before]++] =
          static_cast<std::uint32_t>(std::min<std::uint64_t>(distance, kNone));
    }
  }
  for (auto [all, begin] : {std::pair(&graph_.successors, &first_successor),
                            std::pair(&graph_.segments_before, &first)}) {
    for (std::uint32_t task = 0; task < count; ++task)
      std::sort(all->begin() + (*begin)[task], all->begin() + (*begin)[task + 1]);
  }
  return std::move(graph_);
}

/// Flows through the memory of a rank's node, `traffic` bytes per byte; kNone if memory is no
/// limit. A collapsed T axis stands for ranks that all do the same.
std::uint32_t SimulationBuilder::memoryGroup(std::uint32_t node, double traffic, double limit) {
  if (machine_.memory_bandwidth == 0) return kNone;
  const std::uint32_t memory = routes_.nodeOf(node);
  const auto [entry, fresh] = memory_groups_.try_emplace({memory, traffic}, 0);
  if (fresh) entry->second = graph_.network.addGroup({{memory, traffic * routes_.copies()}}, limit);
  return entry->second;
}

/// The link at a place in links_, of a node or of a graph.
std::uint32_t SimulationBuilder::linkResource(std::size_t place, const LinkClass& link,
                                              double bandwidth) {
  std::uint32_t& resource = links_[place];
  if (resource == kNone) {
    resource = graph_.network.addResource(bandwidth);
    graph_.links.push_back({link, resource});
  }
  return resource;
}

/// The route of one message of a loop over peers, to the rank `peer`.
std::uint32_t SimulationBuilder::routeTo(std::uint32_t node, const Operation& operation,
                                         std::int32_t peer) {
  const Coordinates to = schedule_.topology.coordinatesOf(peer);
  const Shift way = ir::wayOf(schedule_.topology, schedule_.peer_loops[operation.peer],
                              classes_.coordinatesOf(node), to);
  if (!has_links_) return routeAlong(way);
  graph_.routes.push_back(makeRoute(node, classes_.classOf(to), way, routes_.hops(node, way)));
  return static_cast<std::uint32_t>(graph_.routes.size() - 1);
}

/// The route of all messages that go this way.
std::uint32_t SimulationBuilder::routeAlong(const Shift& way) {
  const auto next = static_cast<std::uint32_t>(graph_.routes.size());
  const auto [entry, is_new] = ways_.try_emplace(way, next);
  if (is_new) graph_.routes.push_back({.first = 0, .last = 0, .way = way});
  return entry->second;
}

std::uint32_t SimulationBuilder::routeOf(std::uint32_t node, const Operation& operation) {
  if (!has_links_) return routeAlong(schedule_.shifts[operation.peer]);
  const std::size_t kinds = schedule_.shifts.size() + schedule_.peer_loops.size();
  const std::size_t kind = operation.peer + (operation.hasPeerLoop() ? schedule_.shifts.size() : 0);
  std::uint32_t& index = route_index_[std::size_t{node} * kinds + kind];
  if (index != kNone) return index;
  index = static_cast<std::uint32_t>(graph_.routes.size());
  MessageRoute route;
  if (operation.hasPeerLoop()) {
    const PeerLoop& peers = schedule_.peer_loops[operation.peer];
    Shift farthest{};
    for (std::uint32_t axis = 0; axis < schedule_.topology.axis_count; ++axis) {
      const std::int32_t last =
          peers.first[axis] + static_cast<std::int32_t>(peers.count[axis]) - 1;
      farthest[axis] = std::max(std::abs(peers.first[axis]), std::abs(last));
    }
    route = makeRoute(node, node, farthest, routes_.hops(node, peers));
  } else {
    const Shift& shift = schedule_.shifts[operation.peer];
    Coordinates distance{};
    const std::uint32_t peer = classes_.neighbour(node, shift, distance);
    route = schedule_.isOnGraph() ? makeGraphRoute(node, peer, shift)
                                  : makeRoute(node, peer, shift, routes_.hops(node, shift));
  }
  graph_.routes.push_back(route);
  return index;
}

/// The next route, over links of the graph; empty once these are too many, which checkMessages
/// reports. If a node stands for others, their links are equivalent: each stands for as many, and
/// carries one of the messages.
MessageRoute SimulationBuilder::makeGraphRoute(std::uint32_t node, std::uint32_t peer_node,
                                               const Shift& shift) {
  MessageRoute route;
  route.from = node;
  route.to = peer_node;
  std::vector<FairShare::Use> uses;
  route.latency_s = machine_.latency;
  if (route_links_ > kMostRouteLinks) return route;
  const std::int32_t to = schedule_.topology.neighbour(classes_.coordinatesOf(node), shift);
  for (const std::uint32_t link : graph_routes_.between(
           static_cast<std::uint32_t>(graph_.ranks[node]), static_cast<std::uint32_t>(to))) {
    uses.push_back({linkResource(link, {.of_graph = link}, schedule_.links[link].bandwidth)});
    route.latency_s += schedule_.links[link].latency;
  }
  route_links_ += uses.size();
  if (uses.empty()) {
    broken_routes_.push_back(static_cast<std::uint32_t>(graph_.routes.size()));
  } else {
    route.first = uses.front().resource;
    route.last = uses.back().resource;
  }
  route.group = graph_.network.addGroup(uses);
  return route;
}

/// The next route: from `node` to `peer_node` over the links `hops`, up to `farthest`.
MessageRoute SimulationBuilder::makeRoute(std::uint32_t node, std::uint32_t peer_node,
                                          const Shift& farthest,
                                          const std::vector<Routes::Hop>& hops) {
  MessageRoute route;
  route.from = routes_.nodeOf(node);
  route.to = routes_.nodeOf(peer_node);
  route.way = farthest;
  std::vector<FairShare::Use> uses;
  for (const Routes::Hop& hop : hops) {
    const std::size_t place = (std::size_t{hop.node} * kMaxAxes + hop.link.axis) * 2;
    uses.push_back({linkResource(place + (hop.link.sign > 0 ? 0 : 1), hop.link,
                                 machine_.linkBandwidth(hop.link.axis)),
                    static_cast<double>(hop.times)});
    auto crosses = [&](const DeadLink& dead) { return routes_.crosses(hop, dead); };
    auto touches = [&](const Coordinates& dead) { return routes_.touches(hop, dead); };
    if (llvm::any_of(schedule_.topology.deadLinks(), crosses) ||
        llvm::any_of(schedule_.topology.deadNodes(), touches) ||
        llvm::any_of(machine_.dead_links, crosses)) {
      broken_routes_.push_back(static_cast<std::uint32_t>(graph_.routes.size()));
    }
  }
  if (!uses.empty()) {
    route.first = uses.front().resource;
    route.last = uses.back().resource;
    route.latency_s = machine_.latency;
    for (std::size_t axis = 0; axis < machine_.dimensions.size(); ++axis)
      route.latency_s += machine_.dimensions[axis].latency * std::abs(farthest[axis]);
    route.group = graph_.network.addGroup(uses);
  } else {
    route.group = memoryGroup(node, kCopyTraffic, FairShare::kInfinity);
    if (route.group == kNone) route.group = graph_.network.addGroup({});
  }
  return route;
}

}  // namespace torc::model
