// The place of a job: its partition among those of a library, and contradictions. A topology with
// another order of ranks: damage keeps its place.
#include <algorithm>
#include <array>
#include <set>

#include <gtest/gtest.h>

#include "runtime/job/geometry.h"
#include "runtime/job/library.h"
#include "tests/schedules/library/sample_index.h"

namespace torc::runtime {
namespace {

LibraryOptions torusOptions(const std::string& torus) {
  LibraryOptions options;
  options.torus = torus;
  return options;
}
LibraryOptions orderOptions(const std::string& order) {
  LibraryOptions options;
  options.order = order;
  return options;
}
LibraryOptions mappingOptions(const std::string& torus = "") {
  LibraryOptions options = torusOptions(torus);
  options.mapping = "job.map";
  return options;
}

/// Partitions 4x4x2m+2 (64 ranks, order TXYZ) and 8x4 (32 ranks).
class Mapping : public testing::Test {
 protected:
  JobMapping mapped(const LibraryOptions& options, std::uint64_t ranks,
                    const std::string& mapping = "") {
    const StatusOr<JobMapping> job = mapJob(index_, options, ranks, mapping);
    EXPECT_TRUE(job.ok()) << job.status().message();
    return job.ok() ? *job : JobMapping{};
  }
  std::string fault(const LibraryOptions& options, std::uint64_t ranks,
                    const std::string& mapping = "", StatusCode code = StatusCode::kMismatch) {
    const StatusOr<JobMapping> job = mapJob(index_, options, ranks, mapping);
    if (job.ok()) return "";
    EXPECT_EQ(job.status().code(), code);
    return job.status().message();
  }

