// Computes bandwidth, compute and latency bounds of every collective.
#include "model/bounds/bounds.h"

#include <algorithm>
#include <cmath>

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringExtras.h>

#include "ir/make_error.h"
#include "model/bounds/network.h"
#include "model/bounds/twisted.h"

namespace torc::model {
namespace {

/// Collectives with known bounds but without an algorithm. Facts that bounds do not need keep their
/// defaults.
constexpr CollectiveRow kFurtherRows[] = {
    {.name = "barrier", .blocks = BlockSpace::kNone},
};
constexpr llvm::StringRef kLimitNames[] = {"none", "cut", "split", "slab", "distance", "narrowest"};

/// Bytes that must go into a set of nodes and out of it.
struct Demand {
  double in = 0;
  double out = 0;
};

/// Distances of a twisted torus.
TwistedDistances distancesOf(const Network& network) {
  llvm::SmallVector<std::uint32_t> sizes;
  for (const NetworkDimension& dimension : network.dimensions())
    sizes.push_back(dimension.size);
  return twistedDistances(sizes);
}

/// The largest of several bandwidth bounds, with its kind.
class BandwidthBound {
 public:
  BandwidthBound(const Machine& machine, const BoundRequest& request)
      : network_(machine),
        collective_(request.collective),
        bytes_(request.bytes),
        unidirectional_(request.unidirectional),
        ranks_per_node_(std::max<double>(machine.ranks_per_node, 1)) {
    if (network_.liveNodes() < 2 || bytes_ == 0) return;
    if (collective_.blocks == BlockSpace::kNone) return;
    if (collective_.isOfNeighbours()) {
      lookAtNeighbours(machine.dimensions.size());
      return;
    }
    lookAtCuts();
    lookAtSplits();
    if (collective_.blocks == BlockSpace::kPair) lookAtDimensions();
    const bool one_whole = collective_.layout == Layout::kPartMajor;
    if (one_whole && network_.damaged() && network_.liveNodes() <= kMaxMinimumCutNodes) {
      limit(demandOf(1), minimumCut(network_), /*port_bandwidth=*/0, BandwidthLimit::kNarrowest, 0);
    }
  }

  const Network& network() const { return network_; }

  void store(Bound& bound) const {
    bound.bandwidth_s = seconds_;
    bound.limit = limit_;
    bound.ports_limit = ports_limit_;
    for (std::uint32_t i = 0; i < network_.dimensions().size(); ++i)
      bound.dimensions |= (dimensions_ >> i & 1) << network_.dimensions()[i].axis;
  }

 private:
  /// Bytes from one rank to one other.
  double ofPair() const { return bytes_ / (network_.liveNodes() * ranks_per_node_); }

  /// Demand of a set of `nodes` live nodes; for scatter and gather, one with the root.
  Demand demandOf(double nodes) const {
    const double all = network_.liveNodes();
    const double inside = bytes_ * nodes / all, outside = bytes_ - inside;
    if (collective_.blocks == BlockSpace::kPair) {
      const double pairs = nodes * (all - nodes) * ranks_per_node_ * ranks_per_node_;
      return {ofPair() * pairs, ofPair() * pairs};
    }
    if (isBetweenRootAndOwners()) {
      // Each byte once: those of the others in, or out.
      return collective_.inWhole() ? Demand{0, outside} : Demand{outside, 0};
    }
    // A set without the root, or of the first ranks of a prefix; or the rest.
    if (collective_.isRooted() || collective_.isPrefix()) return {bytes_, 0};
    // Bytes that the set's results need from the others, and vice versa. Own blocks need not move.
    const auto needed = [&](double here) {
      return (collective_.outWhole() ? bytes_ : here) - (collective_.inWhole() ? 0 : here);
    };
    return {needed(inside), needed(outside)};
  }

  /// Bytes that must go between `parts` parts, if each needs or has data of every other; 0 if the
  /// parts' sizes matter (for alltoall the cuts suffice) or only the root's does.
  double demandOfSplit(double parts) const {
    if (collective_.blocks == BlockSpace::kPair || isBetweenRootAndOwners()) return 0;
    // Every byte must visit, or be collected from, all parts: a tree of parts - 1 messages. In an
    // allreduce parts - 1 until any part has the result, and as many until all have it (theorem
    // 3.3).
    return bytes_ * (isAllreduce(collective_) ? 2 : 1) * (parts - 1);
  }

  /// Whether the root has a block of, or for, every rank: gather, scatter.
  bool isBetweenRootAndOwners() const {
    return collective_.isRooted() && collective_.layout == Layout::kBlockMajor;
  }

  /// Limits the time by one set of nodes, or one direction of a dimension. `port_bandwidth` 0: no
  /// limit.
  void limit(Demand demand, double bandwidth, double port_bandwidth, BandwidthLimit which,
             std::uint32_t dimensions) {
    const double most = std::max(demand.in, demand.out);
    const double links = (unidirectional_ ? demand.in + demand.out : most) / bandwidth;
    const double ports = port_bandwidth > 0 ? most / port_bandwidth : 0;
    raise(links, ports, which, dimensions);
  }

