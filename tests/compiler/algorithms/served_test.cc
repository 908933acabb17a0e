// Every algorithm on shapes of one to five axes, with lines and cores: proved, of all nodes at
// once, node by node and for a count, and run, from every root; sums of ranks in their order. Sizes
// of programs, and refused ones.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <llvm/Support/Error.h>

#include "compiler/algorithms/algorithm.h"
#include "ir/verifier/verifier.h"
#include "tests/compiler/algorithms/checks.h"

namespace torc::compiler {
namespace {

using enum Collective;
using Directions = passes::DirectionModel;

struct Served {
  std::vector<const char*> algorithms;
  std::vector<Collective> collectives;
  std::vector<std::uint32_t> chunks;
  std::vector<const char*> shapes;
  std::vector<Directions> directions = {Directions::kBidirectional};
};

const Served kServed[] = {
    {{"recursive-doubling", "recursive-multiplying"},
     {kAllreduce, kReduceScatter, kAllgather, kScan, kExscan},
     {1, 3},
     {"1", "2", "3", "6", "7", "8", "11", "13m", "2x2", "4x3", "2x5+3", "3x1x4", "11x3", "2x11",
      "4x2mx3", "3x2x2x2x2", "8x4"}},
    {{"line-scan"},
     {kScan, kExscan},
     {1, 3, 20},
     {"1", "2", "3", "7m", "2x2", "4x3", "2mx5+3", "3x1x4", "4x2mx3", "3x2x2x2x2"}},
    {{"swing", "groups"},
     {kAllreduce, kReduceScatter, kAllgather},
     {1, 2},
     {"1",  "2",   "3",   "5",     "6",     "7",   "8",      "12",        "11m", "2x2",
      "2m", "4x3", "6x5", "2x5+3", "3x1x4", "9x2", "4x2mx3", "2x2x2x1x2", "8x2", "10x3"}},
    {{"binomial", "bine", "flat"},
     {kBroadcast, kReduce},
     {1, 3},
     {"1", "2", "3", "7", "8", "2x2", "4x3", "2x5+3", "3x1x4", "4x2x3", "3x2x2x2x2", "2mx4"}},
    {{"binomial", "rotated-binomial", "linear"},
     {kScatter, kGather},
     {1, 2},
     {"1", "2", "2m", "3", "7", "8", "2x2", "4x3", "2x5+3", "3x1x4", "5x3x2", "1+3", "2mx4",
      "2x2x2x2", "3x2x1x2x2"}},
    {{"flat-blocks", "rotated-flat-blocks"},
     {kScatter, kGather},
     {1, 3},
     {"1", "2m", "3", "4m", "7m", "4x3m", "2mx5m", "3mx2m+3", "3x1mx4m", "4x4mx3", "2mx2m",
      "3mx2x2mx1x2"}},
    {{"scatter-trees"},
     {kScatter, kGather},
     {1, 2},
     {"1", "2", "2m", "3", "4", "5", "4x3", "2x5", "3x3x4", "2x2x2x2", "2mx3", "3x2+4", "1x4x1",
      "1+3", "10"}},
    {{"dimension-tree"},
     {kBroadcast, kReduce},
     {1, 3},
     {"1", "2", "2m", "3", "4", "5", "3m", "4x3", "2x5", "4mx3", "3mx4m", "2x2x2x2x2", "3x2+4",
      "2mx3m+2", "1x4x1"}},
    {{"rectangular"},
     {kBroadcast, kReduce},
     {1, 7},
     {"1", "2", "3", "4", "7", "2x2", "4x3", "2x5", "3x1x4", "3x3x3", "4x2x3", "2x2x2x2",
      "3x2x2x2x2"}},
    {{"scatter-allgather", "reduce-scatter-gather"},
     {kBroadcast, kReduce},
     {1, 3},
     {"1", "2", "3", "4", "7", "2x2", "4x3", "2x3+3", "3x1x4", "4x2x3", "3x2x1x2x2", "2mx4"},
     {Directions::kUnidirectional, Directions::kBidirectional, Directions::kHalfLatency}},
    {{"direct", "rotated-rings", "rings", "two-phase", "rotated-two-phase", "virtual-mesh",
      "half-planes", "bruck", "aggregated", "distributed", "leader"},
     {kAlltoall},
     {1, 3},
     {"1", "2", "5", "2x2", "4x3", "5x2+3", "3x1x4", "4x2x3", "3x1x2x2x2", "2mx4", "5mx3m"},
     {Directions::kUnidirectional, Directions::kBidirectional}},
    {{"bfb"},
     {kAllgather, kReduceScatter, kAllreduce},
     {1},
     {"1", "2", "3", "4", "2x2", "3x4", "4x2x3", "5x4", "2mx4", "2x2x2x2"}},
    {{"neighbours"},
     {kNeighborAllgather, kNeighborAlltoall},
     {1},
     {"1", "1m", "2", "2m", "3", "3m", "5x1x2", "4x3m", "2mx2", "3x4x5", "2x2mx3x3m", "3x2x2x2x2",
      "2x1x2x2x1x2x3"}},
};

struct ServedCase {
  const char* algorithm;
  Collective collective;
  const char* shape;
  std::vector<std::uint32_t> chunks;
  std::vector<Directions> directions;

