// The table of algorithms.
#include "compiler/algorithms/algorithm.h"

#include "compiler/algorithms/bfb/bfb.h"
#include "compiler/algorithms/bucket/bucket.h"
#include "compiler/algorithms/trees/spanning_trees.h"

namespace torc {
namespace {

// Linear programs and lists of blocks grow with the nodes: seconds for this many.
constexpr std::uint64_t kMostBreadthFirst = 8192;

/// Whether the breadth-first broadcast serves the topology, and soon.
bool suitsBreadthFirst(const Topology& topology) {
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    const Axis& axis = topology.axes[i];
    if (axis.size > 2 && !axis.isRing()) return false;
    if (axis.size > 1 && axis.kind == AxisKind::kCore) return false;
  }
  return !topology.isDamaged() && topology.ranks() > 1 && topology.ranks() <= kMostBreadthFirst;
}

/// Rings cannot go round every damage; trees can, and are sometimes better where lines can too.
bool isDamaged(const Topology& topology) {
  return topology.isDamaged();
}

bool isNotBroken(const Topology& topology) {
  return !topology.isBroken();
}

}  // namespace

llvm::ArrayRef<Algorithm> algorithms() {
  static constexpr Algorithm kAlgorithms[] = {
      {"bucket", "N-dimensional multicolor bucket algorithm: all links of a node at a time",
       planBucket, /*multicolor=*/true, /*makes_steps=*/false, isNotBroken},
      {"bucket-1d", "one-dimensional bucket algorithm along one axis after another, in one color",
       planBucket, /*multicolor=*/false, /*makes_steps=*/false, isNotBroken},
      {"bfb", "breadth-first broadcast: as many steps as the diameter, lists of blocks", planBfb,
       /*multicolor=*/false, /*makes_steps=*/true, suitsBreadthFirst},
      {"spanning-trees", "edge-disjoint or breadth-first trees around any damage",
       planSpanningTrees,
       /*multicolor=*/false, /*makes_steps=*/true, isDamaged},
  };
  return kAlgorithms;
}

const Algorithm& defaultAlgorithm(const Topology& topology) {
  return topology.isBroken() ? algorithms().back() : algorithms().front();
}

llvm::Expected<const Algorithm*> findAlgorithm(llvm::StringRef name) {
  std::string known;
  for (const Algorithm& algorithm : algorithms()) {
    if (algorithm.name == name) return &algorithm;
    known += (known.empty() ? "" : ", ") + algorithm.name.str();
  }
  return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                 "unknown algorithm '" + name + "'; there are " + known);
}

}  // namespace torc
