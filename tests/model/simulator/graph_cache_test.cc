// Cached graphs: the same results as without them, after any other simulations.
#include "model/simulator/graph_cache.h"

#include <gtest/gtest.h>

#include "compiler/algorithms/algorithm.h"
#include "tests/model/model_testing.h"

namespace torc::model {
namespace {

Schedule reduce(std::uint32_t segments, std::uint32_t window = 0) {
  return compiled(Collective::kReduce, "4x3", {.chunks = segments, .window = window},
                  "rectangular");
}

TEST(GraphCache, ChangesNoResult) {
  std::vector<Schedule> schedules;
  for (const std::uint32_t segments : {1u, 2u, 40u, 300u})
    schedules.push_back(reduce(segments));
  schedules.push_back(reduce(40, 2));
  schedules.push_back(schedules[2]);
  schedules.back().flags |= kSynchronousSends;
  Machine plain = unitMachine(schedules.front().topology);
  plain.alpha = 0.5;
  Machine other = plain;
  other.gamma = 0.25;
  other.buffered = 40;
  GraphCache graphs;
  for (int round = 0; round < 2; ++round) {
    for (const Machine& machine : {plain, other}) {
      for (const Schedule& schedule : schedules) {
        for (const double bytes : {480.0, 48000.0}) {
          for (const bool per_rank : {false, true}) {
            const SimulateOptions options{.bytes = bytes, .per_rank = per_rank};
            const SimulateResult fresh = cantFail(simulate(schedule.view(), machine, options));
            const SimulateResult kept =
                cantFail(simulate(schedule.view(), machine, options, &graphs));
            EXPECT_EQ(fresh.makespan_s, kept.makespan_s);
            EXPECT_EQ(fresh.steps, kept.steps);
            EXPECT_EQ(fresh.buffers, kept.buffers);
          }
        }
      }
    }
  }
}

TEST(GraphCache, FindsTheSameStepsInOtherSegments) {
  const Schedule some = reduce(40), more = reduce(300), one = reduce(1), narrow = reduce(40, 2);
  const Machine machine = unitMachine(some.topology);
  GraphCache graphs;
  SimulateOptions options;
  options.bytes = 4800;
  EXPECT_EQ(graphs.find(some.view(), machine, false), nullptr);
  cantFail(simulate(some.view(), machine, options, &graphs));
  const auto found = graphs.find(more.view(), machine, false);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found, graphs.find(some.view(), machine, false));
  EXPECT_EQ(graphs.find(some.view(), machine, true), nullptr);
  EXPECT_EQ(graphs.find(one.view(), machine, false), nullptr);
  EXPECT_EQ(graphs.find(narrow.view(), machine, false), nullptr);
  Machine slower = machine;
  slower.gamma = 1;
  EXPECT_EQ(graphs.find(some.view(), slower, false), nullptr);
}

}  // namespace
}  // namespace torc::model