  LibraryIndex index_ = samples::libraryIndex();
};

TEST_F(Mapping, ByTheNumberOfRanks) {
  const JobMapping large = mapped({}, 64);
  EXPECT_EQ(large.partition, 0u);
  EXPECT_EQ(large.topology.orderString(), "TXYZ");
  EXPECT_TRUE(large.sites.empty());
  EXPECT_EQ(large.siteOf(5), 5);
  EXPECT_EQ(mapped({}, 32).partition, 1u);
  EXPECT_EQ(fault({}, 60),
            "the job has 60 ranks, partitions of the library are 4x4x2m+2 (64 nodes), 8x4 (32 "
            "nodes)");
}

TEST_F(Mapping, ByTheTorus) {
  EXPECT_EQ(mapped(torusOptions("8x4"), 32).partition, 1u);
  EXPECT_EQ(fault(torusOptions("8x4"), 64), "the job has 64 ranks, the torus is 8x4 (32 nodes)");
  EXPECT_EQ(fault(torusOptions("8x4m"), 32),
            "torus 8x4m is no partition of the library, which has 4x4x2m+2 (64 nodes), 8x4 (32 "
            "nodes)");
  EXPECT_EQ(fault(torusOptions("8y"), 32, "", StatusCode::kInvalidArgument).substr(0, 10),
            "torus '8y'");
}

TEST_F(Mapping, SeveralPartitionsOfOneSize) {
  index_.partitions.push_back({*parseTopology("4x8")});
  EXPECT_EQ(fault({}, 32),
            "the job's 32 ranks fit several partitions: 8x4 (32 nodes), 4x8 (32 nodes); name its "
            "torus");
  EXPECT_EQ(mapped(torusOptions("4x8"), 32).partition, 2u);
  // The same torus twice, once with a dead node: the number of ranks tells them apart.
  Topology damaged = *parseTopology("4x8");
  ASSERT_TRUE(damaged.addDeadNode({1, 1}).ok());
  index_.partitions.push_back({damaged});
  EXPECT_EQ(mapped(torusOptions("4x8"), 31).partition, 3u);
  EXPECT_EQ(mapped({}, 31).siteOf(5), 6);  // behind the dead node
  damaged = *parseTopology("4x8");
  ASSERT_TRUE(damaged.addDeadLink({{1, 1}, 0}).ok());
  index_.partitions.push_back({damaged});
  EXPECT_EQ(fault(torusOptions("4x8"), 32),
            "the job's 32 ranks fit several partitions: 4x8 (32 nodes), 4x8 (32 nodes)");
}

TEST_F(Mapping, AnOrder) {
  EXPECT_EQ(mapped(orderOptions("ZYXT"), 64).topology.orderString(), "ZYXT");
  EXPECT_EQ(fault(orderOptions("XY"), 64, "", StatusCode::kInvalidArgument).substr(0, 10),
            "order 'XY'");
}

TEST_F(Mapping, AMapping) {
  LibraryOptions options = mappingOptions();
  std::string text;
  for (int y = 3; y >= 0; --y) {
    for (int x = 0; x < 8; ++x)
      text += std::to_string(x) + " " + std::to_string(y) + "\n";
  }
  const JobMapping job = mapped(options, 32, text);
  EXPECT_EQ(job.partition, 1u);
  EXPECT_EQ(job.siteOf(1), 1 + 8 * 3);
  // As many ranks as no partition has: one that is larger, if it is the only one.
  EXPECT_EQ(mapped(mappingOptions("8x4"), 2, "3 3\n4 3\n").siteOf(1), 4 + 8 * 3);
  EXPECT_EQ(mapped(options, 33,
                   [] {
                     std::string lines;
                     for (int i = 0; i < 33; ++i) {
                       lines += std::to_string(i / 2 % 4) + " " + std::to_string(i / 8 % 4) + " " +
                                std::to_string(i / 32) + " " + std::to_string(i % 2) + "\n";
                     }
                     return lines;
                   }())
                .partition,
            0u);
  EXPECT_EQ(fault(options, 2, "3 3\n4 3\n"),
            "the job's 2 ranks fit several partitions: 4x4x2m+2 (64 nodes), 8x4 (32 nodes); name "
            "its torus");
  EXPECT_EQ(fault(options, 65, ""),
            "the job has 65 ranks, partitions of the library are 4x4x2m+2 (64 nodes), 8x4 (32 "
            "nodes)");
  EXPECT_EQ(fault(options, 32, "0 0\n"),
            "job.map: maps 1 ranks, the job has 32 (among others, (1, 0) has no rank)");
  EXPECT_EQ(fault(options, 32, "0 0\n0 9\n", StatusCode::kMalformed),
            "job.map:2: Y=9 is outside (size 4)");
  options.order = "XY";
  EXPECT_EQ(fault(options, 32, "", StatusCode::kInvalidArgument),
            "order 'XY' and mapping file 'job.map' contradict each other: each says where ranks "
            "lie");
}

TEST_F(Mapping, TheMachine) {
  LibraryOptions options;
  options.machine = "bgq";
  EXPECT_EQ(fault(options, 64), "the library is for machine 'generic', not 'bgq'");
}

Topology damaged() {
  StatusOr<Topology> topology = parseTopology("4x3x2");
  EXPECT_TRUE(topology.ok());
  for (const char* node : {"3,0,0", "0,2,1", "1,0,1"}) {
    const StatusOr<Coordinates> at = parseDeadNode(*topology, node);
    EXPECT_TRUE(at.ok() && topology->addDeadNode(*at).ok()) << node;
  }
  for (const char* link : {"2,1,0:X", "0,0,0:Z", "1,1,1:Y"}) {
    const StatusOr<DeadLink> dead = parseDeadLink(*topology, link);
    EXPECT_TRUE(dead.ok() && topology->addDeadLink(*dead).ok()) << link;
  }
  return *topology;
}

TEST(Order, AllOrdersOfADamagedTorusNumberTheSameLiveNodes) {
  const Topology topology = damaged();
  std::array<std::uint8_t, kMaxAxes> order = {0, 1, 2};
  do {
    const StatusOr<Topology> turned = withOrder(topology, order);
    ASSERT_TRUE(turned.ok()) << turned.status().message();
    EXPECT_EQ(turned->ranks(), topology.ranks());
    EXPECT_EQ(turned->dead_link_count, topology.dead_link_count);
    std::set<std::int32_t> ranks;
    for (std::int32_t site = 0; site < static_cast<std::int32_t>(topology.sites()); ++site) {
      const Coordinates at = topology.coordinatesOfSite(site);
      EXPECT_EQ(turned->isDead(at), topology.isDead(at)) << site;
      for (std::uint32_t axis = 0; axis < 3; ++axis) {
        Coordinates there, here;
        EXPECT_EQ(turned->hasLink(at, axis, 1, there), topology.hasLink(at, axis, 1, here));
      }
      const std::int32_t rank = turned->rankOf(at);
      if (rank < 0) continue;
      EXPECT_TRUE(ranks.insert(rank).second) << "rank " << rank << " twice";
      EXPECT_EQ(turned->coordinatesOf(rank), at);
    }
    EXPECT_EQ(ranks.size(), topology.ranks());
    EXPECT_EQ(*ranks.rbegin(), static_cast<std::int32_t>(topology.ranks()) - 1);
  } while (std::next_permutation(order.begin(), order.begin() + 3));
}

TEST(Order, AnOrderThatNamesAnAxisTwiceIsRefused) {
  EXPECT_FALSE(withOrder(damaged(), {0, 0, 2}).ok());
}

}  // namespace
}  // namespace torc::runtime
