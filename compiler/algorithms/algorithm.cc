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
#include "compiler/algorithms/neighbours/neighbours.h"
#include "compiler/algorithms/planes/plane_trees.h"
#include "compiler/algorithms/recursive/recursive_exchange.h"
#include "compiler/algorithms/rounds/rounds.h"
#include "compiler/algorithms/scan/line_scan.h"
#include "compiler/algorithms/scatter/linear.h"
#include "compiler/algorithms/scatter/scatter_trees.h"
#include "compiler/algorithms/trees/dimension_tree.h"
#include "compiler/algorithms/trees/product_trees.h"
#include "compiler/algorithms/trees/rectangular.h"
#include "ir/make_error.h"
#include "passes/analysis/plan_axes.h"

namespace torc::compiler {
namespace {

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

/// neighbor_allgather, neighbor_alltoall.
bool isOfNeighbours(const CollectiveRow& collective) {
  return collective.isOfNeighbours();
}

constexpr llvm::StringRef kDamage = "something is dead";
constexpr llvm::StringRef kNoDamage = "nothing is dead";
constexpr llvm::StringRef kLine = "an axis is a line";
constexpr llvm::StringRef kNoRing = "an axis is no ring";
constexpr llvm::StringRef kCores = "nodes have cores";
constexpr llvm::StringRef kOneNode = "there is one node";

llvm::ArrayRef<Axis> axesOf(const Topology& topology) {
  return llvm::ArrayRef(topology.axes.data(), topology.axis_count);
}

bool isLongerThan(const Topology& topology, std::uint32_t longest) {
  return llvm::any_of(axesOf(topology), [&](const Axis& axis) { return axis.size > longest; });
}

/// A line of two wraps.
bool hasLine(const Topology& topology) {
  return llvm::any_of(axesOf(topology), [](const Axis& axis) { return !axis.wraps(); });
}

bool hasSeveralCores(const Topology& topology) {
  return topology.hasCores() && topology.axes[topology.axis_count - 1].size > 1;
}

// What follows says why an algorithm is not worth a try: Algorithm::unsuited.

llvm::StringRef unsuitedIfDamaged(const Topology& topology) {
  return topology.isDamaged() ? kDamage : "";
}

/// Of rings: what is dead they go round.
llvm::StringRef suitsAll(const Topology&) {
  return "";
}

llvm::StringRef unsuitedToBreadthFirst(const Topology& topology) {
  if (topology.isDamaged()) return kDamage;
  if (topology.ranks() == 1) return kOneNode;
  if (hasSeveralCores(topology)) return kCores;
  return hasLine(topology) ? kLine : "";
}

/// Trees whose operations are single nodes'.
llvm::StringRef unsuitedToTreesByNode(const Topology& topology) {
  if (!topology.isDamaged()) return kNoDamage;
  return topology.ranks() > kMaxTreeNodes ? "more than 512 nodes are alive" : "";
}
static_assert(kMaxTreeNodes == 512);

// Operations of single nodes are not worth their long program on more nodes, where others serve.
constexpr std::uint64_t kFewNodes = 128;

/// Rings with detours serve all others.
llvm::StringRef unsuitedToBreadthFirstTrees(const Topology& topology) {
  if (!topology.isDamaged()) return kNoDamage;
  return topology.ranks() > kFewNodes ? "more than 128 nodes are alive" : "";
}

llvm::StringRef unsuitedToClosedTrees(const Topology& topology) {
  if (!topology.isDamaged()) return kNoDamage;
  if (topology.hasCores()) return kCores;
  return suitsClosedTrees(topology) ? "" : kNoRing;
}

llvm::StringRef unsuitedToPackedTrees(const Topology& topology) {
  if (const llvm::StringRef why = unsuitedToTreesByNode(topology); !why.empty()) return why;
  return topology.ranks() > kFewNodes && suitsClosedTrees(topology)
             ? "closed-trees serve so many nodes in a shorter program"
             : "";
}

llvm::StringRef unsuitedToBalancedRoutes(const Topology& topology) {
  if (!topology.isDamaged()) return kNoDamage;
  llvm::Error error = checkRouteHops(topology);
  const bool suits = !error;
  consumeError(std::move(error));
  return suits ? "" : "all blocks have more than a million hops to make";
}
static_assert(kMaxRouteHops == 1'000'000);

llvm::StringRef unsuitedToRectangular(const Topology& topology) {
  if (topology.isDamaged()) return kDamage;
  return suitsRectangular(topology) ? "" : kNoRing;
}

llvm::StringRef unsuitedToProductTrees(const Topology& topology) {
  if (suitsProductTrees(topology)) return "";
  if (topology.isBroken()) return "the trees cannot go round what is dead";
  if (hasSeveralCores(topology)) return kCores;
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    if (topology.axes[i].size == 2 && topology.isLine(i)) return "a line has two nodes";
  }
  return "all axes are rings";
}

llvm::StringRef unsuitedToPlaneTrees(const Topology& topology) {
  if (!topology.isDamaged()) return kNoDamage;
  return suitsPlaneTrees(topology) ? "" : "more than a node is dead, or an axis is no ring";
}

/// Neighbours stand in for what is dead where all axes are rings.
llvm::StringRef unsuitedToRotatedRings(const Topology& topology) {
  if (passes::networkAxes(topology).size() < 2) return "there is one dimension";
  if (!topology.isDamaged()) return "";
  if (hasSeveralCores(topology)) return kCores;
  return hasLine(topology) ? kLine : "";
}

llvm::StringRef unsuitedToRings(const Topology& topology) {
  if (!topology.isDamaged()) return "";
  if (hasSeveralCores(topology)) return kCores;
  if (hasLine(topology)) return kLine;
  return passes::networkAxes(topology).size() > 1 ? "rotated-rings serve where something is dead"
                                                  : "";
}

llvm::StringRef unsuitedIfOneDimension(const Topology& topology) {
  if (topology.isDamaged()) return kDamage;
  return passes::networkAxes(topology).size() > 1 ? "" : "there is one dimension";
}

/// Whether its nodes are rows and columns of a mesh.
llvm::StringRef unsuitedToVirtualMesh(const Topology& topology) {
  if (topology.isDamaged()) return kDamage;
  return nearlySquare(topology).columns != 0 ? "" : "the nodes are no rows and columns";
}

llvm::StringRef unsuitedWithoutCores(const Topology& topology) {
  if (topology.isDamaged()) return kDamage;
  return topology.hasCores() ? "" : "nodes have no cores";
}

/// Where nodes are told apart by how far they are from the root: a line's are not.
llvm::StringRef unsuitedIfRootsDiffer(const Topology& topology) {
  if (topology.isDamaged()) return kDamage;
  return hasLine(topology) ? kLine : "";
}

/// One node sends to all others, or to all of its line: no machine does that at no cost to a core,
/// though its description may not say so.
llvm::StringRef unsuitedToLinear(const Topology& topology) {
  const llvm::StringRef why = unsuitedIfRootsDiffer(topology);
  return why.empty() && topology.sites() > kMostLinearNodes ? "there are more than 64 ranks" : why;
}

llvm::StringRef unsuitedToFlat(const Topology& topology) {
  constexpr std::uint32_t kLongest = 16;
  const llvm::StringRef why = unsuitedIfRootsDiffer(topology);
  return why.empty() && isLongerThan(topology, kLongest) ? "an axis is longer than 16" : why;
}

/// Operations of single coordinates.
llvm::StringRef unsuitedIfLong(const Topology& topology) {
  constexpr std::uint32_t kLongest = 256;
  return isLongerThan(topology, kLongest) ? "an axis is longer than 256" : "";
}

/// A step of a ring is an operation of its own, for the nodes that the data have reached: on very
/// long rings file and proof become large (256x4: 0.4 MiB, 0.5 s; 1024x4: 1.7 MiB, 19 s).
llvm::StringRef unsuitedToRingsFromRoot(const Topology& topology) {
  const llvm::StringRef why = unsuitedIfRootsDiffer(topology);
  return why.empty() ? unsuitedIfLong(topology) : why;
}

/// Operations grow with the length of the axes.
llvm::StringRef unsuitedToRecursiveExchange(const Topology& topology) {
  return topology.isDamaged() ? kDamage : unsuitedIfLong(topology);
}

/// Operations of single nodes of an axis meet those of every other axis: on long axes there are too
/// many to prove.
llvm::StringRef unsuitedToRounds(const Topology& topology) {
  constexpr std::uint32_t kLongest = 32;
  if (topology.isDamaged()) return kDamage;
  if (topology.ranks() == 1) return kOneNode;
  return isLongerThan(topology, kLongest) ? "an axis is longer than 32" : "";
}

}  // namespace

