// Breadth-first broadcast against its formulas: loads of fractions, steps, routes; proved
// for all collectives on random tori.
#include "compiler/algorithms/bfb/bfb.h"

#include <cstdlib>
#include <set>
#include <tuple>

#include <gtest/gtest.h>
#include <llvm/ADT/STLExtras.h>

#include "compiler/algorithms/bfb/bfb_routes.h"
#include "compiler/compile.h"
#include "ir/verifier/verifier.h"

namespace torc::compiler {
namespace {

/// What the bandwidth bound of an allgather asks of a link over its capacity, in blocks.
double bound(const Topology& topology) {
  double capacity = 0;
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    if (topology.axes[i].size > 1) capacity += 2 * topology.capacity(i);
  }
  return (static_cast<double>(topology.ranks()) - 1) / capacity;
}

std::uint32_t diameter(const Topology& topology) {
  std::uint32_t sum = 0;
  for (std::uint32_t i = 0; i < topology.axis_count; ++i)
    sum += topology.axes[i].size / 2;
  return sum;
}

// NSDI'25 on tori, computed independently (one program for all offsets, no reflection classes).
TEST(BfbRoutes, LoadsOfFractions) {
  for (const auto& [shape, ratio] : {std::pair("3x4", 1.0),
                                     {"4x8", 1.0},
                                     {"5x7", 1.0},
                                     {"4x40", 1.0},
                                     {"4x8x16", 1.0},
                                     {"3x3x16", 1.0},
                                     {"4x4x64", 1.0},
                                     {"8x32x16", 1.0},
                                     {"4x4x4", 1.0},
                                     {"2x2x2", 1.0},
                                     {"2x8", 1.06667},
                                     {"2x2x32", 1.01575}}) {
    const Topology topology = *parseTopology(shape);
    const BfbRoutes routes = cantFail(bfbRoutes(topology));
    EXPECT_NEAR(routes.divided_load / bound(topology), ratio, 2e-5) << shape;
    EXPECT_GE(routes.load, routes.divided_load * (1 - 1e-9)) << shape;
    EXPECT_EQ(routes.steps.size(), diameter(topology)) << shape;
  }
}

TEST(BfbRoutes, PartsComeCloseToFractions) {
  for (const char* shape : {"8x8x8", "8x32x16", "4x4x64", "4x8x16", "16x4"}) {
    const BfbRoutes routes = cantFail(bfbRoutes(*parseTopology(shape)));
    EXPECT_LE(routes.load / routes.divided_load, 1.01) << shape << " in " << routes.parts;
  }
}

TEST(BfbRoutes, StepsAreHalfTheRings) {
  for (const auto& [shape, steps] :
       {std::pair("4x4x4", 6u), {"8x8x8", 12u}, {"8x32x16", 28u}, {"40x32x16", 44u}}) {
    EXPECT_EQ(cantFail(bfbRoutes(*parseTopology(shape))).steps.size(), steps) << shape;
  }
}

TEST(BfbRoutes, EveryPartOfEveryBlockComesOnceFromNearer) {
  for (const char* shape : {"5x4", "2x3x4", "2mx5", "6x1x2"}) {
    const Topology topology = *parseTopology(shape);
    const BfbRoutes routes = cantFail(bfbRoutes(topology));
    std::set<std::int32_t> blocks;
    for (std::size_t t = 1; t <= routes.steps.size(); ++t) {
      for (const BfbRoute& route : routes.steps[t - 1]) {
        const std::int32_t block = topology.neighbour({}, route.offset);
        EXPECT_TRUE(blocks.insert(block).second) << shape << " block " << block;
        std::size_t distance = 0;
        for (const std::int32_t hops : route.offset)
          distance += static_cast<std::size_t>(std::abs(hops));
        EXPECT_EQ(distance, t);
        std::uint32_t next = 0;
        for (const BfbShare& share : route.shares) {
          EXPECT_EQ(share.first, next);
          next += share.count;
          const BfbLink& link = routes.links[share.link];
          const std::int32_t hops = route.offset[link.axis];
          const bool halfway =
              2 * static_cast<std::uint32_t>(std::abs(hops)) == topology.axes[link.axis].size;
          EXPECT_TRUE(hops * link.sign > 0 || (hops != 0 && halfway)) << shape;
        }
        EXPECT_EQ(next, routes.parts);
      }
    }
    EXPECT_EQ(blocks.size(), topology.ranks() - 1) << shape;
  }
}

TEST(BfbRoutes, UnequalLinksAreBalanced) {
  Topology topology = *parseTopology("8x8");
  topology.axes[1].bandwidth = 3;
  const BfbRoutes routes = cantFail(bfbRoutes(topology));
  // The first step alone is bound to the slow links: a block each way on all of them.
  EXPECT_LT(routes.divided_load / bound(topology), 1.2);
  EXPECT_LE(routes.load / routes.divided_load, 1.02);
}

TEST(Bfb, TakesAPhaseForEachStep) {
  for (const char* shape : {"1", "4", "3x4", "4x2x3", "5x4", "2mx4"}) {
    for (const Collective collective :
         {Collective::kAllgather, Collective::kReduceScatter, Collective::kAllreduce}) {
      const Topology topology = *parseTopology(shape);
      const Schedule schedule = cantFail(lowerBfb({collective, topology})).schedule;
      const ir::VerifyResult result = ir::verify(schedule.view());
      EXPECT_EQ(result.cells, 1u);
      std::uint32_t phases = 0;
      for (const Operation& operation : schedule.operations) {
        if (sends(operation.kind)) phases = operation.phase + 1u;
      }
      EXPECT_EQ(phases, (collective == Collective::kAllreduce ? 2 : 1) * diameter(topology))
          << shape;
    }
  }
}

TEST(Bfb, OneMessagePerLinkAndStep) {
  const Schedule schedule =
      cantFail(lowerBfb({Collective::kAllreduce, *parseTopology("4x6x3")})).schedule;
  std::set<std::tuple<std::uint32_t, std::uint32_t>> used;  // phase, stream: a link each
  for (const Operation& operation : schedule.operations) {
    if (!sends(operation.kind)) continue;
    EXPECT_TRUE(used.insert({operation.phase, operation.stream}).second);
  }
}

// What the proof reports of links is what the routes promised.
TEST(Bfb, CarriesWhatTheRoutesSay) {
  const Topology topology = *parseTopology("4x8x4");
  const BfbRoutes routes = cantFail(bfbRoutes(topology));
  const ir::VerifyResult result =
      ir::verify(cantFail(lowerBfb({Collective::kAllgather, topology})).schedule.view());
  std::vector<double> largest(routes.steps.size(), 0);
  for (const ir::LinkLoad& load : result.loads)
    largest[load.phase] = std::max(largest[load.phase], load.share);
  double sum = 0;
  for (const double load : largest)
    sum += load * static_cast<double>(topology.ranks());
  EXPECT_NEAR(sum, routes.load, 1e-9);
}

}  // namespace
}  // namespace torc::compiler
