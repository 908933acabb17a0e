// The cost model of chunks against the event simulation of the schedules that the passes make.
#include "model/pipeline_cost.h"

#include <gtest/gtest.h>

#include "compiler/compile.h"
#include "model/simulator.h"

namespace torc {
namespace {

constexpr double kBytes[] = {1e5, 1e6, 1e8};
constexpr std::uint32_t kChunks[] = {1, 2, 8, 16};

/// A balanced bucket schedule of the collective, its parts in so many chunks; up to coalesce if
/// `chunks` is 0.
Schedule compiled(Collective collective, const Topology& topology, std::uint32_t chunks) {
  const Algorithm* bucket = cantFail(findAlgorithm("bucket"));
  PipelineOptions options;
  options.weights = "balanced";
  options.chunks = chunks;
  options.in_flight = 1;
  const std::string steps =
      chunks == 0 ? std::string("expand-rings,coalesce") : stepPipeline(options);
  PassManagerOptions manager;
  manager.verify_each = false;
  return cantFail(compile({collective, topology}, *bucket,
                          planPipeline(*bucket, options) + "," + steps, manager))
      .schedule;
}

TEST(PipelineCost, PredictsWhatTheSimulatorMeasures) {
  for (const char* shape : {"4x4x2", "8x4", "5x3x4", "2x2x16", "4x4x4m", "6mx3m", "4x2m", "7"}) {
    const Machine machine = cantFail(partitionOf(cantFail(findMachine("generic")), shape));
    const Topology topology = cantFail(topologyOf(machine));
    for (int c = 0; c < kCollectiveCount; ++c) {
      const auto collective = static_cast<Collective>(c);
      const Schedule uncut = compiled(collective, topology, 0);
      for (const double bytes : kBytes) {
        const PipelineCost cost(uncut.view(), machine, bytes);
        for (const std::uint32_t chunks : kChunks) {
          const Schedule schedule = compiled(collective, topology, chunks);
          SimulateOptions options;
          options.bytes = bytes;
          const double simulated = cantFail(simulate(schedule.view(), machine, options)).makespan_s;
          EXPECT_NEAR(cost.seconds(chunks) / simulated, 1.0, 0.12)
              << traits(collective).name << " on " << shape << ", " << bytes << " bytes, " << chunks
              << " chunks";
        }
      }
    }
  }
}

TEST(PipelineCost, ReductionsTakeTheirTimeInEveryStep) {
  Machine machine = cantFail(partitionOf(cantFail(findMachine("generic")), "4"));
  machine.alpha = 0;
  machine.gamma = 2e-9;  // twice the time of a link
  const Schedule uncut = compiled(Collective::kReduceScatter, cantFail(topologyOf(machine)), 0);
  // 3 steps of n/8 bytes in each direction, which then are reduced; one core needs 3/4 n gamma.
  EXPECT_NEAR(PipelineCost(uncut.view(), machine, 8e6).seconds(1), 12e-3, 1e-9);
  machine.cores = 4;
  EXPECT_NEAR(PipelineCost(uncut.view(), machine, 8e6).seconds(1), 9e-3, 1e-9);
}

TEST(PipelineCost, TakesTheFewestChunksThatAreAsGood) {
  const Machine machine = cantFail(partitionOf(cantFail(findMachine("generic")), "4x4x2"));
  const Schedule uncut = compiled(Collective::kAllreduce, cantFail(topologyOf(machine)), 0);
  EXPECT_EQ(PipelineCost(uncut.view(), machine, 1e4).bestChunks(256), 1u);
  EXPECT_EQ(PipelineCost(uncut.view(), machine, 1e6).bestChunks(256), 4u);
  EXPECT_EQ(PipelineCost(uncut.view(), machine, 1e9).bestChunks(256), 16u);
  EXPECT_EQ(PipelineCost(uncut.view(), machine, 1e9).bestChunks(8), 8u);
  // On a symmetric torus all phases are of one length, and nothing is to be overlapped.
  const Machine cube = cantFail(partitionOf(machine, "4x4x4"));
  const Schedule symmetric = compiled(Collective::kAllreduce, cantFail(topologyOf(cube)), 0);
  EXPECT_EQ(PipelineCost(symmetric.view(), cube, 1e9).bestChunks(256), 1u);
}

}  // namespace
}  // namespace torc
