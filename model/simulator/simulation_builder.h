// Shared by graphs of classes and graphs of ranks: tasks, links, routes and memories of a machine.
#ifndef TORC_MODEL_SIMULATOR_SIMULATION_BUILDER_H_
#define TORC_MODEL_SIMULATOR_SIMULATION_BUILDER_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <llvm/Support/Error.h>

#include "ir/node_classes.h"
#include "model/machines/machine.h"
#include "model/simulator/routes.h"
#include "model/simulator/simulation_graph.h"
#include "schedules/schedule.h"

namespace torc::model {

class SimulationBuilder {
 public:
  /// Both must outlive this. `classes` belong to the schedule and are not too many
  /// (checkTaskCount); the machine has its shape (checkMachine). Without `has_links` a route is
  /// the displacement alone, shared by messages of all nodes, without links.
  SimulationBuilder(const ScheduleView& schedule, const Machine& machine, ir::NodeClasses classes,
                    bool has_links = true);

  const ir::NodeClasses& classes() const { return classes_; }
  const SimulationGraph& graph() const { return graph_; }

  /// Appends an empty task: dependences pass through it.
  Task& addPass(std::uint32_t node, std::uint32_t index);
  /// Appends the task of operation `index` on `node`, which moves `bytes`; of a loop over peers,
  /// only the message to or from the rank `peer`, unless that is negative.
  void addTask(std::uint32_t node, std::uint32_t index, double bytes, std::int32_t peer = -1);
  /// Adds a dependence of the last task on another one, `segments` segments before.
  void addDependence(std::uint32_t task, std::uint32_t segments_before = 0);

  /// Pairs tasks as ends of messages, by keys known to both: the k-th send of a key, in the order
  /// of tasks, matches its k-th receive.
  template <typename Key>
  void match(std::vector<std::pair<Key, std::uint32_t>>& sent,
             std::vector<std::pair<Key, std::uint32_t>>& received) {
    std::sort(sent.begin(), sent.end());
    std::sort(received.begin(), received.end());
    auto next = received.begin();
    for (const auto& [key, send] : sent) {
      while (next != received.end() && next->first < key)
        ++next;
      if (next == received.end() || next->first != key) continue;
      graph_.tasks[send].partner = next->second;
      graph_.tasks[next++->second].partner = send;
    }
  }
  /// An error if a send or a receive has no other end, a message uses a dead link or node, or
  /// routes on a graph are too long in all.
  llvm::Error checkMessages() const;

  /// The graph. Call last.
  SimulationGraph finish();

 private:
  std::uint32_t blocksApart(std::uint32_t node, const Operation& operation) const;
  std::uint32_t memoryGroup(std::uint32_t node, double traffic, double limit);
  std::uint32_t linkResource(std::size_t place, const LinkClass& link, double bandwidth);
  std::uint32_t routeOf(std::uint32_t node, const Operation& operation);
  std::uint32_t routeTo(std::uint32_t node, const Operation& operation, std::int32_t peer);
  std::uint32_t routeAlong(const Shift& way);
  MessageRoute makeGraphRoute(std::uint32_t node, std::uint32_t peer_node, const Shift& shift);
  MessageRoute makeRoute(std::uint32_t node, std::uint32_t peer_node, const Shift& farthest,
                         const std::vector<Routes::Hop>& hops);

  const ScheduleView& schedule_;
  const Machine& machine_;
  ir::NodeClasses classes_;
  const bool has_links_;
  Routes routes_;
  GraphRoutes graph_routes_;
  std::uint64_t route_links_ = 0;  // of routes on the graph
  SimulationGraph graph_;
  std::vector<TaskDependence> dependences_;  // of all tasks, in their order
  std::uint32_t cores_ = 1;                  // of a rank
  std::vector<std::uint32_t> links_;        // resource by node, axis, direction; by link of a graph
  std::vector<std::uint32_t> route_index_;  // by class, and shift or loop over peers
  std::map<Shift, std::uint32_t> ways_;     // routes without links
  std::map<std::pair<std::uint32_t, double>, std::uint32_t> memory_groups_;
  std::vector<std::uint32_t> broken_routes_;  // over dead links or nodes, or without a link
};

/// An error if the machine has another shape or other dead nodes than the schedule.
llvm::Error checkMachine(const Topology& topology, const Machine& machine);

}  // namespace torc::model

#endif  // TORC_MODEL_SIMULATOR_SIMULATION_BUILDER_H_
