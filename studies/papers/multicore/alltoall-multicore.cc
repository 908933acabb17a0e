// Figures 1 to 5 and 7 to 13 of "Scaling Alltoall Collective on Multi-core Systems" (Kumar,
// Mamidala and Panda) by the cluster model (studies/cluster). The paper's measurements are in its
// figures only; this program checks the claims of its text against the model. Writes
// FOLDER/NAME.csv and prints the claims and the tables.
//
//   1         a direct all-to-all of the same data by 1 to 8 cores a node, InfiniPath
//   2, 3, 4   bandwidth both ways of 1 to 4 pairs of cores on InfiniPath, ConnectX, InfiniHost III
//   5         the copies of aggregation and of distribution, InfiniPath
//   7, 8, 9   all-to-alls on InfiniPath: over sizes, aggregated and distributed, over nodes
//   10, 11    all-to-alls on InfiniHost III
//   12        all-to-alls on ConnectX
//   13        an FFT in place of CPMD, InfiniPath
//
//   bazel run -c opt //studies/papers:alltoall-multicore -- FOLDER
//   bash studies/papers/alltoall-multicore.sh also draws
#include <cstdio>
#include <string>
#include <vector>

#include "studies/cluster/pairs.h"
#include "studies/papers/multicore/figure.h"

