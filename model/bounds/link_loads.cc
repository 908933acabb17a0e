#include "model/bounds/link_loads.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "ir/make_error.h"
#include "ir/node_classes.h"
#include "ir/peer_loops/peer_loops.h"
#include "schedules/box.h"
#include "schedules/loops/unroll.h"
#include "schedules/root.h"

namespace torc::model {
namespace {

llvm::Error tooLarge() {
  return makeError("the exact loads of links do not fit 128 bits");
}

struct DirectedLink {
  std::uint32_t node = 0;
  LinkClass link;
  auto operator<=>(const DirectedLink&) const = default;
};
/// Loads in units of 1 / denominator.
using Loads = std::map<DirectedLink, Uint128>;

[[nodiscard]] bool add(Uint128& sum, Uint128 more) {
  return !__builtin_add_overflow(sum, more, &sum);
}

std::vector<ExactLoad> busiest(const Loads& loads, Uint128 denominator) {
  std::map<LinkClass, Uint128> most;
  for (const auto& [at, load] : loads)
    most[at.link] = std::max(most[at.link], load);
  std::vector<ExactLoad> result;
  for (const auto& [link, load] : most)
    result.push_back({link, makeFraction(load, denominator)});
  return result;
}

/// Contents of `region` at the node `at`: weight of its color * share of a color's `parts` *
/// blocks, of live nodes only if ranks own blocks.
std::optional<Uint128> carriedBy(const ScheduleView& schedule, const Region& region,
                                 const Coordinates& at, std::uint64_t parts, bool owned) {
  const BlockAxes axes = schedule.blockAxes();
  std::optional<Uint128> sum = 0;
  for (const Piece& piece : schedule.piecesOf(region)) {
    const BlockRanges ranges = schedule.blocksOf(piece.box, at);
    const std::uint64_t blocks =
        owned ? liveVolume(ranges, axes, schedule.topology) : volume(ranges, axes);
    for (std::uint32_t part = piece.part; part < piece.part + piece.parts; ++part) {
      const Color& color = schedule.colors[schedule.partIndex(part).color];
      std::optional<Uint128> load =
          multiply(color.weight, parts / (std::uint64_t{color.directions} * color.chunks));
      if (load) load = multiply(*load, blocks);
      if (!load || !add(*sum, *load)) return std::nullopt;
    }
  }
  return sum;
}

llvm::Expected<LinkLoads> loadsOf(const ScheduleView& schedule) {
  if (!schedule.loops.empty()) return loadsOf(unrollLoops(schedule).schedule.view());
  // One denominator for all: sum of weights * pieces of a color, the least common multiple *
  // blocks.
  std::uint64_t pieces = 1;
  Uint128 weights = 0;
  for (const Color& color : schedule.colors) {
    weights += color.weight;
    const std::uint64_t here = std::uint64_t{color.directions} * color.chunks;
    const std::optional<Uint128> multiple = multiply(pieces / std::gcd(pieces, here), here);
    if (!multiple || *multiple > UINT64_MAX) return tooLarge();
    pieces = static_cast<std::uint64_t>(*multiple);
  }
  std::optional<Uint128> denominator = multiply(weights, pieces);
  // As in VectorShares: if ranks own blocks, dead nodes have none.
  const bool owned = rowOf(schedule.collective).layout == Layout::kBlockMajor;
  const Topology& topology = schedule.topology;
  if (denominator) denominator = multiply(*denominator, schedule.vectorBlocks());
  if (!denominator) return tooLarge();

  const ir::NodeClasses classes(schedule, false);
  if (ir::differAlongPeerLoops(schedule, classes)) {
    const double operations = ir::unrolledOperations(schedule) * classes.count();
    if (llvm::Error error = checkTaskCount(schedule, classes.count(), operations)) return error;
    return loadsOf(ir::unrollPeerLoops(schedule).schedule.view());
  }
  const double work =
      static_cast<double>(classes.count()) * static_cast<double>(schedule.operations.size());
  if (llvm::Error error = checkTaskCount(schedule, classes.count(), work)) return error;
  const Routes routes(topology, classes);
  std::map<std::uint32_t, Loads> phases;
  Loads totals;
  for (std::uint32_t node = 0; node < classes.count(); ++node) {
    const Coordinates at = classes.coordinatesOf(node);
    std::vector<std::vector<Routes::Hop>> ways(schedule.shifts.size());
    for (const Operation& operation : schedule.operations) {
      if (operation.kind != OperationKind::kSend || !classes.executes(node, operation)) continue;
      const std::optional<Uint128> load = carriedBy(schedule, operation.a, at, pieces, owned);
      if (!load) return tooLarge();
      std::vector<Routes::Hop> of_peers;
      std::vector<Routes::Hop>& way = operation.hasPeerLoop() ? of_peers : ways[operation.peer];
      if (operation.hasPeerLoop()) {
        way = routes.hops(node, schedule.peer_loops[operation.peer]);
      } else if (way.empty()) {
        way = routes.hops(node, schedule.shifts[operation.peer]);
      }
      for (const Routes::Hop& hop : way) {
        const std::optional<Uint128> carried = multiply(*load, hop.times);
        const DirectedLink link{hop.node, hop.link};
        if (!carried || !add(phases[operation.phase][link], *carried) ||
            !add(totals[link], *carried)) {
          return tooLarge();
        }
      }
    }
  }
  LinkLoads result;
  for (const auto& [phase, loads] : phases)
    result.phases.push_back({phase, busiest(loads, *denominator)});
  result.totals = busiest(totals, *denominator);
  Uint128 most = 0;
  for (const auto& [link, load] : totals)
    most = std::max(most, load);
  result.largest = makeFraction(most, *denominator);
  return result;
}

struct Dimension {
  std::uint64_t size;
  bool ring;
};

/// As a share of a rank's sent data: along a ring of size d a message travels floor(d^2 / 4) / d
/// hops on average, over the two links of its node; the middle of a line carries as much as both.
Fraction pairBound(const std::vector<Dimension>& dimensions) {
  Fraction most;
  for (const auto& [size, ring] : dimensions) {
    const Fraction here = makeFraction(size * size / 4, ring ? 2 * size : size);
    if (here.value() > most.value()) most = here;
  }
  return most;
}

}  // namespace

llvm::Expected<LinkLoads> exactLinkLoads(const ScheduleView& any_root) {
  const RootedSchedule rooted(asCounted(any_root), 0);
  return loadsOf(rooted.view());
}

std::optional<Fraction> equalLinkBound(Collective collective, const Topology& topology) {
  if (topology.isDamaged()) return std::nullopt;
  std::vector<Dimension> dimensions;
  std::uint64_t nodes = 1;
  double bandwidth = 0;
  for (int i = 0; i < topology.dimensions(); ++i) {
    const Axis& axis = topology.axes[static_cast<std::size_t>(i)];
    if (axis.size == 1) continue;
    if (bandwidth > 0 && axis.bandwidth != bandwidth) return std::nullopt;
    bandwidth = axis.bandwidth;
    dimensions.push_back({axis.size, axis.isRing()});
    nodes *= axis.size;
  }
  const CollectiveRow& facts = rowOf(collective);
  if (facts.blocks == BlockSpace::kPair) return pairBound(dimensions);
  if (facts.isOfNeighbours()) {  // a link carries the block of one neighbour
    return makeFraction(dimensions.empty() ? 0 : 1, 2 * topology.axis_count);
  }
  Fraction bound;
  auto raise = [&](Uint128 numerator, Uint128 denominator) {
    // Both are below 2^40: crosswise products fit.
    if (numerator * bound.denominator <= bound.numerator * denominator) return;
    bound = makeFraction(numerator, denominator);
  };
  for (std::uint32_t set = 0; set + 1 < 1u << dimensions.size(); ++set) {
    std::uint64_t inside = 1;  // nodes of a sub-torus along the dimensions of the set
    std::uint64_t ways = 0;    // links out of each of its nodes, at the end of a line
    std::uint64_t links = 0;   // between all such sub-tori
    for (std::size_t i = 0; i < dimensions.size(); ++i) {
      const auto& [size, ring] = dimensions[i];
      if (set >> i & 1) {
        inside *= size;
      } else {
        // A root with own blocks for others may be inside a line.
        const bool is_inside = facts.isRooted() && facts.layout == Layout::kBlockMajor && size > 2;
        ways += ring || is_inside ? 2 : 1;
        links += 2 * (ring ? nodes : nodes / size * (size - 1));
      }
    }
    if (facts.layout == Layout::kPartMajor) {
      // Into one node and out of all of them, or one of the two; for a prefix, from rank to rank.
      raise((facts.isRooted() || facts.isPrefix() ? 1 : 2) * (nodes / inside - 1), links);
      raise(1, inside * ways);
    } else {
      raise(nodes / inside - 1, nodes * ways);
    }
  }
  return bound;
}

}  // namespace torc::model
