// The closed trees: they span, with link loads counted from the operations of all ranks; proved and
// run around random damage; equally large on any torus.
#include "compiler/algorithms/damage/closed_trees.h"

#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>
#include <llvm/Support/Error.h>

#include "compiler/algorithms/damage/node_boxes.h"
#include "ir/verifier/verifier.h"
#include "schedules/expansion/expand.h"
#include "tests/compiler/algorithms/checks.h"

namespace torc::compiler {
namespace {

Schedule compiled(const Topology& topology, std::uint32_t segments) {
  return compiledInSegments("closed-trees", Collective::kAllreduce, topology, segments);
}

/// Elements that each rank sends over each of its arcs; arcs by rank and number of shift, for both
/// cables of a ring of two lead to the same peer.
std::map<std::pair<std::int32_t, std::uint32_t>, std::uint64_t> sentOverArcs(
    const Schedule& schedule, std::uint64_t count) {
  std::map<std::pair<std::int32_t, std::uint32_t>, std::uint64_t> sent;
  const Topology& topology = schedule.topology;
  for (std::int32_t rank = 0; rank < static_cast<std::int32_t>(topology.ranks()); ++rank) {
    const FlatProgram program = *expand(schedule.view(), rank, Counts{count, {}, {}});
    for (const FlatOperation& operation : program.operations) {
      if (!sends(operation.kind)) continue;
      const std::uint32_t number = schedule.operations[operation.source].peer;
      const Shift& shift = schedule.shifts[number];
      for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
        if (shift[axis] == 0) continue;
        Coordinates to{};
        EXPECT_TRUE(topology.hasLink(topology.coordinatesOf(rank), axis, shift[axis], to));
        EXPECT_EQ(topology.rankOf(to), operation.peer);
      }
      sent[{rank, number}] += operation.a.elements;
    }
  }
  return sent;
}

class RoundADeadNode : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(RoundADeadNode, EveryArcCarriesTwoTreesAndTheyAreAllThatIsNeeded) {
  const Topology topology = damaged(GetParam().first, {GetParam().second});
  std::uint32_t axes = 0;
  for (std::uint32_t i = 0; i < topology.axis_count; ++i)
    axes += topology.axes[i].size > 1;
  const LiveGraph graph(topology);
  for (const WeightedTree& tree : closedTrees(topology, graph)) {
    EXPECT_TRUE(isSpanningTree(graph, tree.cables));
    EXPECT_EQ(tree.weight, closedTrees(topology, graph).front().weight);
  }
  const std::uint64_t of_tree = 5;
  const auto sent = sentOverArcs(compiled(topology, 1), of_tree * 2 * axes);
  EXPECT_EQ(sent.size(), 2 * graph.cables());
  for (const auto& [arc, elements] : sent)
    EXPECT_EQ(elements, 2 * of_tree) << "from rank " << arc.first;
  // Nash-Williams: nobody needs less.
  EXPECT_EQ(graph.cables(), axes * (graph.nodes() - 1));
}

TEST_P(RoundADeadNode, AreProvedAndRun) {
  const Topology topology = damaged(GetParam().first, {GetParam().second});
  for (const std::uint32_t segments : {1u, 7u})
    expectProofAndRuns(compiled(topology, segments).view());
}

INSTANTIATE_TEST_SUITE_P(Shapes, RoundADeadNode,
                         testing::Values(std::pair("3", "1"), std::pair("7", "0"),
                                         std::pair("2x2", "1,0"), std::pair("4x3", "3,1"),
                                         std::pair("6x5", "1,2"), std::pair("3x1x4", "2,0,1"),
                                         std::pair("3x3x3", "1,1,1"), std::pair("4x2x3", "0,1,2"),
                                         std::pair("9x2x2", "4,0,1"),
                                         std::pair("2x2x2x2", "1,1,0,1"),
                                         std::pair("3x2x2x2x2", "2,1,0,0,1")));

TEST(ClosedTrees, SpanRandomDamage) {
  std::mt19937 random(5);
  const auto draw = [&](std::uint32_t from, std::uint32_t to) {
    return from + static_cast<std::uint32_t>(random() % (to - from + 1));
  };
  int tried = 0;
  while (tried < 20) {
    std::string shape;
    std::uint64_t nodes = 1;
    const std::uint32_t dimensions = draw(1, 4);
    for (std::uint32_t i = 0; i < dimensions; ++i) {
      const std::uint32_t size = draw(2, dimensions > 2 ? 3 : 6);
      nodes *= size;
      shape += (i > 0 ? "x" : "") + std::to_string(size);
    }
    Topology topology = *parseTopology(shape);
    const auto place = [&] {
      return topology.coordinatesOfSite(
          static_cast<std::int32_t>(draw(0, static_cast<std::uint32_t>(nodes - 1))));
    };
    std::string damage;
    for (std::uint32_t left = draw(0, 3); left > 0; --left) {
      Topology next = topology;
      const Coordinates node = place();
      if (next.addDeadNode(node).ok() && next.validate().ok()) topology = next;
    }
    for (std::uint32_t left = draw(0, 4); left > 0; --left) {
      Topology next = topology;
      const DeadLink link{place(), draw(0, dimensions - 1)};
      if (next.addDeadLink(link).ok() && next.validate().ok()) topology = next;
    }
    if (!topology.isDamaged()) continue;
    ++tried;
    SCOPED_TRACE(shape + ", " + std::to_string(topology.dead_node_count) + " dead nodes, " +
                 std::to_string(topology.dead_link_count) + " dead links");
    const LiveGraph graph(topology);
    if (graph.nodes() > 1) {
      for (const WeightedTree& tree : closedTrees(topology, graph))
        EXPECT_TRUE(isSpanningTree(graph, tree.cables));
    }
    const Schedule schedule = compiled(topology, draw(0, 1) == 0 ? 1 : 6);
    expectProofAndRuns(schedule.view());
    sentOverArcs(schedule, 1000);
  }
}

/// Of what every cable carries round one dead node.
TEST(ClosedTrees, FurtherDamageCostsAShareOfACable) {
  const struct {
    Topology topology;
    double ratio;
  } cases[] = {
      {damaged("6x6x6", {"1,2,3"}, {"3,0,1:Z"}), 1.1},
      {damaged("6x6x6", {"1,2,3"}, {"1,2,4:X"}), 1.125},
      {damaged("6x6x6", {"1,2,3", "4,0,0"}), 1.1},
      {damaged("8x8", {"1,2"}, {"5,5:X"}), 1.17},
      // An end of the dead link is the center: the cables that it has left carry half otherwise.
      {damaged("6x6x6", {}, {"3,0,1:Z"}), 1.0},
      {damaged("6x6x6", {}, {"3,0,1:Z", "1,1,1:Z"}), 1.125},
  };
  for (const auto& [topology, ratio] : cases) {
    const LiveGraph graph(topology);
    std::vector<double> load(graph.cables(), 0);
    double whole = 0;
    for (const WeightedTree& tree : closedTrees(topology, graph)) {
      whole += static_cast<double>(tree.weight);
      for (const std::uint32_t cable : tree.cables)
        load[cable] += static_cast<double>(tree.weight);
    }
    const double most = *std::max_element(load.begin(), load.end()) / whole;
    EXPECT_LE(most * topology.axis_count, ratio + 1e-9) << topology.shape();
  }
}

TEST(ClosedTrees, AreAsLargeOnAnyTorus) {
  for (const char* shape : {"4x4x4", "8x8x8", "16x8x6", "64x4x4", "24x24x24"}) {
    const Schedule schedule = compiled(damaged(shape, {"1,2,3"}), 2000);
    EXPECT_LE(schedule.operations.size(), 222u) << shape;
    const ir::VerifyResult proof = ir::verify(schedule.view());
    EXPECT_TRUE(proof.ok()) << shape;
    EXPECT_LE(proof.cells, 64u) << shape;
  }
}

TEST(NodeBoxes, CoverASetAndNothingElse) {
  std::mt19937 random(3);
  const Topology topologies[] = {damaged("5", {"1"}),
                                 damaged("2x2", {}),
                                 damaged("4x3", {"0,1"}),
                                 damaged("4mx3", {"3,0"}),
                                 damaged("3x3x3", {"1,1,1", "0,0,2"}),
                                 damaged("2x3mx4", {}),
                                 damaged("3x2x1x2", {"2,0,0,1"})};
  for (const Topology& topology : topologies) {
    const NodeBoxes boxes(topology);
    for (int round = 0; round < 20; ++round) {
      std::vector<std::uint32_t> nodes;
      for (std::uint32_t node = 0; node < topology.ranks(); ++node) {
        if (random() % 4 > 0) nodes.push_back(node);
      }
      const auto cover = boxes.cover(nodes);
      EXPECT_LE(cover.size(), nodes.size());
      const std::set<std::uint32_t> wanted(nodes.begin(), nodes.end());
      for (std::uint32_t node = 0; node < topology.ranks(); ++node) {
        const Coordinates at = topology.coordinatesOf(static_cast<std::int32_t>(node));
        std::size_t inside = 0;
        for (const Box& box : cover)
          inside += admits(box, topology, at);
        EXPECT_EQ(inside, wanted.count(node)) << topology.shape() << " rank " << node;
      }
    }
  }
}

TEST(NodeBoxes, APlaneIsOneBoxAlsoOverTheEnd) {
  const Topology topology = damaged("6x5", {"1,2"});
  const NodeBoxes boxes(topology);
  std::vector<std::uint32_t> nodes;
  for (std::uint32_t node = 0; node < topology.ranks(); ++node) {
    if (topology.coordinatesOf(static_cast<std::int32_t>(node))[0] % 5 == 0) nodes.push_back(node);
  }
  ASSERT_EQ(boxes.cover(nodes).size(), 1u);
  EXPECT_EQ(boxes.cover(nodes).front()[0], Interval::absolute(5, 2));
}

}  // namespace
}  // namespace torc::compiler