  void raise(double links, double ports, BandwidthLimit which, std::uint32_t dimensions) {
    // The first of equal bounds stays, up to rounding. The quotient is NaN without bytes and links,
    // as along a dimension with one live plane.
    const double seconds = std::max(links, ports);
    if (!(seconds > seconds_ * (1 + 1e-12))) return;
    seconds_ = seconds;
    limit_ = which;
    dimensions_ = dimensions;
    ports_limit_ = ports > links * (1 + 1e-12);
  }

  void lookAtCuts() {
    const auto look = [&](const Cut& cut) {
      if (cut.nodes >= network_.liveNodes()) return;
      limit(demandOf(cut.nodes), cut.bandwidth, cut.port_bandwidth, BandwidthLimit::kCut,
            cut.spanned);
    };
    if (!isBetweenRootAndOwners()) return network_.forEachCut(look);
    // The root may be anywhere: the best case is the place with most links.
    for (std::uint32_t spanned = 0; spanned < network_.endOfSpanned(); ++spanned)
      look(network_.widestCut(spanned));
  }

  /// The block for a neighbour along a dimension uses at least one of its links, of which there are
  /// as many as such blocks. `dimensions` counts dimensions of one node too.
  void lookAtNeighbours(std::size_t dimensions) {
    const double block = bytes_ / (2 * static_cast<double>(dimensions));
    for (std::uint32_t i = 0; i < network_.dimensions().size(); ++i) {
      raise((unidirectional_ ? 2 : 1) * block / network_.dimensions()[i].bandwidth, 0,
            BandwidthLimit::kDistance, 1u << i);
    }
  }

  void lookAtSplits() {
    network_.forEachSplit([&](const Split& split) {
      const double demand = demandOfSplit(split.parts);
      const double directions = unidirectional_ ? 1 : 2;
      raise(demand / (directions * split.bandwidth), demand / split.port_bandwidth,
            BandwidthLimit::kSplit, split.spanned);
    });
  }

  /// All-to-all along each dimension: halves of it, and for rings the sum of all distances; in a
  /// twisted torus the sum over all links, which are equivalent.
  void lookAtDimensions() {
    if (network_.twisted()) {
      limitDistances();
      return;
    }
    for (std::uint32_t i = 0; i < network_.dimensions().size(); ++i) {
      const NetworkDimension& of = network_.dimensions()[i];
      const double half = std::floor(of.size / 2.0);
      const auto size = static_cast<std::int32_t>(of.size);
      if (of.ring) limitDistance(i);
      std::vector<std::int32_t> starts = {0};
      if (of.ring) {
        for (const NetworkLink& link : network_.deadLinks()) {
          if (link.dimension != i) continue;
          const std::int32_t above = (link.lower[i] + 1) % size;
          starts.push_back(above);
          starts.push_back((above + size - static_cast<std::int32_t>(half)) % size);
        }
      }
      for (std::int32_t start : starts)
        limitSlab(i, start, static_cast<std::int32_t>(half));
    }
  }

  /// Nodes with `start` <= coordinate i < `start` + `length`, cyclic in a ring.
  void limitSlab(std::uint32_t i, std::int32_t start, std::int32_t length) {
    const NetworkDimension& of = network_.dimensions()[i];
    const auto size = static_cast<std::int32_t>(of.size);
    const double plane = network_.nodes() / of.size;
    double nodes = plane * length;
    double links = plane * (of.ring ? 2 : 1);
    auto inside = [&](std::int32_t at) { return (at - start + size) % size < length; };
    for (const Coordinates& node : network_.deadNodes())
      nodes -= inside(node[i]);
    for (const NetworkLink& link : network_.deadLinks()) {
      links -= link.dimension == i && inside(link.lower[i]) != inside((link.lower[i] + 1) % size);
    }
    if (nodes <= 0 || nodes >= network_.liveNodes()) return;
    limit(demandOf(nodes), links * of.bandwidth, 0, BandwidthLimit::kSlab, 1u << i);
  }

  /// Every message travels at least the distance of its ends along ring i, over the ring's live
  /// links.
  void limitDistance(std::uint32_t i) {
    const NetworkDimension& of = network_.dimensions()[i];
    const double size = of.size, plane = network_.nodes() / size;
    const double from_one = std::floor(size * size / 4);  // sum of distances in a ring
    const std::vector<Coordinates>& dead = network_.deadNodes();
    double distances =
        plane * plane * size * from_one - 2 * static_cast<double>(dead.size()) * plane * from_one;
    for (const Coordinates& a : dead) {
      for (const Coordinates& b : dead) {
        const double apart = std::abs(a[i] - b[i]);
        distances += std::min(apart, size - apart);
      }
    }
    const double bytes = ofPair() * distances * ranks_per_node_ * ranks_per_node_;
    const double directions = unidirectional_ ? 1 : 2;
    raise(bytes / (directions * network_.liveLinks(i) * of.bandwidth), 0, BandwidthLimit::kDistance,
          1u << i);
  }

