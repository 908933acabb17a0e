// Baselines against numbers computed by hand.
#include "studies/baselines/baselines.h"

#include <cmath>

#include <gtest/gtest.h>

namespace torc::studies {
namespace {

/// 4x4, links of 1 byte a second: b = 4, A = 6; start-up 1 s.
model::Machine smallTorus() {
  model::Machine machine;
  machine.dimensions = {{4, true, 1, 0, 0}, {4, true, 1, 0, 0}};
  machine.overhead = 0.25;
  machine.latency = 0.5;
  return machine;
}

TEST(Baselines, SpanningTrees) {
  model::Machine machine = smallTorus();
  // Broadcast of 96 bytes: S = sqrt(6 * 24 / 1) = 12; 18 steps of 1 + 2 seconds.
  EXPECT_DOUBLE_EQ(spanningTreesTime(machine, Collective::kAllreduce, 96), 2 * 18 * 3.0);
  // 16 broadcasts of 6 bytes, a segment each: 22 steps of 1 + 1.5 seconds.
  EXPECT_DOUBLE_EQ(spanningTreesTime(machine, Collective::kAllgather, 96), 22 * 2.5);
  machine.gamma = 1;  // four times what a byte takes to arrive: S = sqrt(6 * 96) = 24
  EXPECT_DOUBLE_EQ(spanningTreesTime(machine, Collective::kAllreduce, 96), 30 * 5.0 + 18 * 3.0);
  EXPECT_DOUBLE_EQ(spanningTreesTime(machine, Collective::kReduceScatter, 96),
                   38 * 4.0);  // 2 segments each
}

TEST(Baselines, BinomialTrees) {
  model::Machine machine = smallTorus();
  EXPECT_DOUBLE_EQ(binomialTreesTime(machine, Collective::kAllreduce, 96), 2 * 4 * 25.0);
  EXPECT_DOUBLE_EQ(binomialTreesTime(machine, Collective::kAllgather, 96), 22.5 + 4 + 100);
  machine.memory_bandwidth = 3;  // a byte reduced takes a second
  EXPECT_DOUBLE_EQ(binomialTreesTime(machine, Collective::kReduceScatter, 96), 4 * 97 + 22.5 + 4);
}

TEST(Baselines, OneNode) {
  model::Machine machine;
  machine.dimensions = {{1, true, 1, 0, 0}};
  EXPECT_EQ(spanningTreesTime(machine, Collective::kAllreduce, 96), 0);
  EXPECT_EQ(binomialTreesTime(machine, Collective::kAllreduce, 96), 0);
}

}  // namespace
}  // namespace torc::studies