llvm::ArrayRef<Algorithm> algorithms() {
  static constexpr Algorithm kAlgorithms[] = {
      {.name = "bucket",
       .description = "N-dimensional multicolor bucket algorithm: all links of a node at a time",
       .serves = hasNoRoot,
       .plan = planBucket,
       .estimate = estimateBucket,
       .multicolor = true,
       .form = PlanForm::kRings,
       .unsuited = suitsAll},
      {.name = "bucket-1d",
       .description = "one-dimensional bucket algorithm along one axis after another, in one color",
       .serves = hasNoRoot,
       .plan = planBucket,
       .estimate = estimateBucketOfOneColor,
       .form = PlanForm::kRings,
       .unsuited = suitsAll},
      {.name = "bfb",
       .description = "breadth-first broadcast: as many steps as the diameter, lists of blocks",
       .serves = hasNoRoot,
       .plan = planBfb,
       .estimate = estimateBfb,
       .unsuited = unsuitedToBreadthFirst},
      {.name = "recursive-doubling",
       .description = "exchanges in groups of 2, 4, 8, ... nodes: the fewest rounds of one message",
       .serves = isBetweenEquals,
       .plan = planRecursiveDoubling,
       .estimate = estimateRecursiveDoubling,
       .unsuited = unsuitedToRecursiveExchange},
      {.name = "recursive-multiplying",
       .description = "the same in groups that grow faster, of up to 7 messages a round",
       .serves = isBetweenEquals,
       .plan = planRecursiveMultiplying,
       .estimate = estimateRecursiveMultiplying,
       .unsuited = unsuitedToRecursiveExchange},
      {.name = "swing",
       .description =
           "reduce-scatters and allgathers along Swing's peers: logarithms of the axes' lengths",
       .serves = hasNoRoot,
       .plan = planSwing,
       .estimate = estimateSwing,
       .multicolor = true,
       .form = PlanForm::kRounds,
       .unsuited = unsuitedToRounds},
      {.name = "groups",
       .description = "the same in groups of up to 8 nodes of an axis: fewer rounds, more messages",
       .serves = hasNoRoot,
       .plan = planGroups,
       .estimate = estimateGroups,
       .multicolor = true,
       .form = PlanForm::kRounds,
       .unsuited = unsuitedToRounds},
      {.name = "line-scan",
       .description =
           "prefixes up the lines of each axis, and down again: a pipeline of neighbours",
       .serves = isPrefix,
       .plan = planLineScan,
       .estimate = estimateLineScan,
       .pipeline = lineScanPipeline,
       .unsuited = suitsAll,
       .shrinks = true,
       .window = 127},
      {.name = "closed-trees",
       .description = "2N pipelined trees round a dead node, and joined round what else is dead",
       .serves = isAllreduce,
       .plan = planClosedTrees,
       .estimate = estimateClosedTrees,
       .pipeline = closedTreesPipeline,
       .unsuited = unsuitedToClosedTrees,
       .shrinks = true},
      {.name = "spanning-trees",
       .description = "edge-disjoint pipelined trees around any damage",
       .serves = isAllreduce,
       .plan = planSpanningTrees,
       .estimate = estimateTreesByNode,
       .pipeline = spanningTreesPipeline,
       .unsuited = unsuitedToPackedTrees},
      {.name = "breadth-first-trees",
       .description = "trees of shortest ways around any damage",
       .serves = hasNoRootAndBlocks,
       .plan = planBreadthFirstTrees,
       .estimate = estimateTreesByNode,
       .unsuited = unsuitedToBreadthFirstTrees},
      {.name = "balanced-routes",
       .description = "all-to-all: from neighbour to neighbour on shortest ways round any damage",
       .serves = isAlltoall,
       .plan = planBalancedAlltoall,
       .estimate = estimateTreesByNode,
       .pipeline = balancedAlltoallPipeline,
       .unsuited = unsuitedToBalancedRoutes},
      {.name = "rectangular",
       .description = "2N arc-disjoint pipelined trees: all links of the root at a time",
       .serves = hasRootAndWhole,
       .plan = planRectangular,
       .estimate = estimateRectangular,
       .pipeline = rectangularPipeline,
       .unsuited = unsuitedToRectangular},
      {.name = "product-trees",
       .description = "the same where some axes are lines: 2 trees for each ring, 1 for each line",
       .serves = hasRootAndWhole,
       .plan = planProductTrees,
       .estimate = estimateProductTrees,
       .pipeline = productTreesPipeline,
       .unsuited = unsuitedToProductTrees},
      {.name = "plane-trees",
       .description = "the same round a dead node: 2N - 1 trees, and from these into its plane",
       .serves = hasRootAndWhole,
       .plan = planPlaneTrees,
       .estimate = estimatePlaneTrees,
       .pipeline = planeTreesPipeline,
       .unsuited = unsuitedToPlaneTrees,
       .shrinks = true,
       .may_lead = false},
      {.name = "dimension-tree",
       .description = "one pipelined tree from or to the root, along one axis after another",
       .serves = hasRootAndWhole,
       .plan = planDimensionTree,
       .estimate = estimateDimensionTree,
       .form = PlanForm::kTrees,
       .pipeline = dimensionTreePipeline,
       .unsuited = unsuitedIfDamaged},
      {.name = "scatter-allgather",
       .description = "every node a share of the root's vector, then an allgather of them",
       .serves = isBroadcast,
       .plan = planBucket,
       .estimate = estimateBucket,
       .multicolor = true,
       .form = PlanForm::kRings,
       .unsuited = unsuitedToRingsFromRoot},
      {.name = "reduce-scatter-gather",
       .description = "every node the sum of a share, then a gather of them at the root",
       .serves = isReduce,
       .plan = planBucket,
       .estimate = estimateBucket,
       .multicolor = true,
       .form = PlanForm::kRings,
       .unsuited = unsuitedToRingsFromRoot},
      {.name = "scatter-trees",
       .description = "all links of the root: blocks by 2N pipelined trees",
       .serves = hasRootAndBlocks,
       .plan = planScatterTrees,
       .estimate = estimateScatterTrees,
       .pipeline = scatterTreesPipeline,
       .unsuited = unsuitedIfRootsDiffer,
       .window = 3},
      {.name = "binomial",
       .description =
           "binomial trees, one axis after another: the fewest rounds, for short vectors",
       .serves = hasRoot,
       .plan = planBinomial,
       .estimate = estimateBinomial,
       .unsuited = unsuitedIfRootsDiffer},
      {.name = "rotated-binomial",
       .description = "the same in rotated orders, a color for each link of the root",
       .serves = hasRootAndBlocks,
       .plan = planRotatedBinomial,
       .estimate = estimateRotatedBinomial,
       .unsuited = unsuitedIfRootsDiffer},
      {.name = "bine",
       .description =
           "the same along Bine trees, whose messages go a third of a ring and not half of it",
       .serves = hasRootAndWhole,
       .plan = planBine,
       .estimate = estimateBinomial,
       .unsuited = unsuitedIfRootsDiffer},
      {.name = "flat",
       .description =
           "the same along flat trees: on each axis one is the parent of all of its line",
       .serves = hasRootAndWhole,
       .plan = planFlat,
       .estimate = estimateBinomial,
       .unsuited = unsuitedToFlat},
      {.name = "linear",
       .description = "the root's message to every node, or from it, all at once",
       .serves = hasRootAndBlocks,
       .plan = planLinear,
       .estimate = estimateLinear,
       .unsuited = unsuitedToLinear},
      {.name = "direct",
       .description = "all-to-all: to every node its block, in an order drawn for each",
       .serves = isAlltoall,
       .plan = planDirectAlltoall,
       .estimate = estimateExchanges,
       .form = PlanForm::kExchanges,
       .unsuited = unsuitedIfDamaged},
      {.name = "rotated-rings",
       .description = "ring all-to-alls in rotated orders: neighbours only, all links at a time",
       .serves = isAlltoall,
       .plan = planRingAlltoall,
       .estimate = estimateExchanges,
       .multicolor = true,
       .form = PlanForm::kExchanges,
       .unsuited = unsuitedToRotatedRings,
       .shrinks = true},
      {.name = "rings",
       .description = "ring all-to-alls along one axis after another: neighbours only",
       .serves = isAlltoall,
       .plan = planRingAlltoall,
       .estimate = estimateExchanges,
       .form = PlanForm::kExchanges,
       .unsuited = unsuitedToRings,
       .shrinks = true},
      {.name = "two-phase",
       .description = "along the linear dimension, then in the planes",
       .serves = isAlltoall,
       .plan = planTwoPhaseAlltoall,
       .estimate = estimateExchanges,
       .form = PlanForm::kExchanges,
       .unsuited = unsuitedIfOneDimension},
      {.name = "rotated-two-phase",
       .description = "the same, every dimension the linear one of a color",
       .serves = isAlltoall,
       .plan = planRotatedTwoPhaseAlltoall,
       .estimate = estimateExchanges,
       .multicolor = true,
       .form = PlanForm::kExchanges,
       .unsuited = unsuitedIfOneDimension},
      {.name = "virtual-mesh",
       .description = "along one axis after another in combined messages, for short ones",
       .serves = isAlltoall,
       .plan = planVirtualMeshAlltoall,
       .estimate = estimateExchanges,
       .form = PlanForm::kExchanges,
       .unsuited = unsuitedIfOneDimension},
      {.name = "half-planes",
       .description = "along the columns, then the rows of a virtual mesh that is nearly square",
       .serves = isAlltoall,
       .plan = planHalfPlanesAlltoall,
       .estimate = estimateExchanges,
       .form = PlanForm::kExchanges,
       .unsuited = unsuitedToVirtualMesh},
      {.name = "bruck",
       .description = "virtual-mesh in the fewest messages, for the shortest",
       .serves = isAlltoall,
       .plan = planBruckAlltoall,
       .estimate = estimateExchanges,
       .form = PlanForm::kExchanges,
       .unsuited = unsuitedIfDamaged},
      {.name = "aggregated",
       .description = "cores exchange first, then each with its like on every node",
       .serves = isAlltoall,
       .plan = planAggregatedAlltoall,
       .estimate = estimateExchanges,
       .form = PlanForm::kExchanges,
       .unsuited = unsuitedWithoutCores},
      {.name = "distributed",
       .description = "the same in the other order",
       .serves = isAlltoall,
       .plan = planDistributedAlltoall,
       .estimate = estimateExchanges,
       .form = PlanForm::kExchanges,
       .unsuited = unsuitedWithoutCores},
      {.name = "leader",
       .description =
           "the first core of a node has all that is sent and received: the fewest messages",
       .serves = isAlltoall,
       .plan = planLeaderAlltoall,
       .estimate = estimateExchanges,
       .form = PlanForm::kExchanges,
       .unsuited = unsuitedWithoutCores},
      {.name = "neighbours",
       .description = "to each neighbour its block, all links at a time",
       .serves = isOfNeighbours,
       .plan = planNeighbours,
       .estimate = estimateNeighbours,
       .unsuited = unsuitedToNeighbours},
  };
  return kAlgorithms;
}

