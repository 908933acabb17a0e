// The table of algorithms, and the selection of a default.
#include "compiler/algorithms/algorithm.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/Sequence.h>

#include "compiler/algorithms/alltoall/combining.h"
#include "compiler/algorithms/alltoall/direct.h"
#include "compiler/algorithms/alltoall/half_planes.h"
#include "compiler/algorithms/alltoall/two_phase.h"
#include "compiler/algorithms/bfb/bfb.h"
#include "compiler/algorithms/binomial/binomial.h"
#include "compiler/algorithms/bucket/bucket.h"
#include "compiler/algorithms/damage/balanced_alltoall.h"
#include "compiler/algorithms/damage/closed_trees.h"
#include "compiler/algorithms/damage/detour_trees.h"
#include "compiler/algorithms/damage/hub_trees.h"
#include "compiler/algorithms/damage/spanning_trees.h"
#include "compiler/algorithms/neighbours/neighbour_steps.h"
#include "compiler/algorithms/planes/plane_trees.h"
#include "compiler/algorithms/recursive/recursive_exchange.h"
#include "compiler/algorithms/rounds/rounds.h"
#include "compiler/algorithms/scan/line_scan.h"
#include "compiler/algorithms/scatter/flat_blocks.h"
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

/// Some axis is a line, or its rings are cut.
bool hasLineOrCut(const Topology& topology) {
  return hasLine(topology) || (topology.isDamaged() && !topology.isBroken());
}

bool hasSeveralCores(const Topology& topology) {
  return topology.hasCores() && topology.axes[topology.axis_count - 1].size > 1;
}

// Further reasons to exclude an algorithm: Suits::unless.

// On more nodes, programs with operations of single nodes are too long, if another algorithm
// serves.
constexpr std::uint64_t kFewNodes = 128;

// With more nodes times the square of the faults, the proof for each root takes more than ten
// seconds.
constexpr std::uint64_t kMostRoots = 8192;

llvm::StringRef unsuitedToClosedTrees(const Topology& topology) {
  if (topology.hasCores()) return kCores;
  return suitsClosedTrees(topology) ? "" : kNoRing;
}

llvm::StringRef unsuitedToPackedTrees(const Topology& topology) {
  return topology.ranks() > kFewNodes && suitsClosedTrees(topology)
             ? "closed-trees serve so many nodes in a shorter program"
             : "";
}

/// The algorithm replaces dead nodes and links by neighbours on tori of rings.
llvm::StringRef unsuitedToRotatedRings(const Topology& topology) {
  if (!topology.isDamaged()) return "";
  if (hasSeveralCores(topology)) return kCores;
  return hasLine(topology) ? kLine : "";
}

llvm::StringRef unsuitedToBalancedRoutes(const Topology& topology) {
  if (hasMoreRouteHops(topology, kMaxRouteHops)) {
    return "all blocks have more than a million hops to make";
  }
  return hasMoreRouteHops(topology, kFewRouteHops) && unsuitedToRotatedRings(topology).empty()
             ? "rotated-rings serves so many nodes in a shorter program"
             : "";
}
static_assert(kMaxRouteHops == 1'000'000);

llvm::StringRef unsuitedToRectangular(const Topology& topology) {
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
  return suitsPlaneTrees(topology) ? "" : "more than a node is dead, or an axis is no ring";
}

llvm::StringRef unsuitedToHubTrees(const Topology& topology) {
  const std::uint64_t faults = topology.dead_node_count + topology.deadLinks().size();
  if (topology.ranks() * faults * faults > kMostRoots) return "too many roots, for so many faults";
  return unsuitedToClosedTrees(topology);
}

