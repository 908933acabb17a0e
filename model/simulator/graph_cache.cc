#include "model/simulator/graph_cache.h"

#include <llvm/ADT/STLExtras.h>

namespace torc::model {
namespace {

// Tasks of all cached graphs: some 50 MB, with their dependants and routes.
constexpr std::size_t kMostKept = 250'000;

/// Whether schedules differ at most in their names and numbers of segments.
bool haveSameSteps(ScheduleView a, const ScheduleView& b) {
  if ((a.segments > 1) != (b.segments > 1)) return false;
  if ((a.segments > a.window) != (b.segments > b.window)) return false;
  a.segments = b.segments;
  a.name = b.name;
  a.producer = b.producer;
  return a == b;
}

}  // namespace

std::shared_ptr<const SimulationGraph> GraphCache::find(const ScheduleView& schedule,
                                                        const Machine& machine, bool per_rank) {
  const std::lock_guard lock(mutex_);
  const auto found = llvm::find_if(entries_, [&](const Entry& entry) {
    return entry.per_rank == per_rank && haveSameSteps(schedule, entry.schedule) &&
           entry.machine == machine;
  });
  if (found == entries_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found);
  return found->graph;
}

void GraphCache::add(const ScheduleView& schedule, const Machine& machine, bool per_rank,
                     const SimulationGraph& graph) {
  if (graph.tasks.size() > kMostKept) return;
  const std::lock_guard lock(mutex_);
  tasks_ += graph.tasks.size();
  for (; tasks_ > kMostKept; entries_.pop_back())
    tasks_ -= entries_.back().graph->tasks.size();
  entries_.push_front(
      {schedule, machine, per_rank, std::make_shared<const SimulationGraph>(graph)});
}

}  // namespace torc::model
