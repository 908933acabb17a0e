// No compiled schedule is simulated to be faster than its lower bound: random collectives, shapes,
// pipelines and machines, with every term of the bound among them.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "model/bounds/bounds.h"
#include "tests/draw.h"
#include "tests/model/model_testing.h"
#include "tests/properties/random_case.h"

namespace torc::model {
namespace {

RC_GTEST_PROP(Bounds, NoScheduleIsFaster, ()) {
  const CompileCase test_case = drawCase(200);
  RC_LOG() << test_case.text() << std::endl;
  const Schedule schedule = compileCase(test_case);
  const Topology& topology = schedule.topology;
  Machine machine = unitMachine(topology);
  if (topology.hasCores()) machine.ranks_per_node = machine.cores;
  for (MachineDimension& dimension : machine.dimensions) {
    dimension.bandwidth = draw(1, 4);
    dimension.latency = draw(0, 2);
  }
  machine.alpha = draw(0, 3) * 0.5;
  machine.overhead = draw(0, 2) * 0.25;
  machine.latency = draw(0, 2);
  machine.gamma = draw(0, 2) * 0.25;
  machine.memory_bandwidth = draw(0, 2) * 4;
  machine.ports = draw(0, 3);
  const double bytes = draw(0, 2) == 0 ? draw(0, 10) : draw(10, 1000000);
  const Bound bound = lowerBound(machine, {rowOf(schedule.collective), bytes});
  SimulateOptions options;
  options.bytes = bytes;
  llvm::Expected<SimulateResult> result = simulate(schedule.view(), machine, options);
  if (!result) RC_FAIL(llvm::toString(result.takeError()));
  RC_LOG() << result->makespan_s << " against " << bound.bandwidth_s << " " << bound.compute_s
           << " " << bound.latency_s << std::endl;
  if (bytes > 0) RC_ASSERT(result->makespan_s >= bound.bound_s * (1 - 1e-9));
  RC_CLASSIFY(bound.bound_s == bound.bandwidth_s, "bandwidth");
  RC_CLASSIFY(bound.bound_s == bound.compute_s, "compute");
  RC_CLASSIFY(bound.bound_s == bound.latency_s, "latency");
  // What reduces, then gathers, does not beat that either.
  if (bound.reduce_scatter_allgather_s) {
    RC_ASSERT(result->makespan_s >= *bound.reduce_scatter_allgather_s * (1 - 1e-9));
  }
}

}  // namespace
}  // namespace torc::model
