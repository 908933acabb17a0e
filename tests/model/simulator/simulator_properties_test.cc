// The simulator on random compilations and machines: one node for all against every rank, no time
// below the needs of links and cores, critical paths without gaps.
#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "model/bounds/link_loads.h"
#include "tests/draw.h"
#include "tests/model/model_testing.h"
#include "tests/properties/random_case.h"

namespace torc::model {
namespace {

/// Some costs, the others 0.
Machine drawMachine(const Topology& topology) {
  Machine machine = unitMachine(topology);
  for (MachineDimension& dimension : machine.dimensions) {
    dimension.bandwidth = draw(1, 4);
    dimension.latency = draw(0, 2);
  }
  machine.alpha = draw(0, 3) * 0.5;
  machine.overhead = draw(0, 2) * 0.25;
  machine.latency = draw(0, 2);
  machine.gamma = draw(0, 2) * 0.125;
  machine.memory_bandwidth = draw(0, 2) * 8;
  machine.cores *= draw(1, 2);
  machine.ports = draw(0, 3);
  machine.eager = draw(0, 1) * draw(0, 100);
  machine.buffered = draw(0, 1) * draw(0, 200);
  machine.injection = draw(0, 1) * draw(1, 8);
  // Of the cores of a node one stands for all, and then they go through the interface together.
  if (!topology.hasCores()) machine.message_gap = draw(0, 2) * 0.25;
  return machine;
}

/// Bytes of which every part of every block has a whole number of 4-byte elements.
double evenBytes(const Schedule& schedule) {
  std::uint64_t weights = 0, pieces = 1;
  for (const Color& color : schedule.colors) {
    weights += color.weight;
    pieces = std::lcm(pieces, std::uint64_t{color.directions} * color.chunks);
  }
  return 4.0 *
         static_cast<double>(weights * pieces * schedule.segments * schedule.topology.ranks());
}

SimulateResult run(const Schedule& schedule, const Machine& machine,
                   const SimulateOptions& options) {
  llvm::Expected<SimulateResult> result = simulate(schedule.view(), machine, options);
  if (!result) RC_FAIL(llvm::toString(result.takeError()));
  return std::move(*result);
}

bool close(double a, double b) {
  return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b));
}

RC_GTEST_PROP(Simulator, OneNodeStandsForAll, ()) {
  const CompileCase test_case = drawCase(24);
  RC_LOG() << test_case.text() << std::endl;
  const Schedule schedule = compileCase(test_case);
  const Machine machine = drawMachine(schedule.topology);
  SimulateOptions options;
  options.bytes = evenBytes(schedule) * draw(1, 5);
  const SimulateResult classes = run(schedule, machine, options);
  options.per_rank = true;
  const SimulateResult ranks = run(schedule, machine, options);
  RC_LOG() << classes.makespan_s << " " << ranks.makespan_s << std::endl;
  RC_ASSERT(ranks.nodes == schedule.topology.ranks());
  RC_ASSERT(classes.messages == ranks.messages);
  RC_ASSERT(classes.steps == ranks.steps);
  RC_ASSERT(classes.links.size() == ranks.links.size());
  for (std::size_t i = 0; i < classes.links.size(); ++i) {
    RC_ASSERT(classes.links[i].link_class == ranks.links[i].link_class);
    RC_ASSERT(close(classes.links[i].bytes, ranks.links[i].bytes));
  }
  RC_ASSERT(close(classes.makespan_s, ranks.makespan_s));
}

RC_GTEST_PROP(Simulator, StepsFollowOneAnotherOnTheCriticalPath, ()) {
  const CompileCase test_case = drawCase(64);
  RC_LOG() << test_case.text() << std::endl;
  const Schedule schedule = compileCase(test_case);
  const Machine machine = drawMachine(schedule.topology);
  SimulateOptions options;
  options.bytes = draw(0, 10000);
  options.critical_path = true;
  const SimulateResult result = run(schedule, machine, options);
  double time = 0;
  for (const CriticalStep& step : result.critical_path) {
    RC_ASSERT(std::abs(step.start_s - time) <= 1e-9 * result.makespan_s);
    RC_ASSERT(step.end_s >= step.start_s * (1 - 1e-12));
    time = step.end_s;
  }
  // Of a pipeline some segments are simulated, and what more of them take is added.
  RC_ASSERT(time <= result.makespan_s);
  if (schedule.segments == 1) {
    RC_ASSERT(time == result.makespan_s);
  }
  if (!result.critical_path.empty()) {
    RC_ASSERT(result.critical_path.front().waited_for == WaitedFor::kNothing);
  }
}

RC_GTEST_PROP(Simulator, TakesNoLessThanLinksAndCoresNeed, ()) {
  const CompileCase test_case = drawCase(200);
  RC_LOG() << test_case.text() << std::endl;
  const Schedule schedule = compileCase(test_case);
  const Machine machine = drawMachine(schedule.topology);
  SimulateOptions options;
  options.bytes = draw(1, 10000);
  SimulateResult result = run(schedule, machine, options);
  // Signals have no bytes.
  std::erase_if(result.links, [](const LinkUse& use) { return use.bytes == 0; });
  const LinkLoads loads = cantFail(exactLinkLoads(schedule.view()));
  RC_ASSERT(loads.totals.size() == result.links.size());
  const double least = 1 - 1e-9;
  for (std::size_t i = 0; i < loads.totals.size(); ++i) {
    const LinkUse& use = result.links[i];
    RC_ASSERT(loads.totals[i].link == use.link_class);
    RC_ASSERT(close(use.bytes, loads.totals[i].share.value() * options.bytes));
    RC_ASSERT(use.busy_s >= least * use.bytes / machine.linkBandwidth(use.link_class.axis));
    RC_ASSERT(result.makespan_s >= least * use.busy_s);
  }
  if (rowOf(schedule.collective).reduces()) {
    const auto ranks = static_cast<double>(schedule.topology.ranks());
    const double per_rank = (ranks - 1) / ranks * options.bytes * machine.gamma;
    RC_ASSERT(result.makespan_s >= least * per_rank / std::max(1u, machine.cores));
  }
  RC_ASSERT(result.makespan_s >= least * static_cast<double>(result.steps) * machine.alpha);
}

}  // namespace
}  // namespace torc::model
