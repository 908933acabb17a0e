// Plans of libraries: which sub-tori and shapes they have, the machines of sub-tori.
#include "compiler/library/library_shapes.h"

#include <set>

#include <gtest/gtest.h>

#include "compiler/target.h"
#include "tests/compiler/library/found_ranges.h"

namespace torc::compiler {
namespace {

Extents extentsOf(std::initializer_list<std::uint32_t> list) {
  Extents extents{};
  std::copy(list.begin(), list.end(), extents.begin());
  return extents;
}

TEST(LibraryShapes, ToriAreCombinationsOfWholeAxes) {
  const LibraryShapes plan = cantFail(libraryShapes(target("8x4x8+2"), SubToriKind::kWholeAxes));
  EXPECT_EQ(plan.sub_tori.size(), 14u);  // 7 sets of dimensions, one core or both
  std::set<std::string> shapes;
  std::uint32_t sub_tori = 0;
  for (const PlannedShape& shape : plan.shapes) {
    shapes.insert(shape.topology.shape());
    sub_tori += shape.sub_tori;
    // What is compiled for the topology is simulated on this machine.
    EXPECT_EQ(model::shapeOf(shape.machine), shape.topology.shape());
  }
  EXPECT_EQ(sub_tori, plan.sub_tori.size());
  EXPECT_EQ(shapes, (std::set<std::string>{"8", "4", "8x4", "8x8", "8x8x4", "8+2", "4+2", "8x4+2",
                                           "8x8+2", "8x8x4+2"}));
}

TEST(LibraryShapes, IsAnIndex) {
  for (const SubToriKind kind : {SubToriKind::kWholeAxes, SubToriKind::kAll}) {
    for (const char* shape : {"3x4m+2", "2x2x2", "5", "1x4x1x3"}) {
      const LibraryShapes plan = cantFail(libraryShapes(target(shape), kind));
      LibraryIndex index;
      index.partitions = plan.partitions;
      for (const PlannedShape& planned : plan.shapes)
        index.shapes.push_back({planned.topology});
      index.sub_tori = plan.sub_tori;
      EXPECT_EQ(validate(index).message(), "") << shape;
    }
  }
}

TEST(LibraryShapes, BoxesHaveAllExtents) {
  const LibraryShapes plan = cantFail(libraryShapes(target("3x4m"), SubToriKind::kAll));
  EXPECT_EQ(plan.sub_tori.size(), 11u);
  std::set<std::string> shapes;
  for (const PlannedShape& shape : plan.shapes)
    shapes.insert(shape.topology.shape());
  // 3mx2m is 2x3m turned. Lines of one length are one shape, whatever they are lines of.
  EXPECT_EQ(shapes, (std::set<std::string>{"2m", "3", "3m", "4m", "2mx2m", "3x2m", "3mx2m", "3x3m",
                                           "4mx2m", "4mx3"}));
}

TEST(LibraryShapes, PartitionsShareShapes) {
  const LibraryShapes plan =
      cantFail(libraryShapes({target("4x4"), target("4x8")}, SubToriKind::kWholeAxes));
  EXPECT_EQ(plan.sub_tori.size(), 6u);
  EXPECT_EQ(plan.shapes.size(), 4u);  // 4, 4x4, 8, 8x4
}

TEST(LibraryShapes, LinksOfOtherSpeedAreOtherShapes) {
  Target slow = target("4x4");
  slow.machine.dimensions[1].bandwidth /= 2;
  slow.topology = cantFail(model::topologyOf(slow.machine));
  const LibraryShapes plan = cantFail(libraryShapes(slow, SubToriKind::kWholeAxes));
  EXPECT_EQ(plan.shapes.size(), 3u);
  // Alone on its machine a line is the fastest; its topology says so, and still there are two.
  Target line = slow;
  line.machine.dimensions = {slow.machine.dimensions[1]};
  line.topology = cantFail(model::topologyOf(line.machine));
  EXPECT_EQ(line.topology.axes[0].bandwidth, 1.0);
  EXPECT_EQ(cantFail(libraryShapes({slow, line}, SubToriKind::kWholeAxes)).shapes.size(), 4u);
}

/// A sub-torus's links are as fast as they are in the partition, whatever sets their speed.
TEST(LibraryShapes, SubToriKeepTheSpeedOfTheirLinks) {
  Target whole = target("4x4x2");
  whole.machine.dimensions[0].bandwidth *= 4;
  for (const double gap : {0.0, 1e-9}) {
    whole.machine.gap = gap;
    whole.topology = cantFail(model::topologyOf(whole.machine));
    const Extents extents = extentsOf({1, 4, 2});
    const SubTorusAxes axes = canonicalAxes(whole.topology, extents);
    const model::Machine sub_torus = subTorusMachine(whole, extents, axes);
    ASSERT_EQ(sub_torus.dimensions.size(), 2u);
    EXPECT_DOUBLE_EQ(sub_torus.linkBandwidth(0), whole.machine.linkBandwidth(1));
    EXPECT_DOUBLE_EQ(sub_torus.linkBandwidth(1), whole.machine.linkBandwidth(2));
    // Half of a ring of four is a line of two: one cable.
    const model::Machine half = subTorusMachine(whole, extentsOf({1, 2, 1}), {1});
    EXPECT_EQ(model::shapeOf(half), "2m");
    EXPECT_DOUBLE_EQ(half.linkBandwidth(0), whole.machine.linkBandwidth(1));
  }
}

TEST(LibraryShapes, Refusals) {
  const auto refusal = [](llvm::ArrayRef<Target> targets) {
    return toString(libraryShapes(targets, SubToriKind::kWholeAxes).takeError());
  };
  EXPECT_EQ(refusal(target("1x1+4")), "partition 1x1+4 has one node, there is nothing to schedule");
  EXPECT_EQ(refusal({target("4"), target("4")}), "partition 4 is there twice");
}

}  // namespace
}  // namespace torc::compiler
