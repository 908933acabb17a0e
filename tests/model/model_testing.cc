#include "tests/model/model_testing.h"

#include <gtest/gtest.h>

#include "ir/text/text.h"

namespace torc::model {

Schedule compiled(Collective collective, std::string_view shape,
                  const compiler::PipelineOptions& options, const char* algorithm) {
  return compiled(collective, *parseTopology(shape), options, algorithm);
}

Schedule compiled(Collective collective, const Topology& topology,
                  const compiler::PipelineOptions& options, const char* algorithm) {
  const compiler::Algorithm* found = cantFail(compiler::findAlgorithm(algorithm));
  passes::PassManagerOptions manager;
  manager.verify_each = false;
  return cantFail(compiler::compile({collective, topology}, *found,
                                    compiler::pipelineOf(*found, options), manager))
      .schedule;
}

Schedule allgatherOf(const std::string& torus, const std::string& body) {
  std::string order;
  for (const char c : torus) {
    if ('A' <= c && c <= 'Z') order += c;
  }
  const std::string text = "schedule @test {\n collective allgather\n topology torus [" + torus +
                           "] order " + order + "\n producer \"\"\n" + body + "}\n";
  llvm::Expected<ir::Program> program = ir::parseProgram(text, "test");
  if (program) return program->schedule;
  ADD_FAILURE() << llvm::toString(program.takeError());
  return {};
}

Machine unitMachine(const Topology& topology) {
  Machine machine;
  machine.name = "unit";
  for (int i = 0; i < topology.dimensions(); ++i) {
    const Axis& axis = topology.axes[static_cast<std::size_t>(i)];
    MachineDimension dimension;
    dimension.size = axis.size;
    dimension.torus = axis.kind == AxisKind::kTorus;
    dimension.bandwidth = axis.bandwidth;
    machine.dimensions.push_back(dimension);
  }
  if (topology.hasCores()) machine.cores = topology.axes[topology.axis_count - 1].size;
  machine.dead_links.assign(topology.deadLinks().begin(), topology.deadLinks().end());
  machine.dead_nodes.assign(topology.deadNodes().begin(), topology.deadNodes().end());
  return machine;
}

void expectClose(double value, double expected) {
  EXPECT_NEAR(value, expected, 1e-9 * expected);
}

double makespan(const Schedule& schedule, const Machine& machine, double bytes) {
  llvm::Expected<SimulateResult> result = simulate(schedule.view(), machine, {.bytes = bytes});
  if (result) return result->makespan_s;
  ADD_FAILURE() << llvm::toString(result.takeError());
  return 0;
}

std::string simulationError(const Schedule& schedule, const Machine& machine) {
  llvm::Expected<SimulateResult> result = simulate(schedule.view(), machine, {.bytes = 1});
  if (!result) return llvm::toString(result.takeError());
  ADD_FAILURE() << "no error";
  return "";
}

}  // namespace torc::model
