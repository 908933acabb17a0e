#include "compiler/algorithms/damage/balanced_alltoall.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <vector>

#include "compiler/algorithms/damage/balanced_routes.h"
#include "compiler/algorithms/damage/live_graph.h"
#include "ir/make_error.h"
#include "ir/step_builder.h"

namespace torc::compiler {
namespace {

/// A block, and its route.
struct Traveller {
  std::uint32_t pair = 0;  // index of its pair of boxes
  const Route* route = nullptr;
};

class BalancedAlltoall {
 public:
  explicit BalancedAlltoall(const CollectiveSpec& spec)
      : graph_(spec.topology),
        routes_(balancedRoutes(graph_)),
        builder_(ir::scheduleHeader(spec.collective, spec.topology, 1)),
        sent_(graph_.arcs().size()),
        nodes_(graph_.nodes()) {
    builder_.addStream({0, 0});
    for (std::uint32_t node = 0; node < graph_.nodes(); ++node)
      boxes_.push_back(boxOf(spec.topology, node));
  }

  Schedule run() {
    start();
    for (std::uint32_t hop = 1; hop <= routes_.hops; ++hop) {
      builder_.setPhase(hop - 1);
      step(hop);
    }
    return builder_.take();
  }

 private:
  static constexpr unsigned kInFlight = 2;
  using Travellers = std::vector<Traveller>;

  /// The blocks that a node is to forward, and the operations that wrote them.
  struct Held {
    std::uint32_t frame = kNone;                    // kNone: `in`
    std::map<std::uint32_t, Travellers> by_arc;     // by their next arc
    std::map<std::uint32_t, std::uint32_t> makers;  // by pair: the receive
    ir::OperationIndices sends;                     // readers of the frame
  };
  /// Frames of a node, and the readers of the last one in either slot.
  struct Node {
    Held held, next;
    std::array<ir::OperationIndices, 2> readers;
  };
  /// The slot of the frames for the blocks that arrive in a hop.
  static std::uint32_t slotOf(std::uint32_t hop) { return (hop + 1) % 2; }

  ir::StepPlace place(std::uint32_t node) { return {.guard = builder_.box(boxes_[node])}; }

  /// Copies the own blocks; all other blocks are sent from `in`.
  void start() {
    for (std::uint32_t source = 0; source < graph_.nodes(); ++source) {
      for (std::uint32_t destination = 0; destination < graph_.nodes(); ++destination) {
        const std::uint32_t pair = builder_.pair(boxes_[source], boxes_[destination]);
        if (source == destination) {
          const Piece own{0, 1, pair};
          builder_.copy(place(source), builder_.region(Buffer::kOut, own),
                        builder_.region(Buffer::kIn, own), {});
          continue;
        }
        const Route& route = routes_.routes[source][destination];
        nodes_[source].held.by_arc[route.front()].push_back({pair, &route});
      }
    }
  }

  /// The blocks of `travellers` that end their route with this hop (`end`), or those that do not.
  static llvm::SmallVector<Piece, 16> pieces(const Travellers& travellers, std::uint32_t hop,
                                             bool end) {
    llvm::SmallVector<Piece, 16> list;
    for (const Traveller& traveller : travellers) {
      if ((traveller.route->size() == hop) == end) list.push_back({0, 1, traveller.pair});
    }
    return list;
  }

  void step(std::uint32_t hop) {
    makeFrames(hop);
    for (std::uint32_t arc = 0; arc < graph_.arcs().size(); ++arc) {
      for (const bool end : {true, false})
        pass(arc, hop, end);
    }
    for (Node& node : nodes_) {
      if (node.held.frame != kNone) node.readers[slotOf(hop - 1)] = std::move(node.held.sends);
      node.held = std::move(node.next);
      node.next = {};
    }
  }

