// Shapes, rank orders, neighbours, and what makes a topology unsound.
#include "schedules/topology/topology.h"

#include <functional>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "schedules/neighbours.h"
#include "tests/schedules/sample_schedule.h"

namespace torc {
namespace {

std::string parseFault(std::string_view shape, std::string_view order = {}) {
  const StatusOr<Topology> topology = parseTopology(shape, order);
  if (topology.ok()) return "";
  EXPECT_EQ(topology.status().code(), StatusCode::kInvalidArgument);
  return topology.status().message();
}

TEST(Topology, ParsesShapes) {
  for (const char* shape : {"7", "5x3", "4x3m", "2x1x3", "2x2x2x2", "1x1x1x1x1x1x1", "8x8x8+4",
                            "4mx4m+2", "2147483647"}) {
    const Topology topology = samples::parsed(shape);
    EXPECT_EQ(topology.shape(), shape);
    EXPECT_EQ(topology.validate().message(), "") << shape;
  }
}

TEST(Topology, AxesOfAShape) {
  const Topology topology = samples::parsed("4x3mx2+5");
  ASSERT_EQ(topology.axis_count, 4u);
  EXPECT_EQ(topology.dimensions(), 3);
  EXPECT_TRUE(topology.hasCores());
  EXPECT_EQ(topology.ranks(), 120u);
  EXPECT_EQ(topology.orderString(), "XYZT");
  EXPECT_TRUE(topology.axes[0].wraps());
  EXPECT_FALSE(topology.axes[1].wraps());
  EXPECT_TRUE(topology.axes[3].wraps());
  EXPECT_EQ(samples::parsed("2x2x2x2x2x2x2+2").orderString(), "XYZUVWST");
}

TEST(Topology, ShapeFaults) {
  EXPECT_EQ(parseFault("4x"), "torus '4x': a size is missing (column 3)");
  EXPECT_EQ(parseFault(""), "torus '': a size is missing (column 1)");
  EXPECT_EQ(parseFault("0x4"), "torus '0x4': a size must be at least 1 (column 1)");
  EXPECT_EQ(parseFault("4x0"), "torus '4x0': a size must be at least 1 (column 3)");
  EXPECT_EQ(parseFault("x4"), "torus 'x4': a size was expected (column 1)");
  EXPECT_EQ(parseFault("4x-2"), "torus '4x-2': a size was expected (column 3)");
  EXPECT_EQ(parseFault("2x2x2x2x2x2x2x2"),
            "torus '2x2x2x2x2x2x2x2': more than 7 dimensions (column 15)");
  EXPECT_EQ(parseFault("2147483648"),
            "torus '2147483648': this size is too large (largest 2147483647) (column 1)");
  EXPECT_EQ(parseFault("99999999999999999999"),
            "torus '99999999999999999999': this size is too large (largest 2147483647) (column 1)");
  EXPECT_EQ(parseFault("65536x32768"),
            "torus '65536x32768': the sizes multiply to more than 2147483647 ranks (column 7)");
  for (const char* shape : {"4y3", "4x3mm", "4x3+", "4+2+2", "4+2m", "4 x3", "4x3 ", "+4", "4X3"}) {
    EXPECT_NE(parseFault(shape), "") << shape;
  }
}

TEST(Topology, Orders) {
  EXPECT_EQ(samples::parsed("4x3x2", "ZXY").orderString(), "ZXY");
  EXPECT_EQ(samples::parsed("4x3+2", "TXY").orderString(), "TXY");
  EXPECT_EQ(parseFault("4x3", "XZ"), "order 'XZ': no axis 'Z' (the axes are XY)");
  EXPECT_EQ(parseFault("4x3", "XX"), "order 'XX': axis 'X' occurs twice (the axes are XY)");
  for (const char* order : {"X", "XYZ", "xy", "XYT"}) {
    EXPECT_NE(parseFault("4x3", order), "") << order;
  }
}

TEST(Topology, RankOrder) {
  const Topology natural = samples::parsed("4x3x2");
  EXPECT_EQ(natural.rankOf({1, 0, 0}), 1);
  EXPECT_EQ(natural.rankOf({0, 1, 0}), 4);
  EXPECT_EQ(natural.rankOf({3, 2, 1}), 3 + 4 * (2 + 3 * 1));
  const Topology reversed = samples::parsed("4x3x2", "ZYX");
  EXPECT_EQ(reversed.rankOf({0, 0, 1}), 1);
  EXPECT_EQ(reversed.rankOf({3, 2, 1}), 1 + 2 * (2 + 3 * 3));
}

TEST(Topology, RanksAndCoordinatesAreInverse) {
  for (const auto& [shape, order] : {std::pair("4x3x2", "YZX"), std::pair("5", ""),
                                     std::pair("2x1x3+2", "TZYX"), std::pair("3mx3m", "YX")}) {
    const Topology topology = samples::parsed(shape, order);
    for (std::int32_t rank = 0; rank < static_cast<std::int32_t>(topology.ranks()); ++rank) {
      const Coordinates at = topology.coordinatesOf(rank);
      EXPECT_EQ(topology.rankOf(at), rank);
      for (std::uint32_t i = 0; i < kMaxAxes; ++i) {
        const std::uint32_t size = i < topology.axis_count ? topology.axes[i].size : 1;
        EXPECT_GE(at[i], 0);
        EXPECT_LT(static_cast<std::uint32_t>(at[i]), size);
      }
    }
  }
  const Topology large = samples::parsed("2147483647");
  EXPECT_EQ(large.coordinatesOf(2147483646)[0], 2147483646);
}

TEST(Topology, Neighbours) {
  const Topology topology = samples::parsed("4x3m+2");
  EXPECT_EQ(topology.neighbour({3, 0, 0}, {1, 0, 0}), topology.rankOf({0, 0, 0}));
  EXPECT_EQ(topology.neighbour({0, 0, 0}, {-1, 0, 0}), topology.rankOf({3, 0, 0}));
  EXPECT_EQ(topology.neighbour({1, 1, 1}, {0, 1, 1}), topology.rankOf({1, 2, 0}));
  EXPECT_EQ(topology.neighbour({1, 2, 0}, {0, 1, 0}), -1);
  EXPECT_EQ(topology.neighbour({1, 0, 0}, {0, -1, 0}), -1);
  EXPECT_EQ(topology.neighbour({1, 0, 0}, {1000000001, 0, 0}), topology.rankOf({2, 0, 0}));
}

// MPI's order of neighbours: the axis that varies slowest with the rank first, in each the one
// below before the one above.
TEST(Topology, NeighboursLieInMpisOrder) {
  const Topology topology = samples::parsed("4x3x2", "YXZ");
  EXPECT_EQ(neighbourPlace(topology, {2, -1}), 0u);
  EXPECT_EQ(neighbourPlace(topology, {2, 1}), 1u);
  EXPECT_EQ(neighbourPlace(topology, {0, 1}), 3u);
  EXPECT_EQ(neighbourPlace(topology, {1, -1}), 4u);
}

TEST(Topology, Faults) {
  const auto fault = [](const std::function<void(Topology&)>& edit) {
    Topology topology = samples::parsed("4x3m+2");
    edit(topology);
    const Status status = topology.validate();
    EXPECT_TRUE(status.ok() || status.code() == StatusCode::kMalformed);
    return status.message();
  };
  EXPECT_EQ(fault([](Topology&) {}), "");
  EXPECT_EQ(fault([](Topology& t) { t.axis_count = 0; }), "topology: has 0 axes, must have 1 to 8");
  EXPECT_EQ(fault([](Topology& t) { t.axis_count = 0xffffffff; }),
            "topology: has 4294967295 axes, must have 1 to 8");
  EXPECT_EQ(fault([](Topology& t) { t.axes[0].size = 0; }),
            "topology: axis 0: size must be at least 1");
  EXPECT_EQ(fault([](Topology& t) { t.axes[0].size = 0xffffffff; }),
            "topology: more than 2147483647 ranks");
  EXPECT_EQ(fault([](Topology& t) { t.axes[0].kind = static_cast<AxisKind>(3); }),
            "topology: axis 0: unknown kind");
  EXPECT_EQ(fault([](Topology& t) { t.axes[1].kind = AxisKind::kCore; }),
            "topology: cores must be the last axis");
  EXPECT_EQ(fault([](Topology& t) { t.axes[1].name = 'T'; }),
            "topology: axis 1: the name T is for cores, and for them alone");
  EXPECT_EQ(fault([](Topology& t) { t.axes[1].name = 'X'; }), "topology: two axes named X");
  EXPECT_EQ(fault([](Topology& t) { t.axes[1].name = '\n'; }),
            "topology: axis 1: name must be A to Z");
  EXPECT_EQ(fault([](Topology& t) { t.order[1] = 0; }),
            "topology: the rank order must name every axis once");
  EXPECT_EQ(fault([](Topology& t) { t.order[1] = 200; }),
            "topology: the rank order must name every axis once");
  EXPECT_EQ(fault([](Topology& t) { t.axes[0].reserved = 1; }), "topology: axis 0: reserved bytes");
  EXPECT_EQ(fault([](Topology& t) { t.dead_link_count = 17; }),
            "topology: has 17 dead links, at most 16");
  EXPECT_EQ(fault([](Topology& t) { t.axes[5].size = 2; }),
            "topology: axis 5 is unused but not blank");
  EXPECT_EQ(fault([](Topology& t) { t.axes[5].latency = -0.0; }),
            "topology: axis 5 is unused but not blank");
  EXPECT_EQ(fault([](Topology& t) { t.order[7] = 1; }), "topology: axis 7 is unused but not blank");
}

TEST(Topology, BandwidthAndLatencyAreNumbers) {
  const auto sound = [](double bandwidth, double latency) {
    Topology topology = samples::parsed("4");
    topology.axes[0].bandwidth = bandwidth;
    topology.axes[0].latency = latency;
    return topology.validate().ok();
  };
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(sound(0.5, 1e-6));
  EXPECT_TRUE(sound(std::numeric_limits<double>::max(), 0));
  for (const double bandwidth : {0.0, -0.0, -1.0, kInfinity, kNan}) {
    EXPECT_FALSE(sound(bandwidth, 0)) << bandwidth;
  }
  for (const double latency : {-0.0, -1.0, kInfinity, kNan}) {
    EXPECT_FALSE(sound(1, latency)) << latency;
  }
}

}  // namespace
}  // namespace torc