llvm::StringRef unsuitedToDetourTrees(const Topology& topology) {
  const auto lines = llvm::count_if(llvm::seq(topology.axis_count),
                                    [&](std::uint32_t axis) { return topology.isLine(axis); });
  if (topology.hasCores()) return kCores;
  if (suitsPlaneTrees(topology) || (suitsProductTrees(topology) && lines == 1))
    return "whole planes, or lines, have trees with less on a link";
  const std::size_t axes = std::max<std::size_t>(passes::networkAxes(topology).size(), 2);
  const std::uint64_t most = hasLine(topology) ? kMostDetourRoots / 3 : kMostDetourRoots;
  return topology.ranks() * (axes - 1) > most ? "too many roots to prove" : "";
}

llvm::StringRef unsuitedToRings(const Topology& topology) {
  if (!topology.isDamaged()) return "";
  if (hasSeveralCores(topology)) return kCores;
  if (hasLine(topology)) return kLine;
  return passes::networkAxes(topology).size() > 1 ? "rotated-rings serve where something is dead"
                                                  : "";
}

/// The reason why the nodes do not form rows and columns of a mesh.
llvm::StringRef unsuitedToVirtualMesh(const Topology& topology) {
  return nearlySquare(topology).columns != 0 ? "" : "the nodes are no rows and columns";
}

llvm::StringRef unsuitedToFlatBlocks(const Topology& topology) {
  if (suitsFlatBlocks(topology)) return "";
  return topology.isBroken() ? kDamage : "the root may be at too many places on lines";
}

/// One node sends to all others, or to all of its line. On every real machine this costs the core
/// time, even if the machine's description does not say so.
llvm::StringRef unsuitedToLinear(const Topology& topology) {
  return topology.sites() > kMostLinearNodes ? "there are more than 64 ranks" : "";
}

}  // namespace