bool isWorthTrying(const Algorithm& algorithm, const CollectiveSpec& spec) {
  return algorithm.serves(rowOf(spec.collective)) && algorithm.unsuited(spec.topology).empty();
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
  std::string text = "no algorithm serves " + std::string(rowOf(spec.collective).name) + " on " +
                     (spec.topology.isDamaged() ? "damaged " : "") + spec.topology.shape();
  if (spec.topology.isDamaged() && isAlltoall(rowOf(spec.collective))) {
    llvm::handleAllErrors(checkRouteHops(spec.topology), [&](const llvm::ErrorInfoBase& error) {
      text += "; " + error.message();
    });
  }
  if (const std::optional<Collective> rootless = servingRootless(spec)) {
    text += "; " + std::string(rowOf(*rootless).name) + " does, in libraries";
  }
  return makeError(text);
}

const Algorithm& defaultAlgorithm(const CollectiveSpec& spec) {
  const Algorithm *serving = nullptr, *suiting = nullptr, *with_detours = nullptr;
  for (const Algorithm& algorithm : algorithms()) {
    if (serving == nullptr && algorithm.serves(rowOf(spec.collective))) serving = &algorithm;
    if (!isWorthTrying(algorithm, spec)) continue;
    if (beyondLimits(algorithm.estimate(spec)).empty()) {
      if (algorithm.form != PlanForm::kRings || !spec.topology.isBroken()) return algorithm;
      if (with_detours == nullptr) with_detours = &algorithm;  // trees round damage go before
    }
    if (suiting == nullptr) suiting = &algorithm;
  }
  if (with_detours != nullptr) return *with_detours;
  return suiting != nullptr ? *suiting : *serving;
}

llvm::Expected<const Algorithm*> findAlgorithm(llvm::StringRef name) {
  std::vector<llvm::StringRef> names;
  for (const Algorithm& algorithm : algorithms()) {
    if (algorithm.name == name) return &algorithm;
    names.push_back(algorithm.name);
  }
  return unknownName("algorithm", name, names, "torc compile --list-algorithms names them");
}

}  // namespace torc::compiler