  /// Makes a frame per node for blocks that arrive now and continue.
  void makeFrames(std::uint32_t hop) {
    std::vector<llvm::SmallVector<Piece, 16>> arriving(graph_.nodes());
    for (const Node& node : nodes_) {
      for (const auto& [arc, travellers] : node.held.by_arc)
        arriving[graph_.arc(arc).to].append(pieces(travellers, hop, /*end=*/false));
    }
    for (std::uint32_t node = 0; node < graph_.nodes(); ++node) {
      if (!arriving[node].empty())
        nodes_[node].next.frame = builder_.addFrame(arriving[node], slotOf(hop));
    }
  }

  /// Moves the blocks that take an arc now from the sender's frame to `out` or the receiver's
  /// frame.
  void pass(std::uint32_t arc_index, std::uint32_t hop, bool end) {
    const LiveArc& arc = graph_.arc(arc_index);
    Held& from = nodes_[arc.from].held;
    const auto found = from.by_arc.find(arc_index);
    if (found == from.by_arc.end()) return;
    const auto list = pieces(found->second, hop, end);
    if (list.empty()) return;
    ir::OperationIndices brought;
    for (const Piece& piece : list) {
      const auto maker = from.makers.find(piece.box);
      if (maker != from.makers.end()) brought.push_back(maker->second);
    }
    const Buffer buffer = from.frame == kNone ? Buffer::kIn : Buffer::kScratch;
    const Shift moves = torc::ir::hop(arc.axis, arc.sign);
    ir::OperationIndices& sent = sent_[arc_index];
    if (sent.size() >= kInFlight) brought.push_back(sent[sent.size() - kInFlight]);
    sent.push_back(
        builder_.send(place(arc.from), builder_.region(buffer, list, from.frame), moves, brought));
    from.sends.push_back(sent.back());
    if (end) {
      builder_.receive(place(arc.to), builder_.region(Buffer::kOut, list), moves, {});
      return;
    }
    Held& next = nodes_[arc.to].next;
    const std::uint32_t receive =
        builder_.receive(place(arc.to), builder_.region(Buffer::kScratch, list, next.frame), moves,
                         nodes_[arc.to].readers[slotOf(hop)]);
    for (const Traveller& traveller : found->second) {
      if (traveller.route->size() == hop) continue;
      next.by_arc[(*traveller.route)[hop]].push_back(traveller);
      next.makers[traveller.pair] = receive;
    }
  }

  const LiveGraph graph_;
  const BalancedRoutes routes_;
  ir::StepBuilder builder_;
  std::vector<Box> boxes_;                  // by node
  std::vector<ir::OperationIndices> sent_;  // by arc
  std::vector<Node> nodes_;
};

}  // namespace

bool hasMoreRouteHops(const Topology& topology, std::uint64_t most) {
  // Every pair of nodes makes at least one hop.
  const std::uint64_t nodes = topology.ranks();
  if (nodes * (nodes - 1) > most) return true;
  const LiveGraph graph(topology);
  std::uint64_t hops = 0;
  for (std::uint32_t node = 0; node < graph.nodes(); ++node) {
    for (const std::uint32_t distance : graph.distancesFrom(node))
      hops += distance;
  }
  return hops > most;
}

llvm::Error checkRouteHops(const Topology& topology) {
  if (!hasMoreRouteHops(topology, kMaxRouteHops)) return llvm::Error::success();
  return makeError("balanced routes: more than " + std::to_string(kMaxRouteHops) + " hops");
}

llvm::Expected<ir::Program> lowerBalancedAlltoall(const CollectiveSpec& spec) {
  if (llvm::Error error = checkRouteHops(spec.topology)) return error;
  ir::Program program;
  program.schedule = BalancedAlltoall(spec).run();
  return program;
}

TreePipeline balancedAlltoallPipeline(const Topology& topology) {
  const LiveGraph graph(topology);
  const std::vector<double> loads = meanLoads(graph);
  const double steps = std::max<double>(static_cast<double>(loads.size()), 1);
  return {.hops = 1 + 0.5 / (2 * steps),
          .share = std::accumulate(loads.begin(), loads.end(), 0.0) / graph.nodes()};
}

}  // namespace torc::compiler