  std::string text() const {
    return std::string(algorithm) + ", " + std::string(rowOf(collective).name) + " on " + shape;
  }
  friend void PrintTo(const ServedCase& served, std::ostream* out) { *out << served.text(); }
};

std::vector<ServedCase> servedCases(bool in_order) {
  std::vector<ServedCase> cases;
  for (const Served& served : kServed) {
    const bool has_scan = served.collectives.back() == kExscan;
    if (in_order && !has_scan) continue;
    for (const char* algorithm : served.algorithms) {
      for (const Collective collective : served.collectives) {
        const CollectiveRow& row = rowOf(collective);
        if (!cantFail(findAlgorithm(algorithm))->serves(row)) continue;
        if (in_order && collective != kAllreduce && !row.isPrefix()) continue;
        for (const char* shape : served.shapes)
          cases.push_back({algorithm, collective, shape, served.chunks, served.directions});
      }
    }
  }
  return cases;
}

class EveryAlgorithm : public testing::TestWithParam<ServedCase> {};

TEST_P(EveryAlgorithm, IsProvedAndRuns) {
  const auto& [algorithm, collective, shape, all_chunks, all_directions] = GetParam();
  for (const Directions directions : all_directions) {
    for (const std::uint32_t chunks : all_chunks) {
      // As bidirectional ones, but for less.
      if (directions == Directions::kUnidirectional && chunks > 1) continue;
      SCOPED_TRACE(GetParam().text() + ", " + std::to_string(chunks));
      expectProofAndRuns(compiledBy(algorithm, collective, *parseTopology(shape),
                                    {.directions = directions, .chunks = chunks})
                             .view());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Served, EveryAlgorithm, testing::ValuesIn(servedCases(false)));

class EveryOrderedSum : public testing::TestWithParam<ServedCase> {};

TEST_P(EveryOrderedSum, AddsRanksInTheirOrder) {
  SCOPED_TRACE(GetParam().text());
  std::string names(parseTopology(GetParam().shape)->orderString());
  for (int turn = 0; turn < 2; ++turn, std::ranges::reverse(names)) {
    for (const std::uint32_t chunks : {1u, 3u})
      expectRanksInOrder(compiledInSegments(GetParam().algorithm, GetParam().collective,
                                            *parseTopology(GetParam().shape, names), chunks));
  }
}

INSTANTIATE_TEST_SUITE_P(Served, EveryOrderedSum, testing::ValuesIn(servedCases(true)));

constexpr std::uint64_t kUnproved = 0, kAnyWork = ~std::uint64_t{0};

struct Program {
  const char* algorithm;
  std::vector<Collective> collectives;
  Topology topology;
  std::uint32_t segments;
  std::size_t operations;
  std::uint64_t most_work = kAnyWork;  // of the proof
};

/// Those that grow with the number of axes, with the length of an axis, or with nothing.
std::vector<Program> sizedPrograms() {
  return {
      // A copy; for each axis a send and a receive both ways, however many segments there are.
      {"dimension-tree", {kBroadcast}, *parseTopology("4x4x4"), 1, 13},
      {"dimension-tree", {kBroadcast}, *parseTopology("64x32x32"), 1, 13},
      {"dimension-tree", {kBroadcast}, *parseTopology("512x2x2"), 16, 9},
      // On each of two arms of an axis nodes with children and without send, those on the way
      // receive
      // and add, and so does the root, which adds what comes first in one operation.
      {"dimension-tree", {kReduce}, *parseTopology("8x5x6"), 1, 49},
      {"dimension-tree", {kReduce}, *parseTopology("64x32x32"), 1, 49},
      {"rectangular", {kBroadcast}, *parseTopology("3x3x3"), 1, 72},
      {"rectangular", {kBroadcast}, *parseTopology("8x8x8"), 4000, 72},
      {"rectangular", {kBroadcast}, *parseTopology("1024x4x4"), 4000, 72},
      {"rectangular", {kReduce}, *parseTopology("3x3x3"), 1, 108},
      {"rectangular", {kReduce}, *parseTopology("8x8x8"), 4000, 108},
      {"rectangular", {kReduce}, *parseTopology("1024x4x4"), 4000, 108},
      {"product-trees", {kBroadcast}, *parseTopology("4x5mx4"), 1, 125, kUnproved},
      {"product-trees", {kBroadcast}, *parseTopology("8x8mx8"), 4000, 125},
      {"product-trees", {kBroadcast}, *parseTopology("64x32mx32"), 4000, 125, kUnproved},
      {"product-trees", {kReduce}, *parseTopology("4x5mx4"), 1, 198, kUnproved},
      {"product-trees", {kReduce}, *parseTopology("8x8mx8"), 4000, 198},
      {"product-trees", {kReduce}, *parseTopology("64x32mx32"), 4000, 198, kUnproved},
      {"plane-trees", {kBroadcast}, damaged("5x6x7", {"0,1,2"}), 1, 487, kUnproved},
      {"plane-trees", {kBroadcast}, damaged("12x16x9", {"5,1,7"}), 60, 487, kUnproved},
      {"plane-trees", {kReduce}, damaged("5x6x7", {"0,1,2"}), 1, 738, kUnproved},
      {"plane-trees", {kReduce}, damaged("7x6x8", {"5,1,7"}), 60, 738, kUnproved},
      {"line-scan", {kScan}, *parseTopology("4x4x4"), 16, 27},
      {"line-scan", {kExscan}, *parseTopology("4x4x4"), 16, 25},
      {"line-scan", {kScan}, *parseTopology("64x32x32"), 16, 27, 1000000},
      {"line-scan", {kExscan}, *parseTopology("64x32x32"), 16, 25, 1000000},
      {"line-scan", {kScan}, damaged("8x8x8", {"1,2,1"}), 16, 57, kUnproved},
      {"line-scan", {kScan}, damaged("32x32x32", {"1,2,1"}), 16, 57, kUnproved},
      // Along an axis of d nodes there are d - 1 messages, each with a send and a receive. Those of
      // the root's coordinate, log2(d), are sent once more for each axis before. On the last axis
      // every second of the others copies its own block; so do those at its root's coordinate, by
      // axis, and the root.
      {"binomial", {kScatter, kGather}, *parseTopology("16"), 1, 2 * 15 + 7 + 1},
      {"binomial", {kScatter, kGather}, *parseTopology("16x16"), 1, 2 * 30 + 4 + 7 + 1 + 1},
      {"binomial",
       {kScatter, kGather},
       *parseTopology("16x16x16"),
       1,
       2 * 45 + (4 + 8) + 7 + 2 + 1},
      {"binomial", {kScatter, kGather}, *parseTopology("64x32x32"), 1, 301},
      {"rotated-binomial", {kScatter, kGather}, *parseTopology("16x16x16"), 1, 6 * 112},
      {"rotated-binomial", {kScatter, kGather}, *parseTopology("64x32x32"), 1, 1736},
      {"rotated-binomial", {kScatter, kGather}, *parseTopology("1024x2"), 1, 9244},
      {"rotated-binomial", {kScatter, kGather}, *parseTopology("8x8x8x8x8"), 1, 1080},
      // Both ways round a ring, of each color: a message for each node, whose sender has a copy of
      // its own if it is not the root; and the root's own block.
      {"scatter-trees", {kScatter, kGather}, *parseTopology("9"), 1, 2 * (2 * 8 + 2 + 1)},
      {"scatter-trees", {kScatter, kGather}, *parseTopology("10"), 1, 2 * (2 * 9 + 2 + 1 + 1)},
      {"scatter-trees", {kScatter, kGather}, *parseTopology("64x32x32"), 1, 2774, kUnproved},
      {"neighbours",
       {kNeighborAllgather, kNeighborAlltoall},
       *parseTopology("65536x32x64m"),
       1,
       12},
      {"neighbours", {kNeighborAllgather, kNeighborAlltoall}, *parseTopology("1000x3x3"), 1, 12},
      {"rings", {kAlltoall}, *parseTopology("8x8x8"), 1, 150},
      {"rotated-rings", {kAlltoall}, *parseTopology("8x8x8"), 1, 3 * 150},
      {"rings", {kAlltoall}, *parseTopology("4x4x4x4x4"), 1, 5 * 18},
      // 2N colors and directions, 2 sum (d-1) steps each.
      {"bucket",
       {kAllreduce},
       *parseTopology("64x32x32"),
       1,
       2 * 2 * 6 * (63 + 31 + 31),
       kUnproved},
  };
}

class SizedPrograms : public testing::TestWithParam<Program> {};

TEST_P(SizedPrograms, HaveAsManyOperationsAsTheySay) {
  const auto& [algorithm, collectives, topology, segments, operations, most_work] = GetParam();
  for (const Collective collective : collectives) {
    SCOPED_TRACE(testing::Message() << algorithm << " on " << topology.shape());
    const Algorithm& found = *cantFail(findAlgorithm(algorithm));
    passes::PassManagerOptions unproved;
    unproved.verify_each = false;
    const Schedule schedule = cantFail(compile({collective, topology}, found,
                                               pipelineOf(found, {.chunks = segments}), unproved))
                                  .schedule;
    EXPECT_EQ(schedule.operations.size(), operations);
    if (most_work == kUnproved) continue;
    const ir::VerifyResult proof = ir::verify(schedule.view());
    EXPECT_TRUE(proof.ok()) << proof.faults.front().message;
    EXPECT_LE(proof.work, most_work);
  }
}

INSTANTIATE_TEST_SUITE_P(Served, SizedPrograms, testing::ValuesIn(sizedPrograms()));

TEST(Programs, AreRefusedWhereTheyCannotBe) {
  const Topology dead = damaged("4x4", {"1,1"}), dead_on_line = damaged("4x4m", {"1,1"});
  const Topology sound = *parseTopology("4x4"), line = *parseTopology("4x3m");
  const Topology cores = *parseTopology("4x4+2");
  const std::string product =
      "product-trees: the trees need an axis that is no ring, and no damage but at one coordinate "
      "of an axis";
  const std::string rectangular =
      "rectangular: the trees need a ring along every axis, and no damage";
  const std::string plane = "plane trees: they need a ring along every axis, and one dead node";
  const std::string detour = "detour-trees: they need something dead, and nodes without cores";
  const std::string closed = "closed trees: they need a ring along every axis, and something dead";
  const struct {
    const char* algorithm;
    Collective collective;
    Topology topology;
    std::string message;
  } rows[] = {
      {"closed-trees", kAllreduce, damaged("4mx4", {"1,1"}), closed},
      {"closed-trees", kAllreduce, sound, closed},
      {"spanning-trees", kAllreduce, damaged("16x8x8", {"1,2,3"}),
       "spanning trees: 16x8x8 has 1023 live nodes, each with operations of its own; at most 512 "
       "are served"},
      {"balanced-routes", kAlltoall, damaged("8x8x8", {"1,2,3"}),
       "balanced routes: more than 1000000 hops"},
      {"bfb", kAllgather, line, "bfb: Y is a line: mesh axes are not supported"},
      {"bfb", kAllgather, cores, "bfb: cores are not supported"},
      {"bfb", kAllgather, *parseTopology("64x32x32"),
       "bfb: 64x32x32 has 65536 nodes, at most 32768"},
      {"rotated-binomial", kGather, dead, "rotated-binomial: messages cannot go round damage"},
      {"binomial", kScatter, line, "binomial: Y is a line, on which the root can be anywhere"},
      {"linear", kScatter, *parseTopology("13x5"), "linear: 65 ranks, more than 64"},
      {"binomial", kReduce, dead, "binomial: messages cannot go round damage"},
      {"bine", kReduce, line, "bine: Y is a line, on which the root can be anywhere"},
      {"recursive-doubling", kAllreduce, dead,
       "recursive-doubling: messages cannot go round damage"},
      {"scatter-trees", kScatter, dead, "scatter-trees: messages cannot go round damage"},
      {"scatter-trees", kScatter, line,
       "scatter-trees: Y is a line, on which the root can be anywhere"},
      {"dimension-tree", kBroadcast, dead, "dimension-tree: the tree cannot go round damage"},
      {"product-trees", kBroadcast, sound, product},
      {"product-trees", kBroadcast, *parseTopology("4mx4+2"), product},
      {"product-trees", kBroadcast, dead_on_line, product},
      {"rectangular", kBroadcast, *parseTopology("4mx4"), rectangular},
      {"rectangular", kBroadcast, *parseTopology("4x2m"), rectangular},
      {"rectangular", kBroadcast, cores, rectangular},
      {"plane-trees", kBroadcast, sound, plane},
      {"plane-trees", kBroadcast, damaged("4x4", {"1,1", "2,3"}), plane},
      {"plane-trees", kBroadcast, dead_on_line, plane},
      {"hub-trees", kGather, dead_on_line,
       "hub-trees: they need a ring along every axis, and something dead"},
      {"detour-trees", kReduce, damaged("4x4+2", {"1,1"}), detour},
      {"neighbours", kNeighborAlltoall, dead, "algorithm neighbours: something is dead"},
      {"neighbours", kNeighborAlltoall, cores,
       "algorithm neighbours: nodes have cores: the grid is one of ranks"},
  };
  for (const auto& [algorithm, collective, topology, message] : rows) {
    EXPECT_EQ(llvm::toString(
                  cantFail(findAlgorithm(algorithm))->lower({collective, topology}).takeError()),
              message);
  }
  for (const auto& [collective, topology] : {std::pair(kScatter, dead_on_line),
                                             {kBroadcast, damaged("4x4+2", {"1,1"})},
                                             {kNeighborAlltoall, dead},
                                             {kNeighborAlltoall, cores}})
    EXPECT_FALSE(isServed({collective, topology})) << rowOf(collective).name;
  EXPECT_EQ(
      llvm::toString(
          compile({kBroadcast, sound}, *cantFail(findAlgorithm("bucket")), {}, {}).takeError()),
      "algorithm bucket does not serve broadcast; torc compile --list-algorithms");
}

}  // namespace
}  // namespace torc::compiler
