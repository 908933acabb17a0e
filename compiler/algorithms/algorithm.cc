// The table of algorithms.
#include "compiler/algorithms/algorithm.h"

#include <llvm/ADT/STLExtras.h>

#include "compiler/algorithms/alltoall/combining.h"
#include "compiler/algorithms/alltoall/direct.h"
#include "compiler/algorithms/alltoall/half_planes.h"
#include "compiler/algorithms/alltoall/two_phase.h"
#include "compiler/algorithms/bfb/bfb.h"
#include "compiler/algorithms/binomial/binomial.h"
#include "compiler/algorithms/bucket/bucket.h"
#include "compiler/algorithms/damage/balanced_alltoall.h"
#include "compiler/algorithms/damage/breadth_first_trees.h"
#include "compiler/algorithms/damage/closed_trees.h"
#include "compiler/algorithms/damage/spanning_trees.h"
#include "compiler/algorithms/recursive/recursive_exchange.h"
#include "compiler/algorithms/rounds/rounds.h"
#include "compiler/algorithms/scan/line_scan.h"
#include "compiler/algorithms/scatter/scatter_trees.h"
#include "compiler/algorithms/trees/dimension_tree.h"
#include "compiler/algorithms/trees/product_trees.h"
#include "compiler/algorithms/trees/rectangular.h"
#include "passes/analysis/plan_axes.h"

namespace torc::compiler {
namespace {

/// Whether the breadth-first broadcast serves the topology.
bool suitsBreadthFirst(const Topology& topology) {
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    const Axis& axis = topology.axes[i];
    if (axis.size > 2 && !axis.isRing()) return false;
    if (axis.size > 1 && axis.kind == AxisKind::kCore) return false;
  }
  return !topology.isDamaged() && topology.ranks() > 1;
}

/// Rings cannot go round every damage; trees can, and are sometimes better where lines can too.
bool suitsTreesByNode(const Topology& topology) {
  return topology.isDamaged() && topology.ranks() <= kMaxTreeNodes;
}

bool suitsBalancedRoutes(const Topology& topology) {
  if (!topology.isDamaged()) return false;
  llvm::Error error = checkRouteHops(topology);
  const bool suits = !error;
  consumeError(std::move(error));
  return suits;
}

/// Where closed trees serve a torus of many nodes, packed ones are not worth their long program.
bool suitsPackedTrees(const Topology& topology) {
  constexpr std::uint64_t kFewNodes = 128;
  return suitsTreesByNode(topology) &&
         (topology.ranks() <= kFewNodes || !suitsClosedTrees(topology));
}

/// allreduce, reduce_scatter, allgather, scan, exscan.
bool isBetweenEquals(const CollectiveRow& collective) {
  return collective.blocks == BlockSpace::kNode && !collective.isRooted();
}

bool isPrefix(const CollectiveRow& collective) {
  return collective.isPrefix();
}

/// allreduce, reduce_scatter, allgather.
bool hasNoRoot(const CollectiveRow& collective) {
  return isBetweenEquals(collective) && !collective.isPrefix();
}

bool isAllreduce(const CollectiveRow& collective) {
  return hasNoRoot(collective) && collective.inWhole() && collective.outWhole();
}

/// reduce_scatter, allgather.
bool hasNoRootAndBlocks(const CollectiveRow& collective) {
  return hasNoRoot(collective) && !isAllreduce(collective);
}

/// broadcast, reduce.
bool hasRootAndWhole(const CollectiveRow& collective) {
  return collective.isRooted() && collective.inWhole() && collective.outWhole();
}

bool isBroadcast(const CollectiveRow& collective) {
  return hasRootAndWhole(collective) && !collective.reduces();
}

bool isReduce(const CollectiveRow& collective) {
  return hasRootAndWhole(collective) && collective.reduces();
}

/// broadcast, reduce, scatter, gather.
bool hasRoot(const CollectiveRow& collective) {
  return collective.isRooted();
}

/// scatter, gather.
bool hasRootAndBlocks(const CollectiveRow& collective) {
  return collective.isRooted() && collective.layout == Layout::kBlockMajor;
}

bool isAlltoall(const CollectiveRow& collective) {
  return collective.blocks == BlockSpace::kPair;
}

bool isNotDamaged(const Topology& topology) {
  return !topology.isDamaged();
}

bool hasSeveralDimensions(const Topology& topology) {
  return !topology.isDamaged() && passes::networkAxes(topology).size() > 1;
}

/// Whether its nodes are rows and columns of a mesh.
bool isVirtualMesh(const Topology& topology) {
  return !topology.isDamaged() && nearlySquare(topology).columns != 0;
}

bool hasCores(const Topology& topology) {
  return !topology.isDamaged() && topology.hasCores();
}

/// A line's nodes are known by their coordinates, not by how far they are from the root.
bool looksTheSameFromEveryRoot(const Topology& topology) {
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    if (!topology.axes[i].wraps()) return false;
  }
  return !topology.isDamaged();
}

