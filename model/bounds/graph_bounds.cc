#include "model/bounds/graph_bounds.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

#include "model/bounds/maximum_flow.h"
#include "model/bounds/network.h"

namespace torc::model {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kRounding = 1e-9;
/// Most links visited in the search for distances of all ranks: a second.
constexpr double kMostSteps = 1.2e8;

class GraphSearch {
 public:
  GraphSearch(std::span<const GraphLink> links, std::uint64_t ranks, const CollectiveRow& row)
      : links_(links), ranks_(static_cast<std::uint32_t>(ranks)), nodes_(ranks_), row_(row) {
    for (const GraphLink& link : links)
      nodes_ = std::max({nodes_, link.from + 1, link.to + 1});
    out_.resize(nodes_);
    in_.resize(nodes_);
    for (std::uint32_t i = 0; i < links.size(); ++i) {
      out_[links[i].from].push_back(i);
      in_[links[i].to].push_back(i);
    }
    if (ranks_ < 2 || row_.blocks == BlockSpace::kNone || row_.isOfNeighbours()) return;
    lookAtRanks();
    if (isAllreduce(row_)) lookAtReceived();
    if (row_.blocks == BlockSpace::kPair) lookAtDistances();
    if (nodes_ <= kMaxMinimumCutNodes) lookAtAllCuts();
  }

  /// Seconds for one byte.
  double seconds() const { return seconds_; }
  BandwidthLimit limit() const { return limit_; }

  /// Seconds of the fastest route between the ranks that are farthest apart, of those that need
  /// data of each other.
  double furthest() const {
    if (ranks_ < 2) return 0;
    if (row_.isRooted() || row_.isPrefix()) {
      const bool reaches_root = row_.isRooted() && (row_.reduces() || !row_.inWhole());
      return furthestFrom(0, reaches_root);
    }
    if (nodes_ > kMaxMinimumCutNodes)
      return std::max(furthestFrom(0, false), furthestFrom(0, true));
    double furthest = 0;
    for (std::uint32_t rank = 0; rank < ranks_; ++rank)
      furthest = std::max(furthest, furthestFrom(rank, false));
    return furthest;
  }

 private:
  /// Share of one byte that must leave a set of `inside` ranks.
  double demand(double inside, bool has_first) const {
    const double all = ranks_, outside = all - inside;
    if (inside == 0 || outside == 0) return 0;
    if (row_.blocks == BlockSpace::kPair) return inside * outside / all;
    if (row_.isRooted()) {
      const bool leaves_root = !row_.reduces() && row_.inWhole();
      if (has_first != leaves_root) return 0;
      return row_.layout == Layout::kPartMajor ? 1 : (leaves_root ? outside : inside) / all;
    }
    if (row_.isPrefix()) return has_first ? 1 : 0;
    // Data needed by the others' results, without their own.
    return (row_.outWhole() ? 1 : outside / all) - (row_.inWhole() ? 0 : outside / all);
  }

  void raise(double bytes, double bandwidth, BandwidthLimit which) {
    if (bytes <= 0 || bytes / bandwidth <= seconds_ * (1 + 1e-12)) return;
    seconds_ = bytes / bandwidth;
    limit_ = which;
  }

  /// Each rank alone, and all others.
  void lookAtRanks() {
    std::vector<double> leaving(nodes_), coming(nodes_);
    for (const GraphLink& link : links_) {
      leaving[link.from] += link.bandwidth;
      coming[link.to] += link.bandwidth;
    }
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
      raise(demand(1, rank == 0), leaving[rank], BandwidthLimit::kCut);
      raise(demand(ranks_ - 1.0, rank != 0), coming[rank], BandwidthLimit::kCut);
    }
  }

  /// Each byte is received p - 1 times until its sum is complete, and as often until all ranks have
  /// it.
  void lookAtReceived() {
    double coming = 0;
    for (const GraphLink& link : links_) {
      if (link.to < ranks_) coming += link.bandwidth;
    }
    raise(2 * (ranks_ - 1.0), coming, BandwidthLimit::kSplit);
  }

