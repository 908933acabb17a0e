// Binomial trees of ranks in any places: against times worked out by hand, and against torc's
// simulator where the places are those of a torus and no link is shared.
#include "studies/logp/placed_tree.h"

#include <gtest/gtest.h>
#include <llvm/Support/Error.h>

#include "compiler/choice/choice.h"
#include "tests/studies/partition.h"

namespace torc::studies {
namespace {

constexpr double kMegabyte = 1e6;
// Of Blue Gene/P: 375 MB/s a link; o + L of a message; hops.
constexpr double kWire = kMegabyte / 375e6;

model::Machine ring(const char* shape) {
  return partition("bgp", shape);
}

double startUp(const model::Machine& machine, int hops) {
  return machine.overhead + machine.alpha + machine.latency + hops * machine.dimensions[0].latency;
}

TEST(PlacedTree, OneRankHasItAlready) {
  EXPECT_EQ(placedBinomialMulticast(ring("8"), {Coordinates{0}}, kMegabyte), 0);
}

TEST(PlacedTree, GoesTheShorterWayRound) {
  const model::Machine machine = ring("8");
  EXPECT_NEAR(placedBinomialMulticast(machine, {Coordinates{1}, Coordinates{6}}, kMegabyte),
              startUp(machine, 3) + kWire, 1e-12);
}

TEST(PlacedTree, HasAStageForEachDoublingWhereNoLinkIsShared) {
  const model::Machine machine = ring("8");
  llvm::SmallVector<Coordinates, 8> places;
  for (std::int32_t x = 0; x < 8; ++x)
    places.push_back({x});
  EXPECT_NEAR(placedBinomialMulticast(machine, places, kMegabyte),
              startUp(machine, 4) + startUp(machine, 2) + startUp(machine, 1) + 3 * kWire, 1e-12);
  // Six ranks: 0 to 4, then 0 to 2 and 4 to 5; last 0 to 1 and 2 to 3.
  places.truncate(6);
  EXPECT_NEAR(placedBinomialMulticast(machine, places, kMegabyte),
              startUp(machine, 4) + startUp(machine, 2) + startUp(machine, 1) + 3 * kWire, 1e-12);
}

// 0 to 2 and then, from places 0 and 3, two messages over the link from 3 to 4 at once.
TEST(PlacedTree, SharesLinks) {
  const model::Machine machine = ring("16");
  const Coordinates places[] = {{0}, {4}, {3}, {5}};
  const double first = startUp(machine, 3) + kWire;
  // Rank 0's message to rank 1 goes 0..4, rank 2's to rank 3 goes 3..5: half of the link each.
  // The one that starts earlier, over fewer hops, has the link alone for as long.
  const double head_start = startUp(machine, 4) - startUp(machine, 2);
  const double slower = startUp(machine, 4) + 2 * kWire - head_start;
  EXPECT_NEAR(placedBinomialMulticast(machine, places, kMegabyte), first + slower, 1e-9);
}

TEST(PlacedTree, RanksOfOnePlaceTakeItsMemory) {
  const model::Machine machine = ring("8");
  const Coordinates both[] = {{3}, {3}};
  EXPECT_NEAR(placedBinomialMulticast(machine, both, kMegabyte),
              startUp(machine, 0) + 2 * kMegabyte / machine.memory_bandwidth, 1e-12);
}

// torc's own tree in one chunk is the same on a ring of four, on which no link is shared.
TEST(PlacedTree, AgreesWithTheSimulator) {
  const model::Machine machine = ring("4");
  const compiler::CollectiveSpec spec{Collective::kBroadcast,
                                      llvm::cantFail(model::topologyOf(machine))};
  compiler::ChoiceLimits limits;
  limits.algorithm = llvm::cantFail(compiler::findAlgorithm("binomial"));
  limits.chunks = 1;
  const double simulated =
      llvm::cantFail(compiler::choose(spec, machine, kMegabyte, limits)).best().predicted_s;
  const Coordinates places[] = {{0}, {1}, {2}, {3}};
  EXPECT_NEAR(placedBinomialMulticast(machine, places, kMegabyte) / simulated, 1, 0.01);
}

}  // namespace
}  // namespace torc::studies
