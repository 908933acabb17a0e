// Draws random shapes, pipelines and calls.
#include "tests/properties/random_case.h"

#include <algorithm>

#include <rapidcheck.h>

#include "compiler/algorithms/algorithm.h"
#include "compiler/algorithms/damage/closed_trees.h"
#include "compiler/algorithms/trees/product_trees.h"
#include "compiler/compile.h"
#include "passes/cores/lead_cores.h"
#include "tests/draw.h"

namespace torc {
namespace {

constexpr std::uint64_t kMostTreeRanks = 64;  // every rank has operations of its own

template <typename T>
T oneOf(std::initializer_list<T> values) {
  return *rc::gen::elementOf(std::vector<T>(values));
}

/// "1,2,3".
std::string coordinatesText(const Topology& topology, const Coordinates& at) {
  std::string text;
  for (int i = 0; i < topology.dimensions(); ++i)
    text += (i > 0 ? "," : "") + std::to_string(at[i]);
  return text;
}

Coordinates drawPlace(const Topology& topology) {
  Coordinates at{};
  for (int i = 0; i < topology.dimensions(); ++i)
    at[i] = static_cast<std::int32_t>(draw(0, topology.axes[i].size - 1));
  return at;
}

/// Cuts the rings of some axes: one or more dead links of such an axis, at one coordinate.
void drawCuts(CompileCase& test_case) {
  Topology topology = *parseTopology(test_case.shape);
  for (int axis = 0; axis < topology.dimensions(); ++axis) {
    if (!topology.axes[axis].isRing() || draw(0, 3) > 0) continue;
    const auto cut = static_cast<std::int32_t>(draw(0, topology.axes[axis].size - 1));
    for (std::uint32_t links = draw(1, 3); links > 0; --links) {
      DeadLink link{drawPlace(topology), static_cast<std::uint32_t>(axis)};
      link.from[axis] = cut;
      if (!topology.addDeadLink(link).ok()) continue;
      test_case.dead_links.push_back(coordinatesText(topology, link.from) + ":" +
                                     topology.axes[axis].name);
    }
  }
  if (!topology.validate().ok()) test_case.dead_links.clear();  // nothing holds it together
}

/// What serves a rooted collective and suits the shape; cuts it for trees that go round cuts.
std::string drawRooted(CompileCase& test_case, bool has_blocks) {
  const Topology topology = *parseTopology(test_case.shape);
  std::vector<std::string> suiting;
  for (const char* name : {"dimension-tree", "rectangular", "product-trees", "scatter-allgather",
                           "reduce-scatter-gather", "binomial", "bine", "flat", "scatter-trees",
                           "rotated-binomial", "linear", "flat-blocks", "rotated-flat-blocks"}) {
    const compiler::Algorithm& algorithm = *cantFail(compiler::findAlgorithm(name));
    const compiler::CollectiveSpec spec{*compiler::parseCollective(test_case.collective), topology};
    if (compiler::isWorthTrying(algorithm, test_case.leaders ? compiler::networkOf(spec) : spec)) {
      suiting.push_back(name);
    }
  }
  if (has_blocks) return *rc::gen::elementOf(suiting);
  if (draw(0, 3) == 0) {
    const Coordinates node = drawPlace(topology);
    Topology dead = topology;
    const compiler::Algorithm& planes = *cantFail(compiler::findAlgorithm("plane-trees"));
    if (dead.addDeadNode(node).ok() && dead.validate().ok() && planes.unsuited(dead).empty()) {
      test_case.dead_nodes.push_back(coordinatesText(topology, node));
      return planes.name.str();
    }
  }
  if (draw(0, 3) == 0) {
    drawCuts(test_case);
    Topology cut = topology;
    for (const std::string& text : test_case.dead_links)
      RC_ASSERT(cut.addDeadLink(*parseDeadLink(cut, text)).ok());
    if (!compiler::suitsProductTrees(cut)) {
      test_case.dead_links.clear();
    } else if (cut.isDamaged()) {
      suiting = {"product-trees"};
    }
  }
  return *rc::gen::elementOf(suiting);
}

/// Dead links and nodes anywhere, as long as the rest holds together.
Topology drawDead(CompileCase& test_case) {
  const Topology sound = *parseTopology(test_case.shape);
  Topology topology = sound;
  for (std::uint32_t nodes = draw(0, 4); nodes > 0; --nodes) {
    const Coordinates node = drawPlace(sound);
    Topology next = topology;
    if (!next.addDeadNode(node).ok() || !next.validate().ok()) continue;
    topology = next;
    test_case.dead_nodes.push_back(coordinatesText(sound, node));
  }
  for (std::uint32_t links = draw(0, 4); links > 0; --links) {
    const DeadLink link{drawPlace(sound),
                        draw(0, static_cast<std::uint32_t>(sound.dimensions() - 1))};
    Topology next = topology;
    if (!next.addDeadLink(link).ok() || !next.validate().ok()) continue;
    topology = next;
    test_case.dead_links.push_back(coordinatesText(sound, link.from) + ":" +
                                   sound.axes[link.axis].name);
  }
  return topology;
}

/// The same, and what goes round it.
void drawDamage(CompileCase& test_case) {
  const Topology topology = drawDead(test_case);
  if (draw(0, 3) == 0) {
    test_case.collective = "alltoall";
    test_case.algorithm = "balanced-routes";
    const compiler::Algorithm& rings = *cantFail(compiler::findAlgorithm("rotated-rings"));
    if (draw(0, 1) == 0 && rings.unsuited(topology).empty()) test_case.algorithm = "rotated-rings";
    test_case.leaders = false;  // alltoall has no form with leaders
    return;
  }
  if (test_case.collective != "allreduce" || draw(0, 1) == 0) {
    test_case.algorithm = draw(0, 2) == 0 ? "bucket-1d" : "bucket";
    return;
  }
  const bool may_be_closed = compiler::suitsClosedTrees(topology);
  test_case.algorithm = may_be_closed && draw(0, 1) == 0 ? "closed-trees" : "spanning-trees";
}

}  // namespace

std::string CompileCase::text() const {
  std::string damage;
  for (const std::string& link : dead_links)
    damage += " --dead-link " + link;
  for (const std::string& node : dead_nodes)
    damage += " --dead-node " + node;
  return "torc compile " + collective + " --torus " + shape + " --order " + order + damage +
         " --algorithm " + algorithm + " --weights " + passes::word(weights).str() +
         (cuts == compiler::CutRings::kDetours ? " --cuts detours" : "") + " --directions " +
         passes::word(directions).str() + " --chunks " + std::to_string(chunks) + " --in-flight " +
         std::to_string(in_flight) +
         (segments > 1
              ? " --segments " + std::to_string(segments) + " --segment-order " +
                    passes::words(segment_order)[static_cast<std::size_t>(segment_order)].str()
              : "") +
         " --dependences " + passes::word(dependences).str() + (leaders ? " --leaders" : "") +
         " (scratch depth " + std::to_string(scratch_depth) + ")";
}

CompileCase drawCase(std::uint64_t max_ranks) {
  CompileCase result;
  result.collective = oneOf<std::string>({"allreduce", "reduce_scatter", "allgather", "allreduce",
                                          "broadcast", "reduce", "scatter", "gather", "scan",
                                          "exscan", "neighbor_allgather", "neighbor_alltoall"});
  const CollectiveRow& row = rowOf(*collectiveNamed(result.collective));
  const bool is_rooted = row.isRooted();
  const bool has_blocks = is_rooted && row.layout == Layout::kBlockMajor;
  // On lines the proof goes through all places of the root.
  if (is_rooted) max_ranks = std::min<std::uint64_t>(max_ranks, 24);
  const std::uint32_t dimensions = draw(1, 5);
  std::uint64_t ranks = 1;
  for (std::uint32_t i = 0; i < dimensions; ++i) {
    // The last dimension may be long, the others leave room for it.
    const std::uint64_t room = max_ranks / ranks;
    const std::uint64_t longest = i + 1 == dimensions ? 24 : 6;
    const std::uint32_t size = draw(1, static_cast<std::uint32_t>(std::min(longest, room)));
    ranks *= size;
    result.shape += (i > 0 ? "x" : "") + std::to_string(size);
    if (draw(0, 2) == 2) result.shape += "m";
  }
  result.order = std::string(kAxisNames.substr(0, dimensions));
  if (ranks * 2 <= max_ranks && !row.isOfNeighbours() && draw(0, 3) == 3) {
    result.shape +=
        "+" + std::to_string(draw(
                  2, static_cast<std::uint32_t>(std::min<std::uint64_t>(4, max_ranks / ranks))));
    result.order += kCoreAxisName;
    result.leaders = passes::mayBeLed(row) && draw(0, 1) == 1;
  }
  const std::size_t turn = draw(0, static_cast<std::uint32_t>(result.order.size() - 1));
  std::rotate(result.order.begin(), result.order.begin() + static_cast<std::ptrdiff_t>(turn),
              result.order.end());
  result.algorithm = oneOf<std::string>({"bucket", "bucket", "bucket-1d"});
  result.weights =
      oneOf<passes::ColorWeights>({passes::ColorWeights::kEqual, passes::ColorWeights::kBalanced});
  if (result.collective == "allreduce" && draw(0, 2) == 2) {
    result.weights = passes::ColorWeights::kOverlapped;
  }
  result.directions = oneOf<passes::DirectionModel>({passes::DirectionModel::kBidirectional,
                                                     passes::DirectionModel::kHalfLatency,
                                                     passes::DirectionModel::kUnidirectional});
  result.dependences = oneOf<passes::DependenceKind>(
      {passes::DependenceKind::kRegion, passes::DependenceKind::kPhase});
  result.chunks = oneOf<std::uint32_t>({1, 1, 2, 3});
  result.in_flight = oneOf<std::uint32_t>({0, 0, 1, 2});
  result.segments = oneOf<std::uint32_t>({1, 1, 1, 2, 5});
  result.segment_order =
      oneOf<passes::SegmentOrder>({passes::SegmentOrder::kChains, passes::SegmentOrder::kPhases});
  result.scratch_depth = draw(1, 3);
  const bool is_torus = result.shape.find_first_of("m+") == std::string::npos;
  if (is_rooted) {
    result.algorithm = drawRooted(result, has_blocks);
    return result;
  }
  if (row.isOfNeighbours()) {
    result.algorithm = "neighbours";
    result.chunks = 1;
    return result;
  }
  if (row.isPrefix()) {
    result.algorithm =
        oneOf<std::string>({"recursive-doubling", "recursive-multiplying", "line-scan"});
    if (result.algorithm == "line-scan" && draw(0, 1) == 1) drawDead(result);
    return result;
  }
  const std::uint32_t damage = draw(0, 5);
  if (is_torus && damage < 2) result.algorithm = "bfb";
  if (damage == 3) {
    result.algorithm =
        oneOf<std::string>({"recursive-doubling", "recursive-multiplying", "swing", "groups"});
  }
  if (damage == 4) {
    drawCuts(result);
    result.cuts =
        oneOf<compiler::CutRings>({compiler::CutRings::kLines, compiler::CutRings::kDetours});
  }
  if (damage == 5 && ranks * 2 <= kMostTreeRanks) drawDamage(result);
  return result;
}

Schedule compileCase(const CompileCase& test_case) {
  llvm::Expected<Collective> collective = compiler::parseCollective(test_case.collective);
  llvm::Expected<const compiler::Algorithm*> algorithm =
      compiler::findAlgorithm(test_case.algorithm);
  StatusOr<Topology> topology = parseTopology(test_case.shape, test_case.order);
  if (!collective) RC_FAIL(llvm::toString(collective.takeError()));
  if (!algorithm) RC_FAIL(llvm::toString(algorithm.takeError()));
  if (!topology.ok()) RC_FAIL(topology.status().message());
  for (const std::string& text : test_case.dead_links) {
    const StatusOr<DeadLink> link = parseDeadLink(*topology, text);
    if (!link.ok()) RC_FAIL(link.status().message());
    RC_ASSERT(topology->addDeadLink(*link).ok());
  }
  for (const std::string& text : test_case.dead_nodes) {
    const StatusOr<Coordinates> node = parseDeadNode(*topology, text);
    if (!node.ok()) RC_FAIL(node.status().message());
    RC_ASSERT(topology->addDeadNode(*node).ok());
  }
  compiler::PipelineOptions options;
  options.cuts = test_case.cuts;
  options.weights = test_case.weights;
  options.directions = test_case.directions;
  options.chunks = test_case.chunks;
  options.in_flight = test_case.in_flight;
  options.segments = test_case.segments;
  options.segment_order = test_case.segment_order;
  options.dependences = test_case.dependences;
  options.scratch_depth = test_case.scratch_depth;
  if (test_case.leaders) options.led_cores = compiler::coresOf(*topology);
  passes::PassManagerOptions manager;
  manager.verify_each = false;
  llvm::Expected<ir::Program> program = compiler::compile(
      {*collective, *topology}, **algorithm, compiler::pipelineOf(**algorithm, options), manager);
  if (!program) RC_FAIL(test_case.text() + ": " + llvm::toString(program.takeError()));
  return std::move(program->schedule);
}

Schedule drawLoops(const Schedule& schedule) {
  const std::uint32_t least = draw(1, 4);
  if (least == 1) return schedule;
  ir::Program program{schedule, {}};
  passes::PassManagerOptions manager;
  manager.verify_each = false;
  passes::PassManager rolling(passes::PassPipeline{passes::RollLoopsPass{.least = least}}.passes(),
                              manager);
  if (llvm::Error error = rolling.run(program)) RC_FAIL(llvm::toString(std::move(error)));
  RC_TAG(program.schedule.loops.empty() ? "no loops" : "loops");
  return program.schedule;
}

CheckedCall drawCall(const Schedule& schedule) {
  CheckedCall call;
  const auto ranks = static_cast<std::uint32_t>(schedule.topology.ranks());
  auto count = [&] {
    return oneOf<std::uint64_t>({0, 1, 2, 7, 13, 97, draw(0, ranks), draw(0, 3000)});
  };
  call.type = static_cast<CheckedType>(draw(0, kCheckedTypeCount - 1));
  call.count = count();
  const CollectiveRow& row = rowOf(schedule.collective);
  const bool blocks = row.counts == CountOf::kBlock;
  const bool may_differ = !row.isOfNeighbours() && row.blocks == BlockSpace::kNode;
  if (blocks && may_differ && draw(0, 1) == 1) {
    const std::uint64_t largest = std::min<std::uint64_t>(count(), 200);
    for (std::uint32_t r = 0; r < ranks; ++r) {
      call.per_rank.push_back(draw(0, static_cast<std::uint32_t>(largest)));
    }
  } else if (blocks) {
    call.count = std::min<std::uint64_t>(call.count, 100'000 / ranks);
  }
  call.in_place = row.inPlaceAliases() && draw(0, 1) == 1;
  if (row.isRooted()) call.root = static_cast<std::int32_t>(draw(0, ranks - 1));
  call.delivery = oneOf(
      {runtime::Delivery::kRendezvous, runtime::Delivery::kEager, runtime::Delivery::kAdversarial});
  call.seed = draw(0, 1u << 30);
  return call;
}

}  // namespace torc