  void lookAtDistances() {
    if (static_cast<double>(ranks_) * static_cast<double>(links_.size()) > kMostSteps) return;
    double hops = 0, bandwidth = 0;
    for (const GraphLink& link : links_)
      bandwidth += link.bandwidth;
    std::vector<std::uint32_t> distance, queue;
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
      distance.assign(nodes_, 0);
      queue.assign(1, rank);
      for (std::size_t done = 0; done < queue.size(); ++done) {
        const std::uint32_t node = queue[done];
        if (node < ranks_) hops += distance[node];
        for (const std::uint32_t link : out_[node]) {
          const std::uint32_t to = links_[link].to;
          if (to == rank || distance[to] > 0) continue;
          distance[to] = distance[node] + 1;
          queue.push_back(to);
        }
      }
    }
    raise(hops / ranks_, bandwidth, BandwidthLimit::kDistance);
  }

  /// Begin or end of a flow.
  struct Ends {
    bool of_all = false;     // an equal share at every rank
    std::uint32_t rank = 0;  // else all of it here
  };

  /// Finds the cuts that separate ranks of which one needs data of the other. A flow between these
  /// ranks fails if a cut is narrower than the known bound.
  void lookAtAllCuts() {
    if (row_.blocks == BlockSpace::kPair) return;
    MaximumFlow flow(nodes_ + 2);
    for (const GraphLink& link : links_)
      flow.addArc(link.from, link.to);
    for (std::uint32_t rank = 0; rank < ranks_; ++rank)
      flow.addArc(nodes_, rank);
    for (std::uint32_t rank = 0; rank < ranks_; ++rank)
      flow.addArc(rank, nodes_ + 1);
    const bool of_blocks = row_.layout == Layout::kBlockMajor;
    if (row_.isRooted() && of_blocks) {
      row_.inWhole() ? lookAtFlow(flow, {false, 0}, {true}) : lookAtFlow(flow, {true}, {false, 0});
      return;
    }
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
      if (of_blocks) {
        row_.outWhole() ? lookAtFlow(flow, {true}, {false, rank})
                        : lookAtFlow(flow, {false, rank}, {true});
        continue;
      }
      if (rank == 0) continue;
      const bool leaves_root = !row_.isRooted() || !row_.reduces();
      const bool reaches_root = isAllreduce(row_) || (row_.isRooted() && row_.reduces());
      if (leaves_root) lookAtFlow(flow, {false, 0}, {false, rank});
      if (reaches_root) lookAtFlow(flow, {false, rank}, {false, 0});
    }
  }

  /// Newton's method: the cut that limits a flow at the known time gives a longer time, until the
  /// flow passes.
  void lookAtFlow(MaximumFlow& flow, Ends begin, Ends end) {
    std::vector<double> capacities(flow.arcCount());
    for (double before = -1; seconds_ > before * (1 + kRounding) && seconds_ < kInfinity;) {
      before = seconds_;
      for (std::size_t i = 0; i < links_.size(); ++i)
        capacities[i] = links_[i].bandwidth * seconds_;
      const std::size_t first = links_.size();
      for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
        const auto share = [&](const Ends& ends) {
          return ends.of_all ? 1.0 / ranks_ : ends.rank == rank ? kInfinity : 0.0;
        };
        capacities[first + rank] = share(begin);
        capacities[first + ranks_ + rank] = share(end);
      }
      const std::vector<bool> inside = flow.sourceSide(nodes_, nodes_ + 1, capacities);
      double leaving = 0;
      for (const GraphLink& link : links_) {
        if (inside[link.from] && !inside[link.to]) leaving += link.bandwidth;
      }
      const auto count = std::count(inside.begin(), inside.begin() + ranks_, true);
      raise(demand(static_cast<double>(count), inside[0]), leaving, BandwidthLimit::kNarrowest);
    }
  }

  /// Dijkstra's algorithm, to the farthest rank; `reversed`: from it.
  double furthestFrom(std::uint32_t rank, bool reversed) const {
    const auto& ways = reversed ? in_ : out_;
    std::vector<double> seconds(nodes_, kInfinity);
    using Reached = std::pair<double, std::uint32_t>;
    std::priority_queue<Reached, std::vector<Reached>, std::greater<>> queue;
    seconds[rank] = 0;
    queue.emplace(0, rank);
    while (!queue.empty()) {
      const auto [at, node] = queue.top();
      queue.pop();
      if (at > seconds[node]) continue;
      for (const std::uint32_t link : ways[node]) {
        const std::uint32_t to = reversed ? links_[link].from : links_[link].to;
        if (at + links_[link].latency >= seconds[to]) continue;
        seconds[to] = at + links_[link].latency;
        queue.emplace(seconds[to], to);
      }
    }
    return *std::max_element(seconds.begin(), seconds.begin() + ranks_);
  }

  std::span<const GraphLink> links_;
  std::uint32_t ranks_, nodes_;
  CollectiveRow row_;
  std::vector<std::vector<std::uint32_t>> out_, in_;  // links, by node
  double seconds_ = 0;
  BandwidthLimit limit_ = BandwidthLimit::kNone;
};

}  // namespace

GraphBounds::GraphBounds(std::span<const GraphLink> links, std::uint64_t ranks,
                         const CollectiveRow& collective)
    : collective_(collective), ranks_(static_cast<double>(ranks)) {
  const GraphSearch search(links, ranks, collective);
  bandwidth_s_ = search.seconds();
  limit_ = search.limit();
  way_s_ = search.furthest();
}

Bound GraphBounds::bound(const Machine& machine, double bytes) const {
  Bound bound;
  bound.nodes = ranks_;
  if (bytes > 0) {
    bound.bandwidth_s = bandwidth_s_ * bytes;
    bound.limit = limit_;
    bound.compute_s = computeSeconds(machine, {collective_, bytes}, ranks_);
  }
  if (ranks_ > 1) bound.latency_s = machine.alpha + 2 * machine.overhead + machine.latency + way_s_;
  bound.bound_s = std::max({bound.bandwidth_s, bound.compute_s, bound.latency_s});
  return bound;
}

}  // namespace torc::model
