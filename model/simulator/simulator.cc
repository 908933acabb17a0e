#include "model/simulator/simulator.h"

#include <optional>

#include "ir/families/families.h"
#include "model/simulator/routes.h"
#include "model/simulator/simulation.h"
#include "model/simulator/simulation_graph.h"
#include "schedules/root.h"

namespace torc {

std::string_view name(WaitedFor what) {
  static constexpr std::string_view kNames[] = {"nothing", "dependence", "peer", "core", "port"};
  return kNames[static_cast<int>(what)];
}

llvm::Expected<SimulateResult> simulate(const ScheduleView& any_root, const Machine& machine,
                                        const SimulateOptions& options) {
  const RootedSchedule rooted(any_root, 0);
  // With few ports messages wait for one another, one by one.
  std::optional<UnrolledSchedule> unrolled;
  if (!options.per_rank && hasFamilies(rooted.view())) {
    const NodeClasses classes(rooted.view(), false);
    if (machine.ports > 0 || differAlongFamilies(rooted.view(), classes)) {
      const double tasks = unrolledOperations(rooted.view()) * classes.count();
      if (llvm::Error error = checkTaskCount(rooted.view(), classes.count(), tasks)) {
        return error;
      }
      unrolled = unrollFamilies(rooted.view());
    }
  }
  const ScheduleView schedule = unrolled ? unrolled->schedule.view() : rooted.view();
  llvm::Expected<SimulationGraph> graph =
      options.per_rank
          ? graphOfRanks(schedule, machine,
                         static_cast<std::uint64_t>(options.bytes / options.element_bytes),
                         options.element_bytes)
          : graphOfClasses(schedule, machine, options.bytes);
  if (!graph) return graph.takeError();
  Simulation simulation(*graph, machine, options);
  if (const std::uint64_t pending = simulation.run(); pending > 0) {
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   "deadlock: " + std::to_string(pending) +
                                       " operations never complete, the first is " +
                                       graph->taskName(simulation.firstPending()));
  }
  return simulation.result();
}

}  // namespace torc