namespace torc::studies {
namespace {

using enum ClusterStrategy;

Figure figure1() {
  Figure figure("01", "Figure 1: direct all-to-all of the same data, 64 nodes of InfiniPath",
                "bytes from node to node", "us", sizes(1024, 1 << 18));
  for (const std::uint32_t cores : {1u, 2u, 4u, 8u}) {
    figure.draw(std::to_string(cores) + (cores == 1 ? " core" : " cores"), [&](double bytes) {
      return On("infinipath", 64, cores)
          .microseconds(kOriginal, bytes / cores / cores, ExchangeKind::kDirect);
    });
  }
  return figure;
}

Figure pairsFigure(const char* name, const char* title, const char* cluster) {
  Figure figure(name, title, "bytes of a message", "MB/s", sizes(1, 1 << 20));
  for (const std::uint32_t pairs : {1u, 2u, 3u, 4u}) {
    figure.draw(std::to_string(pairs) + (pairs == 1 ? " pair" : " pairs"), [&](double bytes) {
      return pairRate(clusterNamed(cluster), pairs, bytes, /*both_directions=*/true).bytes * 1e-6;
    });
  }
  return figure;
}

Figure figure5() {
  Figure figure("05", "Figure 5: copies of 8 cores for 64 nodes, InfiniPath", "bytes of a block",
                "us", sizes(1, 8192));
  const Cluster cluster = clusterNamed("infinipath");
  const auto copies = [&](ClusterStrategy strategy, double bytes) {
    return copiesOf(cluster, {64, 8, bytes, strategy, ExchangeKind::kDirect});
  };
  figure.draw("aggregation", [&](double bytes) {
    return simulateCopies(cluster, 8, copies(kAggregated, bytes).in) * 1e6;
  });
  figure.draw("distribution", [&](double bytes) {
    return simulateCopies(cluster, 8, copies(kDistributed, bytes).out) * 1e6;
  });
  return figure;
}

Figure alltoallFigure(const char* name, const char* title, const char* cluster, std::uint32_t nodes,
                      std::initializer_list<ClusterStrategy> strategies) {
  Figure figure(name, title, "bytes of a block", "us", sizes(1, 8192));
  for (const ClusterStrategy strategy : strategies) {
    figure.draw(nameOf(strategy),
                [&](double bytes) { return On(cluster, nodes).microseconds(strategy, bytes); });
  }
  return figure;
}

Figure figure9() {
  Figure figure("09", "Figure 9: all-to-all of 512 bytes, InfiniPath", "nodes of 8 cores", "us",
                sizes(2, 64));
  for (const ClusterStrategy strategy : {kOriginal, kLeader, kAggregated}) {
    figure.draw(nameOf(strategy), [&](double nodes) {
      return On("infinipath", static_cast<std::uint32_t>(nodes)).microseconds(strategy, 512);
    });
  }
  return figure;
}

/// In place of figure 13, whose inputs the paper does not give: a transform of 128 points a side of
/// 16 bytes each, all of whose data every all-to-all moves. A core does 10^9 operations a second
/// (estimate), five for every point and binary digit of all points.
Figure figure13() {
  Figure figure("13", "Figure 13: a 3-D FFT of 128 points a side, InfiniPath", "nodes of 8 cores",
                "us", {8, 16, 32, 64});
  constexpr double kPoints = 128.0 * 128 * 128, kRate = 1e9;
  for (const ClusterStrategy strategy : {kOriginal, kLeader, kAggregated}) {
    figure.draw(nameOf(strategy), [&](double nodes) {
      const double ranks = 8 * nodes;
      return 5 * kPoints * std::log2(kPoints) / ranks / kRate * 1e6 +
             On("infinipath", static_cast<std::uint32_t>(nodes))
                 .microseconds(strategy, 16 * kPoints / ranks / ranks);
    });
  }
  return figure;
}

/// The original and aggregation on 64 nodes of InfiniPath, with each cause of times beyond the
/// wire's, and without the others.
void printCauses() {
  std::printf("\n## What the causes do: 512 bytes, 64 nodes of 8 cores, InfiniPath\n");
  printHeads({"", "direct, us", "pairwise, us", "bruck, us", "leader, us", "aggregated, us",
              "less than direct", "receives that a message's stands behind"});
  const auto row = [](const char* name, bool queues, bool copies, std::uint32_t leaf,
                      std::uint32_t placement) {
    Cluster cluster = clusterNamed("infinipath");
    if (!queues) cluster.match = 0;
    if (!copies) cluster.eager_copy = 0;
    cluster.leaf_nodes = leaf;
    cluster.uplinks = leaf;
    cluster.placement = placement;
    const On on(cluster, 64);
    const ClusterRun direct = on.run(kOriginal, 512, ExchangeKind::kDirect);
    const double aggregated = on.microseconds(kAggregated, 512);
    std::printf("| %s | %.5g | %.5g | %.5g | %.5g | %.5g | %.0f %% | %.1f |\n", name,
                direct.seconds * 1e6, on.microseconds(kOriginal, 512, ExchangeKind::kPairwise),
                on.microseconds(kOriginal, 512, ExchangeKind::kBruck),
                on.microseconds(kLeader, 512), aggregated,
                100 * (1 - aggregated / (direct.seconds * 1e6)),
                static_cast<double>(direct.searched) / (8.0 * 511));
  };
  constexpr std::uint32_t kLeaf = 12, kOne = kMaxClusterNodes;
  row("none", false, false, kOne, 0);
  row("queues that are searched", true, false, kOne, 0);
  row("copies out of the NIC's buffers", false, true, kOne, 0);
  row("the fat tree", false, false, kLeaf, 0);
  row("all three", true, true, kLeaf, 0);
  row("all, nodes in places drawn, 1", true, true, kLeaf, 1);
  row("all, nodes in places drawn, 2", true, true, kLeaf, 2);
  row("all, leaves of 16, which divide 64", true, true, 16, 0);
}

/// Work that grows with open receives: 3500 us for 512 messages to one dedicated rank (Sancho,
/// Kerbyson and Barker, figure 10), where docs/research/papers/cdcp.md has 830, are 20.3 ns for
/// each of 512 * 513 / 2. Only this number is fitted.
void printOpenReceives() {
  std::printf("\n## 20.3 ns of work more for each open receive, InfiniPath, 8 cores a node, us\n");
  printHeads({"nodes", "bytes", "bruck", "direct", "aggregated", "distributed"});
  Cluster cluster = clusterNamed("infinipath");
  cluster.open_receive = 20.3e-9;
  const auto row = [&](std::uint32_t nodes, double bytes) {
    const On on(cluster, nodes);
    std::printf("| %u | %.0f | %.5g | %.5g | %.5g | %.5g |\n", nodes, bytes,
                on.microseconds(kOriginal, bytes, ExchangeKind::kBruck),
                on.microseconds(kOriginal, bytes, ExchangeKind::kDirect),
                on.microseconds(kAggregated, bytes), on.microseconds(kDistributed, bytes));
  };
  for (const double bytes : sizes(128, 2048))
    row(64, bytes);
  for (const std::uint32_t nodes : {8u, 16u, 32u})
    row(nodes, 512);
}

/// Section 5 describes two leaders without measurements.
void printLeaders() {
  std::printf("\n## One, two and four leaders, 64 nodes of 8 cores, us\n");
  printHeads({"bytes of a block", "InfiniPath, 1", "2", "4", "aggregated", "InfiniHost III, 1", "2",
              "4", "aggregated"});
  const On path("infinipath", 64), host("infinihost", 64);
  for (const double bytes : {1.0, 8.0, 64.0, 512.0, 2048.0}) {
    std::printf("| %.0f |", bytes);
    for (const On* on : {&path, &host}) {
      for (const std::uint32_t leaders : {1u, 2u, 4u})
        std::printf(" %.5g |", on->microseconds(kLeader, bytes, {}, leaders));
      std::printf(" %.5g |", on->microseconds(kAggregated, bytes));
    }
    std::printf("\n");
  }
}

void printClaims(const std::vector<Claim>& claims) {
  std::printf("\n## What the text says\n");
  printHeads({"figure", "the paper (section)", "here", ""});
  for (const Claim& claim : claims) {
    std::printf("| %s | %s | %s | %s |\n", claim.figure, claim.says, claim.here.c_str(),
                claim.outcome);
  }
}

int run(const std::string& folder) {
  std::vector<Figure> figures = {
      figure1(),
      pairsFigure("02", "Figure 2: bandwidth both ways, InfiniPath SDR", "infinipath"),
      pairsFigure("03", "Figure 3: bandwidth both ways, ConnectX DDR", "connectx"),
      pairsFigure("04", "Figure 4: bandwidth both ways, InfiniHost III DDR", "infinihost"),
      figure5(),
      alltoallFigure("07", "Figure 7: all-to-all on 64 nodes of 8 cores, InfiniPath", "infinipath",
                     64, {kOriginal, kLeader, kAggregated}),
      alltoallFigure("08", "Figure 8: aggregated and distributed, 64 nodes of 8 cores, InfiniPath",
                     "infinipath", 64, {kAggregated, kDistributed}),
      figure9(),
      alltoallFigure("10", "Figure 10: all-to-all on 64 nodes of 8 cores, InfiniHost III",
                     "infinihost", 64, {kOriginal, kLeader, kAggregated}),
      alltoallFigure("11",
                     "Figure 11: aggregated and distributed, 64 nodes of 8 cores, InfiniHost III",
                     "infinihost", 64, {kAggregated, kDistributed}),
      alltoallFigure("12", "Figure 12: all-to-all on 4 nodes of 8 cores, ConnectX", "connectx", 4,
                     {kOriginal, kLeader, kAggregated, kDistributed}),
      figure13(),
  };
  printClaims(claimsOf(figures));
  printCauses();
  printOpenReceives();
  printLeaders();
  for (const Figure& figure : figures)
    figure.write(folder, "%.5g", std::string(", ") + figure.unit);
  return 0;
}

}  // namespace
}  // namespace torc::studies

int main(int argc, char** argv) {
  if (argc != 2) torc::studies::quit("FOLDER?");
  return torc::studies::run(argv[1]);
}
