// Caches simulation graphs: simulations of different sizes mostly share one, and schedules with
// other numbers of segments have the same steps.
#ifndef TORC_MODEL_SIMULATOR_GRAPH_CACHE_H_
#define TORC_MODEL_SIMULATOR_GRAPH_CACHE_H_

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>

#include "model/machines/machine.h"
#include "model/simulator/simulation_graph.h"
#include "schedules/schedule.h"

namespace torc::model {

/// Thread-safe. The simulated schedules must outlive it.
class GraphCache {
 public:
  /// The graph of the same steps on the same machine, by classes or by ranks; null if there is
  /// none. Its segments and their bytes are those of another simulation.
  std::shared_ptr<const SimulationGraph> find(const ScheduleView& schedule, const Machine& machine,
                                              bool per_rank);
  /// Adds a graph of graphOfClasses(), and evicts the least recently used.
  void add(const ScheduleView& schedule, const Machine& machine, bool per_rank,
           const SimulationGraph& graph);

 private:
  struct Entry {
    ScheduleView schedule;
    Machine machine;
    bool per_rank;
    std::shared_ptr<const SimulationGraph> graph;
  };

  std::mutex mutex_;
  std::list<Entry> entries_;  // most recently used first
  std::size_t tasks_ = 0;
};

}  // namespace torc::model

#endif  // TORC_MODEL_SIMULATOR_GRAPH_CACHE_H_