llvm::ArrayRef<Algorithm> algorithms() {
  static constexpr Algorithm kAlgorithms[] = {
      {.name = "bucket",
       .description = "N-dimensional multicolor bucket algorithm: all links of a node at a time",
       .serves = hasNoRoot,
       .lower = lowerBucket,
       .estimate = estimateBucket,
       .multicolor = true,
       .form = PlanForm::kRings},
      {.name = "bucket-1d",
       .description = "one-dimensional bucket algorithm along one axis after another, in one color",
       .serves = hasNoRoot,
       .lower = lowerBucket,
       .estimate = estimateBucketOfOneColor,
       .form = PlanForm::kRings},
      {.name = "bfb",
       .description = "breadth-first broadcast: as many steps as the diameter, lists of blocks",
       .serves = hasNoRoot,
       .lower = lowerBfb,
       .estimate = estimateBfb,
       .suits = {.damaged = false, .one_node = false, .cores = false, .lines = false}},
      {.name = "recursive-doubling",
       .description = "exchanges in groups of 2, 4, 8, ... nodes: the fewest rounds of one message",
       .serves = isBetweenEquals,
       .lower = lowerRecursiveDoubling,
       .estimate = estimateRecursiveDoubling,
       .suits = {.damaged = false, .longest_axis = 256}},
      {.name = "recursive-multiplying",
       .description = "the same in groups that grow faster, of up to 7 messages a round",
       .serves = isBetweenEquals,
       .lower = lowerRecursiveMultiplying,
       .estimate = estimateRecursiveMultiplying,
       .suits = {.damaged = false, .longest_axis = 256}},
      {.name = "swing",
       .description =
           "reduce-scatters and allgathers along Swing's peers: logarithms of the axes' lengths",
       .serves = hasNoRoot,
       .lower = lowerSwing,
       .estimate = estimateSwing,
       .multicolor = true,
       .form = PlanForm::kRounds,
       .suits = {.damaged = false, .one_node = false, .longest_axis = 32}},
      {.name = "groups",
       .description = "the same in groups of up to 8 nodes of an axis: fewer rounds, more messages",
       .serves = hasNoRoot,
       .lower = lowerGroups,
       .estimate = estimateGroups,
       .multicolor = true,
       .form = PlanForm::kRounds,
       .suits = {.damaged = false, .one_node = false, .longest_axis = 32}},
      {.name = "line-scan",
       .description =
           "prefixes up the lines of each axis, and down again: a pipeline of neighbours",
       .serves = isPrefix,
       .lower = lowerLineScan,
       .estimate = estimateLineScan,
       .pipeline = lineScanPipeline,
       .shrinks = true,
       .window = 127},
      {.name = "closed-trees",
       .description = "2N pipelined trees round a dead node, and joined round what else is dead",
       .serves = isAllreduce,
       .lower = lowerClosedTrees,
       .estimate = estimateClosedTrees,
       .pipeline = closedTreesPipeline,
       .suits = {.undamaged = false, .unless = unsuitedToClosedTrees},
       .shrinks = true},
      {.name = "spanning-trees",
       .description = "edge-disjoint pipelined trees around any damage",
       .serves = isAllreduce,
       .lower = lowerSpanningTrees,
       .estimate = estimateTreesByNode,
       .pipeline = spanningTreesPipeline,
       .suits = {.undamaged = false, .most_alive = kMaxTreeNodes, .unless = unsuitedToPackedTrees}},
      {.name = "balanced-routes",
       .description = "all-to-all: from neighbour to neighbour on shortest ways round any damage",
       .serves = isAlltoall,
       .lower = lowerBalancedAlltoall,
       .estimate = estimateTreesByNode,
       .pipeline = balancedAlltoallPipeline,
       .suits = {.undamaged = false, .unless = unsuitedToBalancedRoutes}},
      {.name = "rectangular",
       .description = "2N arc-disjoint pipelined trees: all links of the root at a time",
       .serves = hasRootAndWhole,
       .lower = lowerRectangular,
       .estimate = estimateRectangular,
       .pipeline = rectangularPipeline,
       .suits = {.damaged = false, .unless = unsuitedToRectangular}},
      {.name = "product-trees",
       .description = "the same where some axes are lines: 2 trees for each ring, 1 for each line",
       .serves = hasRootAndWhole,
       .lower = lowerProductTrees,
       .estimate = estimateProductTrees,
       .pipeline = productTreesPipeline,
       .suits = {.unless = unsuitedToProductTrees}},
      {.name = "plane-trees",
       .description = "the same round a dead node: 2N - 1 trees, and from these into its plane",
       .serves = hasRootAndWhole,
       .lower = lowerPlaneTrees,
       .estimate = estimatePlaneTrees,
       .pipeline = planeTreesPipeline,
       .suits = {.undamaged = false, .unless = unsuitedToPlaneTrees},
       .shrinks = true,
       .may_lead = false},
      {.name = "detour-trees",
       .description = "the same round any damage: 2N trees, and detours to nodes that they lose",
       .serves = hasRootAndWhole,
       .lower = lowerDetourTrees,
       .estimate = estimateDetourTrees,
       .pipeline = detourTreesPipeline,
       .suits = {.undamaged = false, .unless = unsuitedToDetourTrees},
       .may_lead = false},
      {.name = "dimension-tree",
       .description = "one pipelined tree from or to the root, along one axis after another",
       .serves = hasRootAndWhole,
       .lower = lowerDimensionTree,
       .estimate = estimateDimensionTree,
       .pipeline = dimensionTreePipeline,
       .suits = {.damaged = false}},
      {.name = "scatter-allgather",
       .description = "every node a share of the root's vector, then an allgather of them",
       .serves = isBroadcast,
       .lower = lowerBucket,
       .estimate = estimateBucket,
       .multicolor = true,
       .form = PlanForm::kRings,
       .suits = {.damaged = false, .lines = false, .longest_axis = 256}},
      {.name = "reduce-scatter-gather",
       .description = "every node the sum of a share, then a gather of them at the root",
       .serves = isReduce,
       .lower = lowerBucket,
       .estimate = estimateBucket,
       .multicolor = true,
       .form = PlanForm::kRings,
       .suits = {.damaged = false, .lines = false, .longest_axis = 256}},
      {.name = "scatter-trees",
       .description = "all links of the root: blocks by 2N pipelined trees",
       .serves = hasRootAndBlocks,
       .lower = lowerScatterTrees,
       .estimate = estimateScatterTrees,
       .pipeline = scatterTreesPipeline,
       .suits = {.damaged = false, .lines = false},
       .window = 3},
      {.name = "hub-trees",
       .description = "round damage: over all links of the root to nodes beside it, then by trees",
       .serves = hasRootAndBlocks,
       .lower = lowerHubTrees,
       .estimate = estimateHubTrees,
       .pipeline = hubTreesPipeline,
       .suits = {.undamaged = false, .longest_axis = 256, .unless = unsuitedToHubTrees},
       .shrinks = true,
       .may_lead = false,
       .window = 3},
      {.name = "binomial",
       .description =
           "binomial trees, one axis after another: the fewest rounds, for short vectors",
       .serves = hasRoot,
       .lower = lowerBinomial,
       .estimate = estimateBinomial,
       .suits = {.damaged = false, .lines = false}},
      {.name = "rotated-binomial",
       .description = "the same in rotated orders, a color for each link of the root",
       .serves = hasRootAndBlocks,
       .lower = lowerRotatedBinomial,
       .estimate = estimateRotatedBinomial,
       .suits = {.damaged = false, .lines = false}},
      {.name = "rotated-flat-blocks",
       .description =
           "wherever the root is on a line: along one axis after another, in a color each",
       .serves = hasRootAndBlocks,
       .lower = lowerRotatedFlatBlocks,
       .estimate = estimateRotatedFlatBlocks,
       .pipeline = rotatedFlatBlocksPipeline,
       .suits = {.rings = false, .unless = unsuitedToFlatBlocks}},
      {.name = "flat-blocks",
       .description = "the same in one color, for short vectors",
       .serves = hasRootAndBlocks,
       .lower = lowerFlatBlocks,
       .estimate = estimateFlatBlocks,
       .suits = {.rings = false, .unless = unsuitedToFlatBlocks}},
      {.name = "bine",
       .description =
           "the same along Bine trees, whose messages go a third of a ring and not half of it",
       .serves = hasRootAndWhole,
       .lower = lowerBine,
       .estimate = estimateBinomial,
       .suits = {.damaged = false, .lines = false}},
      {.name = "flat",
       .description =
           "the same along flat trees: on each axis one is the parent of all of its line",
       .serves = hasRootAndWhole,
       .lower = lowerFlat,
       .estimate = estimateBinomial,
       .suits = {.damaged = false, .lines = false, .longest_axis = 16}},
      {.name = "linear",
       .description = "the root's message to every node, or from it, all at once",
       .serves = hasRootAndBlocks,
       .lower = lowerLinear,
       .estimate = estimateLinear,
       .suits = {.damaged = false, .lines = false, .unless = unsuitedToLinear}},
      {.name = "direct",
       .description = "all-to-all: to every node its block, in an order drawn for each",
       .serves = isAlltoall,
       .lower = lowerDirectAlltoall,
       .estimate = estimateExchanges,
       .form = PlanForm::kExchanges,
       .suits = {.damaged = false}},
      {.name = "rotated-rings",
       .description = "ring all-to-alls in rotated orders: neighbours only, all links at a time",
       .serves = isAlltoall,
       .lower = lowerRingAlltoall,
       .estimate = estimateExchanges,
       .multicolor = true,
       .form = PlanForm::kExchanges,
       .suits = {.one_dimension = false, .unless = unsuitedToRotatedRings},
       .shrinks = true},
      {.name = "rings",
       .description = "ring all-to-alls along one axis after another: neighbours only",
       .serves = isAlltoall,
       .lower = lowerRingAlltoall,
       .estimate = estimateExchanges,
       .form = PlanForm::kExchanges,
       .suits = {.unless = unsuitedToRings},
       .shrinks = true},
      {.name = "two-phase",
       .description = "along the linear dimension, then in the planes",
       .serves = isAlltoall,
       .lower = lowerTwoPhaseAlltoall,
       .estimate = estimateExchanges,
       .form = PlanForm::kExchanges,
       .suits = {.damaged = false, .one_dimension = false}},
      {.name = "rotated-two-phase",
       .description = "the same, every dimension the linear one of a color",
       .serves = isAlltoall,
       .lower = lowerRotatedTwoPhaseAlltoall,
       .estimate = estimateExchanges,
       .multicolor = true,
       .form = PlanForm::kExchanges,
       .suits = {.damaged = false, .one_dimension = false}},
      {.name = "virtual-mesh",
       .description = "along one axis after another in combined messages, for short ones",
       .serves = isAlltoall,
       .lower = lowerVirtualMeshAlltoall,
       .estimate = estimateExchanges,
       .form = PlanForm::kExchanges,
       .suits = {.damaged = false, .one_dimension = false}},
      {.name = "half-planes",
       .description = "along the columns, then the rows of a virtual mesh that is nearly square",
       .serves = isAlltoall,
       .lower = lowerHalfPlanesAlltoall,
       .estimate = estimateExchanges,
       .form = PlanForm::kExchanges,
       .suits = {.damaged = false, .unless = unsuitedToVirtualMesh}},
      {.name = "bruck",
       .description = "virtual-mesh in the fewest messages, for the shortest",
       .serves = isAlltoall,
       .lower = lowerBruckAlltoall,
       .estimate = estimateExchanges,
       .form = PlanForm::kExchanges,
       .suits = {.damaged = false}},
      {.name = "aggregated",
       .description = "cores exchange first, then each with its like on every node",
       .serves = isAlltoall,
       .lower = lowerAggregatedAlltoall,
       .estimate = estimateExchanges,
       .form = PlanForm::kExchanges,
       .suits = {.damaged = false, .without_cores = false}},
      {.name = "distributed",
       .description = "the same in the other order",
       .serves = isAlltoall,
       .lower = lowerDistributedAlltoall,
       .estimate = estimateExchanges,
       .form = PlanForm::kExchanges,
       .suits = {.damaged = false, .without_cores = false}},
      {.name = "leader",
       .description =
           "the first core of a node has all that is sent and received: the fewest messages",
       .serves = isAlltoall,
       .lower = lowerLeaderAlltoall,
       .estimate = estimateExchanges,
       .form = PlanForm::kExchanges,
       .suits = {.damaged = false, .without_cores = false}},
      {.name = "neighbours",
       .description = "to each neighbour its block, all links at a time",
       .serves = isOfNeighbours,
       .lower = lowerNeighbours,
       .estimate = estimateNeighbours,
       .suits = {.damaged = false, .unless = unsuitedToNeighbours}},
  };
  return kAlgorithms;
}

std::string Algorithm::unsuited(const Topology& topology) const {
  if (!suits.damaged && topology.isDamaged()) return kDamage.str();
  if (!suits.undamaged && !topology.isDamaged()) return kNoDamage.str();
  if (!suits.one_node && topology.ranks() == 1) return kOneNode.str();
  if (!suits.cores && hasSeveralCores(topology)) return kCores.str();
  if (!suits.without_cores && !topology.hasCores()) return "nodes have no cores";
  if (!suits.lines && hasLine(topology)) return kLine.str();
  if (!suits.rings && !hasLineOrCut(topology)) return "no axis is a line";
  if (!suits.one_dimension && passes::networkAxes(topology).size() < 2)
    return "there is one dimension";
  if (isLongerThan(topology, suits.longest_axis))
    return "an axis is longer than " + std::to_string(suits.longest_axis);
  if (topology.ranks() > suits.most_alive)
    return "more than " + std::to_string(suits.most_alive) + " nodes are alive";
  return suits.unless == nullptr ? "" : suits.unless(topology).str();
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
      if (with_detours == nullptr) with_detours = &algorithm;  // trees take precedence
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
