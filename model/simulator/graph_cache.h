// Graphs that were made, kept: what is simulated for one size is, mostly, what is simulated for the
// next, and of other segments the steps are the same.
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

/// Threads may share it. The schedules that are simulated with it must outlive it.
class GraphCache {
 public:
  /// The graph of the same steps on the same machine, by classes or by ranks; null: there is none.
  /// Its segments and their bytes are those of another simulation.
  std::shared_ptr<const SimulationGraph> find(const ScheduleView& schedule, const Machine& machine,
                                              bool per_rank);
  /// Keeps a graph of graphOfClasses(); what has not been used for long makes room for it.
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
  std::list<Entry> entries_;  // used last first
  std::size_t tasks_ = 0;
};

}  // namespace torc::model

#endif  // TORC_MODEL_SIMULATOR_GRAPH_CACHE_H_