  /// Every message travels at least the distance of its ends, over any links.
  void limitDistances() {
    const double bytes =
        ofPair() * network_.nodes() * distancesOf(network_).sum * ranks_per_node_ * ranks_per_node_;
    const double directions = unidirectional_ ? 1 : 2;
    const double links = network_.liveLinks(0) * static_cast<double>(network_.dimensions().size());
    raise(bytes / (directions * links * network_.dimensions().front().bandwidth), 0,
          BandwidthLimit::kDistance, (1u << network_.dimensions().size()) - 1);
  }

  Network network_;
  CollectiveRow collective_;
  double bytes_;
  bool unidirectional_;
  double ranks_per_node_;

  double seconds_ = 0;
  BandwidthLimit limit_ = BandwidthLimit::kNone;
  std::uint32_t dimensions_ = 0;
  bool ports_limit_ = false;
};

/// Computes rounds and latency.
void boundLatency(const Machine& machine, const Network& network, const CollectiveRow& collective,
                  Bound& bound) {
  if (network.liveNodes() < 2) return;
  const bool rooted = collective.isRooted();
  double nearest = machine.dimensions[network.dimensions().front().axis].latency;
  double way = 0;  // seconds of hops to the farthest node
  double hops = 0;
  int links = 0;
  const bool nodes_missing = !network.deadNodes().empty();
  for (const NetworkDimension& dimension : network.dimensions()) {
    const double hop = machine.dimensions[dimension.axis].latency;
    // From the best place of the root, or from one end of a line to the other.
    const bool across = !dimension.ring && !rooted && !nodes_missing;
    const double furthest = across ? dimension.size - 1.0 : std::floor(dimension.size / 2.0);
    hops += furthest;
    way += furthest * hop;
    nearest = std::min(nearest, hop);
    links += dimension.linksAt(static_cast<std::int32_t>(dimension.size / 2));
  }
  if (network.twisted()) {
    hops = distancesOf(network).furthest;
    way = hops * nearest;
  }
  if (collective.isOfNeighbours()) {
    hops = 1;
    way = nearest;
  } else if (nodes_missing) {
    // Each dead node removes at most one distance.
    hops = std::max(1.0, hops - static_cast<double>(network.deadNodes().size()));
    way = hops * nearest;
  }
  const double ports = std::min<double>(network.ports(), links);
  const double start_up = machine.alpha + 2 * machine.overhead + machine.latency;
  bound.latency_s = start_up + way;
  bound.round_s = start_up + nearest;
  bound.neighbour_rounds = static_cast<std::uint32_t>(hops);
  const double all = collective.isOfNeighbours() ? 2 : network.liveNodes();
  for (double reached = 1; reached < all; reached *= ports + 1)
    ++bound.rounds;
}

}  // namespace

std::vector<llvm::StringRef> boundedCollectives() {
  std::vector<llvm::StringRef> names;
  for (const CollectiveRow& row : collectiveRows())
    names.push_back(row.name);
  for (const CollectiveRow& row : kFurtherRows)
    names.push_back(row.name);
  return names;
}

llvm::Expected<CollectiveRow> parseBoundedCollective(llvm::StringRef name) {
  if (const std::optional<Collective> collective = collectiveNamed(name)) return rowOf(*collective);
  for (const CollectiveRow& row : kFurtherRows) {
    if (name == llvm::StringRef(row.name)) return row;
  }
  return unknownName("collective", name, boundedCollectives(),
                     "docs/research/bounds.md names those that have bounds");
}

llvm::StringRef name(BandwidthLimit limit) {
  return kLimitNames[static_cast<std::size_t>(limit)];
}

bool isAllreduce(const CollectiveRow& row) {
  return row.reduces() && row.outWhole() && !row.isRooted() && !row.isPrefix();
}

double computeSeconds(const Machine& machine, const BoundRequest& request, double nodes) {
  if (!request.collective.reduces()) return 0;
  // Every element is combined ranks - 1 times in all.
  const double ranks = nodes * std::max<double>(machine.ranks_per_node, 1);
  const double reduced = request.bytes * (ranks - 1) / nodes;
  const double memory = machine.memory_bandwidth > 0 ? 3 / machine.memory_bandwidth : 0.0;
  return reduced * std::max(machine.gamma / machine.cores, memory);
}

Bound lowerBound(const Machine& machine, const BoundRequest& request) {
  Bound bound;
  const BandwidthBound bandwidth(machine, request);
  bandwidth.store(bound);
  bound.nodes = bandwidth.network().liveNodes();
  bound.compute_s = computeSeconds(machine, request, bound.nodes);
  boundLatency(machine, bandwidth.network(), request.collective, bound);
  bound.bound_s = std::max({bound.bandwidth_s, bound.compute_s, bound.latency_s});
  if (isAllreduce(request.collective)) {
    BoundRequest half = request;
    half.collective = rowOf(Collective::kAllgather);
    Bound halved;
    BandwidthBound(machine, half).store(halved);
    bound.reduce_scatter_allgather_s = 2 * halved.bandwidth_s;
  }
  return bound;
}

}  // namespace torc::model
