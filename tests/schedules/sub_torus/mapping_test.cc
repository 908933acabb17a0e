// Mapping files: their meaning, and the reported place of each fault.
#include "schedules/sub_torus/mapping.h"

#include <gtest/gtest.h>

#include "tests/schedules/sample_schedule.h"

namespace torc {
namespace {

std::string fault(const Topology& topology, std::string_view text) {
  const StatusOr<RankSites> mapping = parseMapping(topology, text, "job.map");
  if (mapping.ok()) return "";
  EXPECT_EQ(mapping.status().code(), StatusCode::kMalformed);
  return mapping.status().message();
}

TEST(Mapping, OneLinePerRank) {
  const Topology topology = samples::parsed("4x3");
  const StatusOr<RankSites> mapping = parseMapping(topology,
                                                   "# rows first\n"
                                                   "3 0\n"
                                                   "\n"
                                                   "  2\t1   # the second\r\n"
                                                   "0 2",
                                                   "job.map");
  ASSERT_TRUE(mapping.ok()) << mapping.status().message();
  EXPECT_EQ(*mapping, (RankSites{3, 2 + 4 * 1, 4 * 2}));
}

TEST(Mapping, CoresAreTheLastCoordinate) {
  const Topology topology = samples::parsed("2x2+4", "TXY");
  const StatusOr<RankSites> mapping = parseMapping(topology, "1 0 3\n1 0 2\n", "job.map");
  ASSERT_TRUE(mapping.ok()) << mapping.status().message();
  EXPECT_EQ(*mapping, (RankSites{3 + 4 * 1, 2 + 4 * 1}));
  EXPECT_EQ(fault(topology, "1\n"), "job.map:1: expected 3 coordinates (X Y T), found 1");
  EXPECT_EQ(fault(topology, "1 0 4\n"), "job.map:1: T=4 is outside (size 4)");
}

RankSites read(const Topology& topology, std::string_view text) {
  const StatusOr<RankSites> mapping = parseMapping(topology, text, "job.map");
  EXPECT_TRUE(mapping.ok()) << mapping.status().message();
  return mapping.ok() ? *mapping : RankSites{};
}

// K and Fugaku: `(x,y,z)`.
TEST(Mapping, Parentheses) {
  const Topology topology = samples::parsed("4x3");
  EXPECT_EQ(read(topology, "(3,0)\n( 2 , 1 ) # b\n0 2\n"), (RankSites{3, 2 + 4 * 1, 4 * 2}));
  EXPECT_EQ(read(samples::parsed("5"), "(4)\n(0)\n"), (RankSites{4, 0}));
  EXPECT_EQ(fault(topology, "(0,0\n"), "job.map:1: '(0,0' is not closed by its ')'");
  EXPECT_EQ(fault(topology, "(0,0) core=4\n"),
            "job.map:1: '(0,0) core=4' is not closed by its ')'");
  EXPECT_EQ(fault(topology, "(0,,0)\n"), "job.map:1: '' is no coordinate");
  EXPECT_EQ(fault(topology, "(0,)\n"), "job.map:1: '' is no coordinate");
  EXPECT_EQ(fault(topology, "()\n"), "job.map:1: '' is no coordinate");
  EXPECT_EQ(fault(topology, "(0 0)\n"), "job.map:1: '0 0' is no coordinate");
  EXPECT_EQ(fault(topology, "0, 0\n"), "job.map:1: '0,' is no coordinate");
}

TEST(Mapping, ByteOrderMarkAndCarriageReturns) {
  EXPECT_EQ(read(samples::parsed("2x2"), "\xef\xbb\xbf(1,0)\r\n(0,0)\r\n"), (RankSites{1, 0}));
  EXPECT_EQ(fault(samples::parsed("2x2"),
                  "1 0\n\xef\xbb\xbf"
                  "0 0\n"),
            "job.map:2: '\xef\xbb\xbf"
            "0' is no coordinate");
}

// Blue Gene/Q: A B C D E, or A B C D E T.
TEST(Mapping, FiveAndSixColumns) {
  const Topology cores = samples::parsed("2x2x2x2x2+2");
  EXPECT_EQ(read(cores, "1 0 0 0 1 1\n1 0 0 0 1 0\n"), (RankSites{49, 17}));
  // Without T: the cores of a node in the order of its ranks.
  EXPECT_EQ(read(cores, "1 0 0 0 1\n0 0 0 0 0\n1 0 0 0 1\n"), (RankSites{17, 0, 49}));
  EXPECT_EQ(fault(cores, "1 0 0 0 1\n0 0 0 0 0\n1 0 0 0 1\n0 0 0 0 0\n1 0 0 0 1\n0 0 0 0 0\n"),
            "job.map:5: (1, 0, 0, 0, 1, 0) has a rank on each of its 2 cores already");
  EXPECT_EQ(fault(cores, "1 0 0 0 1\n0 0 0 0 0 1\n"), "job.map:2: has 6 coordinates, line 1 has 5");
  // One rank on a node: T is 0.
  const Topology nodes = samples::parsed("2x2x2x2x2");
  EXPECT_EQ(read(nodes, "1 0 0 0 1 0\n0 0 0 0 1 0\n"), (RankSites{17, 16}));
  EXPECT_EQ(fault(nodes, "1 0 0 0 1 1\n"), "job.map:1: T=1 is outside (size 1)");
}

TEST(Mapping, Faults) {
  const Topology topology = samples::parsed("4x3");
  EXPECT_EQ(fault(topology, ""), "job.map: has no coordinates");
  EXPECT_EQ(fault(topology, "# nothing\n\n"), "job.map: has no coordinates");
  EXPECT_EQ(fault(topology, "0 0\n1\n"), "job.map:2: expected 2 coordinates (X Y), found 1");
  EXPECT_EQ(fault(topology, "0 0 0 0\n"), "job.map:1: expected 2 coordinates (X Y), found 4");
  EXPECT_EQ(fault(topology, "0 0\n# a\n0 3\n"), "job.map:3: Y=3 is outside (size 3)");
  EXPECT_EQ(fault(topology, "-1 0\n"), "job.map:1: X=-1 is outside (size 4)");
  EXPECT_EQ(fault(topology, "99999999999 0\n"), "job.map:1: X=99999999999 is outside (size 4)");
  EXPECT_EQ(fault(topology, "0 0\n1 y\n"), "job.map:2: 'y' is no coordinate");
  EXPECT_EQ(fault(topology, "0,0\n"), "job.map:1: '0,0' is no coordinate");
  EXPECT_EQ(fault(topology, "1.5 0\n"), "job.map:1: '1.5' is no coordinate");
}

TEST(Mapping, ANodeHasOneRank) {
  const Topology topology = samples::parsed("4x3");
  EXPECT_EQ(fault(topology, "1 0\n#\n2 0\n3 0\n2 0\n1 0\n"),
            "job.map:5: (2, 0) has a rank already, on line 3");
  EXPECT_EQ(fault(topology, "0 0\n0 0\n0 0\n"), "job.map:2: (0, 0) has a rank already, on line 1");
}

TEST(Mapping, DeadNodesHaveNone) {
  Topology topology = samples::parsed("4x3");
  ASSERT_TRUE(topology.addDeadNode({2, 1}).ok());
  EXPECT_EQ(fault(topology, "0 0\n2 1\n"), "job.map:2: (2, 1) is a dead node");
}

TEST(Mapping, PlacesTheWholeJob) {
  Topology topology = samples::parsed("2x2");
  const auto check = [&](const RankSites& mapping, std::uint64_t ranks) {
    return checkMapping(topology, mapping, ranks, "job.map").message();
  };
  EXPECT_EQ(check({3, 1, 0, 2}, 4), "");
  EXPECT_EQ(check({3, 1}, 2), "");  // not all nodes
  EXPECT_EQ(check({3, 0, 2}, 4),
            "job.map: maps 3 ranks, the job has 4 (among others, (1, 0) has no rank)");
  EXPECT_EQ(check({3, 0, 2}, 2), "job.map: maps 3 ranks, the job has 2");
  EXPECT_EQ(check({0, 1, 2, 3}, 6), "job.map: maps 4 ranks, the job has 6");
  ASSERT_TRUE(topology.addDeadNode({0, 0}).ok());
  EXPECT_EQ(check({1, 2}, 3),
            "job.map: maps 2 ranks, the job has 3 (among others, (1, 1) has no rank)");
}

}  // namespace
}  // namespace torc
