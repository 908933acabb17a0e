// The cost model of chunks against the event simulation of the schedules that the passes make.
#include "model/simulator/pipeline_cost.h"

#include <gtest/gtest.h>

#include "compiler/compile.h"
#include "model/simulator/simulator.h"

namespace torc::model {
namespace {

constexpr double kBytes[] = {1e5, 1e6, 1e8};
constexpr std::uint32_t kChunks[] = {1, 2, 8, 16};

/// A balanced bucket schedule of the collective, its parts in so many chunks; up to coalesce if
/// `chunks` is 0.
Schedule bucketOf(Collective collective, const Topology& topology, std::uint32_t chunks,
                  std::uint32_t in_flight = 1) {
  const compiler::Algorithm* bucket = cantFail(compiler::findAlgorithm("bucket"));
  compiler::PipelineOptions options;
  options.weights = passes::ColorWeights::kBalanced;
  options.chunks = chunks;
  options.in_flight = in_flight;
  const passes::PassPipeline pipeline = chunks == 0 ? compiler::uncutPipeline(*bucket, options)
                                                    : compiler::pipelineOf(*bucket, options);
  passes::PassManagerOptions manager;
  manager.verify_each = false;
  return cantFail(compiler::compile({collective, topology}, *bucket, pipeline, manager)).schedule;
}

TEST(PipelineCost, PredictsWhatTheSimulatorMeasures) {
  for (const char* shape : {"4x4x2", "8x4", "5x3x4", "2x2x16", "4x4x4m", "6mx3m", "4x2m", "7"}) {
    const Machine machine = cantFail(partitionOf(cantFail(findMachine("generic")), shape));
    const Topology topology = cantFail(topologyOf(machine));
    for (const Collective collective :
         {Collective::kAllreduce, Collective::kReduceScatter, Collective::kAllgather}) {
      const Schedule uncut = bucketOf(collective, topology, 0);
      for (const double bytes : kBytes) {
        const PipelineCost cost(uncut.view(), machine, bytes);
        for (const std::uint32_t chunks : kChunks) {
          for (const std::uint32_t in_flight : {1u, 2u}) {
            const Schedule schedule = bucketOf(collective, topology, chunks, in_flight);
            const double simulated =
                cantFail(simulate(schedule.view(), machine, {.bytes = bytes})).makespan_s;
            // Two chunks in flight are taken to fill each other's pauses perfectly.
            const double ratio = cost.seconds(chunks, in_flight) / simulated;
            EXPECT_TRUE(ratio > (in_flight == 1 ? 0.88 : 0.65) && ratio < 1.12)
                << rowOf(collective).name << " on " << shape << ", " << bytes << " bytes, "
                << chunks << " chunks, " << in_flight << " in flight: " << ratio;
          }
        }
      }
    }
  }
}

TEST(PipelineCost, ReductionsTakeTheirTimeInEveryStep) {
  Machine machine = cantFail(partitionOf(cantFail(findMachine("generic")), "4"));
  machine.alpha = 0;
  machine.gamma = 2e-9;  // twice the time of a link
  const Schedule uncut = bucketOf(Collective::kReduceScatter, cantFail(topologyOf(machine)), 0);
  // 3 steps of n/8 bytes in each direction, which then are reduced; one core needs 3/4 n gamma.
  EXPECT_NEAR(PipelineCost(uncut.view(), machine, 8e6).seconds(1, 1), 12e-3, 1e-9);
  machine.cores = 4;
  EXPECT_NEAR(PipelineCost(uncut.view(), machine, 8e6).seconds(1, 1), 9e-3, 1e-9);
  const Schedule moves = bucketOf(Collective::kAllgather, cantFail(topologyOf(machine)), 0);
  EXPECT_EQ(PipelineCost(moves.view(), machine, 8e6).reduceSeconds(), 0);
}

// The paper's reason for pipelining: with two chunks on a link one is reduced while the other
// moves.
TEST(PipelineCost, TwoChunksHideTheReduction) {
  Machine machine = cantFail(partitionOf(cantFail(findMachine("generic")), "8"));
  machine.alpha = 0;
  machine.gamma = 0.5e-9;
  machine.cores = 8;
  const Schedule uncut = bucketOf(Collective::kReduceScatter, cantFail(topologyOf(machine)), 0);
  const PipelineCost cost(uncut.view(), machine, 16e6);
  // 7 steps of 1 MB in each direction, 1 ms each, and half of that to reduce.
  EXPECT_NEAR(cost.seconds(8, 1), 10.5e-3, 1e-6);
  EXPECT_LT(cost.seconds(8, 2), 7.3e-3);
  EXPECT_GE(cost.seconds(8, 2), 7e-3);
}

TEST(PipelineCost, TakesTheFewestChunksThatAreAsGood) {
  const Machine machine = cantFail(partitionOf(cantFail(findMachine("generic")), "4x4x2"));
  const Schedule uncut = bucketOf(Collective::kAllreduce, cantFail(topologyOf(machine)), 0);
  EXPECT_EQ(PipelineCost(uncut.view(), machine, 1e4).bestChunks(1), 1u);
  EXPECT_EQ(PipelineCost(uncut.view(), machine, 1e6).bestChunks(1), 4u);
  EXPECT_EQ(PipelineCost(uncut.view(), machine, 1e9).bestChunks(1), 16u);
  EXPECT_EQ(PipelineCost(uncut.view(), machine, 1e9).bestChunks(1, 8), 8u);
  // On a symmetric torus all phases are of one length, and nothing is to be overlapped.
  const Machine cube = cantFail(partitionOf(machine, "4x4x4"));
  const Schedule symmetric = bucketOf(Collective::kAllreduce, cantFail(topologyOf(cube)), 0);
  EXPECT_EQ(PipelineCost(symmetric.view(), cube, 1e9).bestChunks(1), 1u);
}

// No number is left out that could have been the best.
TEST(PipelineCost, TakesWhatAllNumbersShow) {
  for (const char* shape : {"4x4x2", "9x2", "5mx3"}) {
    const Machine machine = cantFail(partitionOf(cantFail(findMachine("bgp")), shape));
    const Schedule uncut = bucketOf(Collective::kAllreduce, cantFail(topologyOf(machine)), 0);
    for (const std::uint32_t in_flight : {1u, 2u, 4u}) {
      for (double bytes = 64; bytes < 1e9; bytes *= 8) {
        const PipelineCost cost(uncut.view(), machine, bytes);
        std::uint32_t best = 1;
        for (std::uint32_t chunks = 2; chunks <= kMostChunks; chunks *= 2) {
          if (cost.seconds(chunks, in_flight) < cost.seconds(best, in_flight)) best = chunks;
        }
        const std::uint32_t taken = cost.bestChunks(in_flight);
        EXPECT_LE(taken, best);
        EXPECT_LE(cost.seconds(taken, in_flight), 1.002 * cost.seconds(best, in_flight));
      }
    }
  }
}

}  // namespace
}  // namespace torc::model