/// Whether axes are short enough for operations of single coordinates.
bool isNotLong(const Topology& topology) {
  constexpr std::uint32_t kLongest = 256;
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    if (topology.axes[i].size > kLongest) return false;
  }
  return true;
}

/// A step of a ring is an operation of its own, for the nodes that the data have reached: on very
/// long rings file and proof become large (256x4: 0.4 MiB, 0.5 s; 1024x4: 1.7 MiB, 19 s).
bool suitsRingsFromRoot(const Topology& topology) {
  return isNotLong(topology) && looksTheSameFromEveryRoot(topology);
}

/// Operations grow with the length of the axes.
bool suitsRecursiveExchange(const Topology& topology) {
  return isNotLong(topology) && !topology.isDamaged();
}

/// Operations of single nodes of an axis meet those of every other axis: on long axes there are too
/// many to prove.
bool suitsRounds(const Topology& topology) {
  constexpr std::uint32_t kLongest = 32;
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    if (topology.axes[i].size > kLongest) return false;
  }
  return !topology.isDamaged() && topology.ranks() > 1;
}

bool isNotBroken(const Topology& topology) {
  return !topology.isBroken();
}

}  // namespace

llvm::ArrayRef<Algorithm> algorithms() {
  static constexpr Algorithm kAlgorithms[] = {
      {"bucket", "N-dimensional multicolor bucket algorithm: all links of a node at a time",
       hasNoRoot, planBucket, estimateBucket, /*multicolor=*/true, PlanForm::kRings,
       /*pipeline=*/nullptr, isNotBroken},
      {"bucket-1d", "one-dimensional bucket algorithm along one axis after another, in one color",
       hasNoRoot, planBucket, estimateBucketOfOneColor, /*multicolor=*/false, PlanForm::kRings,
       /*pipeline=*/nullptr, isNotBroken},
      {"bfb", "breadth-first broadcast: as many steps as the diameter, lists of blocks", hasNoRoot,
       planBfb, estimateBfb,
       /*multicolor=*/false, PlanForm::kSteps, /*pipeline=*/nullptr, suitsBreadthFirst},
      {"recursive-doubling",
       "exchanges in groups of 2, 4, 8, ... nodes: the fewest rounds of one message",
       isBetweenEquals, planRecursiveDoubling, estimateRecursiveDoubling, /*multicolor=*/false,
       PlanForm::kSteps,
       /*pipeline=*/nullptr, suitsRecursiveExchange},
      {"recursive-multiplying", "the same in groups that grow faster, of up to 7 messages a round",
       isBetweenEquals, planRecursiveMultiplying, estimateRecursiveMultiplying,
       /*multicolor=*/false, PlanForm::kSteps,
       /*pipeline=*/nullptr, suitsRecursiveExchange},
      {"swing",
       "reduce-scatters and allgathers along Swing's peers: logarithms of the axes' lengths",
       hasNoRoot, planSwing, estimateSwing, /*multicolor=*/true, PlanForm::kRounds,
       /*pipeline=*/nullptr, suitsRounds},
      {"groups", "the same in groups of up to 8 nodes of an axis: fewer rounds, more messages",
       hasNoRoot, planGroups, estimateGroups, /*multicolor=*/true, PlanForm::kRounds,
       /*pipeline=*/nullptr, suitsRounds},
      {"line-scan", "prefixes up the lines of each axis, and down again: a pipeline of neighbours",
       isPrefix, planLineScan, estimateLineScan, /*multicolor=*/false, PlanForm::kSteps,
       lineScanPipeline, isNotDamaged, /*shrinks=*/false, /*window=*/127},
      {"closed-trees", "2N pipelined trees round a dead node, and joined round what else is dead",
       isAllreduce, planClosedTrees, estimateClosedTrees, /*multicolor=*/false, PlanForm::kSteps,
       closedTreesPipeline, suitsClosedTrees, /*shrinks=*/true},
      {"spanning-trees", "edge-disjoint pipelined trees around any damage", isAllreduce,
       planSpanningTrees, estimateTreesByNode, /*multicolor=*/false, PlanForm::kSteps,
       spanningTreesPipeline, suitsPackedTrees},
      {"breadth-first-trees", "trees of shortest ways around any damage", hasNoRootAndBlocks,
       planBreadthFirstTrees, estimateTreesByNode, /*multicolor=*/false, PlanForm::kSteps,
       /*pipeline=*/nullptr, suitsTreesByNode},
      {"balanced-routes",
       "all-to-all: from neighbour to neighbour on shortest ways round any damage", isAlltoall,
       planBalancedAlltoall, estimateTreesByNode, /*multicolor=*/false, PlanForm::kSteps,
       balancedAlltoallPipeline, suitsBalancedRoutes},
      {"rectangular", "2N arc-disjoint pipelined trees: all links of the root at a time",
       hasRootAndWhole, planRectangular, estimateRectangular, /*multicolor=*/false,
       PlanForm::kSteps, rectangularPipeline, suitsRectangular},
      {"product-trees",
       "the same where some axes are lines: 2 trees for each ring, 1 for each line",
       hasRootAndWhole, planProductTrees, estimateProductTrees, /*multicolor=*/false,
       PlanForm::kSteps, productTreesPipeline, suitsProductTrees},
      {"dimension-tree", "one pipelined tree from or to the root, along one axis after another",
       hasRootAndWhole, planDimensionTree, estimateDimensionTree, /*multicolor=*/false,
       PlanForm::kTrees, dimensionTreePipeline, isNotDamaged},
      {"scatter-allgather", "every node a share of the root's vector, then an allgather of them",
       isBroadcast, planBucket, estimateBucket, /*multicolor=*/true, PlanForm::kRings,
       /*pipeline=*/nullptr, suitsRingsFromRoot},
      {"reduce-scatter-gather", "every node the sum of a share, then a gather of them at the root",
       isReduce, planBucket, estimateBucket, /*multicolor=*/true, PlanForm::kRings,
       /*pipeline=*/nullptr, suitsRingsFromRoot},
      {"scatter-trees", "all links of the root: blocks by 2N pipelined trees", hasRootAndBlocks,
       planScatterTrees, estimateScatterTrees, /*multicolor=*/false, PlanForm::kSteps,
       scatterTreesPipeline, looksTheSameFromEveryRoot, /*shrinks=*/false, /*window=*/3},
      {"binomial", "binomial trees, one axis after another: the fewest rounds, for short vectors",
       hasRoot, planBinomial, estimateBinomial, /*multicolor=*/false, PlanForm::kSteps,
       /*pipeline=*/nullptr, looksTheSameFromEveryRoot},
      {"rotated-binomial", "the same in rotated orders, a color for each link of the root",
       hasRootAndBlocks, planRotatedBinomial, estimateRotatedBinomial, /*multicolor=*/false,
       PlanForm::kSteps,
       /*pipeline=*/nullptr, looksTheSameFromEveryRoot},
      {"bine", "the same along Bine trees, whose messages go a third of a ring and not half of it",
       hasRootAndWhole, planBine, estimateBinomial, /*multicolor=*/false, PlanForm::kSteps,
       /*pipeline=*/nullptr, looksTheSameFromEveryRoot},
      {"direct", "all-to-all: to every node its block, in an order drawn for each", isAlltoall,
       planDirectAlltoall, estimateExchanges, /*multicolor=*/false, PlanForm::kExchanges,
       /*pipeline=*/nullptr, isNotDamaged},
      {"rotated-rings", "ring all-to-alls in rotated orders: neighbours only, all links at a time",
       isAlltoall, planRingAlltoall, estimateExchanges, /*multicolor=*/true, PlanForm::kExchanges,
       /*pipeline=*/nullptr, hasSeveralDimensions},
      {"rings", "ring all-to-alls along one axis after another: neighbours only", isAlltoall,
       planRingAlltoall, estimateExchanges, /*multicolor=*/false, PlanForm::kExchanges,
       /*pipeline=*/nullptr, isNotDamaged},
      {"two-phase", "along the linear dimension, then in the planes", isAlltoall,
       planTwoPhaseAlltoall, estimateExchanges, /*multicolor=*/false, PlanForm::kExchanges,
       /*pipeline=*/nullptr, hasSeveralDimensions},
      {"rotated-two-phase", "the same, every dimension the linear one of a color", isAlltoall,
       planRotatedTwoPhaseAlltoall, estimateExchanges, /*multicolor=*/true, PlanForm::kExchanges,
       /*pipeline=*/nullptr, hasSeveralDimensions},
      {"virtual-mesh", "along one axis after another in combined messages, for short ones",
       isAlltoall, planVirtualMeshAlltoall, estimateExchanges, /*multicolor=*/false,
       PlanForm::kExchanges,
       /*pipeline=*/nullptr, hasSeveralDimensions},
      {"half-planes", "along the columns, then the rows of a virtual mesh that is nearly square",
       isAlltoall, planHalfPlanesAlltoall, estimateExchanges, /*multicolor=*/false,
       PlanForm::kExchanges,
       /*pipeline=*/nullptr, isVirtualMesh},
      {"bruck", "virtual-mesh in the fewest messages, for the shortest", isAlltoall,
       planBruckAlltoall, estimateExchanges, /*multicolor=*/false, PlanForm::kExchanges,
       /*pipeline=*/nullptr, isNotDamaged},
      {"aggregated", "cores exchange first, then each with its like on every node", isAlltoall,
       planAggregatedAlltoall, estimateExchanges, /*multicolor=*/false, PlanForm::kExchanges,
       /*pipeline=*/nullptr, hasCores},
      {"distributed", "the same in the other order", isAlltoall, planDistributedAlltoall,
       estimateExchanges,
       /*multicolor=*/false, PlanForm::kExchanges, /*pipeline=*/nullptr, hasCores},
      {"leader", "the first core of a node has all that is sent and received: the fewest messages",
       isAlltoall, planLeaderAlltoall, estimateExchanges, /*multicolor=*/false,
       PlanForm::kExchanges,
       /*pipeline=*/nullptr, hasCores},
  };
  return kAlgorithms;
}

