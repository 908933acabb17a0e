// What graphs of classes and graphs of ranks have in common: tasks, links, routes and memories of a
// machine.
#ifndef TORC_MODEL_SIMULATOR_SIMULATION_BUILDER_H_
#define TORC_MODEL_SIMULATOR_SIMULATION_BUILDER_H_

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
  /// Both must outlive this. `classes` are those of the schedule, not too many (checkTaskCount);
  /// the machine has its shape (checkMachine).
  SimulationBuilder(const ScheduleView& schedule, const Machine& machine, ir::NodeClasses classes);

  const ir::NodeClasses& classes() const { return classes_; }
  SimulationGraph& graph() { return graph_; }

  /// Appends the task of operation `index` on `node`, which moves `bytes`.
  void addTask(std::uint32_t node, std::uint32_t index, double bytes);
  /// The same for one message of a loop over peers, sent to the rank `peer` or received from it.
  void addMessage(std::uint32_t node, std::uint32_t index, double bytes, std::int32_t peer);
  /// Appends a task that does nothing: dependences pass through it.
  void addPass(std::uint32_t node, std::uint32_t index);

  /// Makes two tasks the ends of a message.
  void match(std::uint32_t send, std::uint32_t receive);
  /// An error where a send or a receive has no other end, or a message goes over what is dead, or
  /// routes on a graph are too long in all.
  llvm::Error checkMessages() const;

  /// Call last: task i depends on those of `dependences` from `first[i]` to `first[i + 1]`.
  void layDependences(std::vector<std::uint32_t> first,
                      const std::vector<TaskDependence>& dependences);

 private:
  void addInjection(Task& task) const;
  std::uint32_t blocksApart(std::uint32_t node, const Operation& operation) const;
  std::uint32_t memoryGroup(std::uint32_t node, double traffic, double limit);
  std::uint32_t linkResource(const Routes::Hop& hop);
  std::uint32_t routeOf(std::uint32_t node, const Operation& operation);
  std::uint32_t graphLinkResource(std::uint32_t link);
  MessageRoute makeGraphRoute(std::uint32_t node, std::uint32_t peer_node, const Shift& shift);
  MessageRoute makeRoute(std::uint32_t node, std::uint32_t peer_node, const Shift& farthest,
                         const std::vector<Routes::Hop>& hops);

  const ScheduleView& schedule_;
  const Machine& machine_;
  ir::NodeClasses classes_;
  Routes routes_;
  GraphRoutes graph_routes_;
  std::uint64_t route_links_ = 0;  // of routes on the graph
  SimulationGraph graph_;
  std::uint32_t cores_ = 1;                 // of a rank
  std::vector<std::uint32_t> memories_;     // resource by node; empty: no limit
  std::vector<std::uint32_t> links_;        // resource by node, axis, direction; by link of a graph
  std::vector<std::uint32_t> route_index_;  // by class, and shift or loop over peers
  std::map<std::pair<std::uint32_t, double>, std::uint32_t> memory_groups_;
  std::vector<std::uint32_t> broken_routes_;  // over what is dead, or where no link leads
};

/// An error where the machine has not the schedule's shape, or other dead nodes.
llvm::Error checkMachine(const Topology& topology, const Machine& machine);

}  // namespace torc::model

#endif  // TORC_MODEL_SIMULATOR_SIMULATION_BUILDER_H_