bool isWorthTrying(const Algorithm& algorithm, const CollectiveSpec& spec) {
  return algorithm.serves(rowOf(spec.collective)) &&
         (algorithm.suits == nullptr || algorithm.suits(spec.topology));
}

bool isServed(const CollectiveSpec& spec) {
  return llvm::any_of(algorithms(),
                      [&](const Algorithm& algorithm) { return isWorthTrying(algorithm, spec); });
}

std::optional<Collective> servingRootless(const CollectiveSpec& spec) {
  const std::optional<Collective> rootless = rowOf(spec.collective).rootless;
  if (isServed(spec) || !rootless || !isServed({*rootless, spec.topology})) return std::nullopt;
  return rootless;
}

llvm::Error noAlgorithm(const CollectiveSpec& spec) {
  std::string text = "no algorithm serves " + std::string(rowOf(spec.collective).name) +
                     " on this " + (spec.topology.isDamaged() ? "damaged " : "") +
                     spec.topology.shape();
  if (spec.topology.isDamaged() && isAlltoall(rowOf(spec.collective))) {
    llvm::handleAllErrors(checkRouteHops(spec.topology), [&](const llvm::ErrorInfoBase& error) {
      text += "; " + error.message();
    });
  } else if (spec.topology.isDamaged() && spec.topology.ranks() > kMaxTreeNodes) {
    text += " of " + std::to_string(spec.topology.ranks()) + " live nodes, more than " +
            std::to_string(kMaxTreeNodes);
  }
  if (const std::optional<Collective> rootless = servingRootless(spec)) {
    text += "; a schedule for " + std::string(rowOf(*rootless).name) +
            " does, in a library, torc-run and the C API";
  }
  return llvm::createStringError(llvm::inconvertibleErrorCode(), text);
}

const Algorithm& defaultAlgorithm(const CollectiveSpec& spec) {
  const Algorithm *serving = nullptr, *suiting = nullptr;
  for (const Algorithm& algorithm : algorithms()) {
    if (serving == nullptr && algorithm.serves(rowOf(spec.collective))) serving = &algorithm;
    if (!isWorthTrying(algorithm, spec)) continue;
    if (beyondLimits(algorithm.estimate(spec)).empty()) return algorithm;
    if (suiting == nullptr) suiting = &algorithm;
  }
  return suiting != nullptr ? *suiting : *serving;
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

}  // namespace torc::compiler
