// The steps of allgather and reduce_scatter on breadth-first trees. In an allgather, all data over
// an arc from one distance is one message, of as few boxes as possible. In a reduce_scatter it is
// up to four messages, for a message has one buffer at each end. Both ends of a message are
// adjacent in the program, after all their dependences: nothing can deadlock.
#include <algorithm>
#include <map>
#include <tuple>

#include "compiler/algorithms/damage/breadth_first_trees.h"
#include "compiler/algorithms/damage/node_boxes.h"
#include "compiler/algorithms/damage/spanning_trees.h"
#include "ir/step_builder.h"

namespace torc::compiler {
namespace {

using Nodes = std::vector<std::uint32_t>;

/// The blocks, by source, of the messages over arcs of the trees; by distance from the source, part
/// and arc.
using Messages = std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, Nodes>;

Messages messagesOf(const BreadthFirstTrees& trees) {
  Messages messages;
  for (std::uint32_t part = 0; part < trees.parts; ++part) {
    for (std::uint32_t source = 0; source < trees.distance.size(); ++source) {
      for (std::uint32_t node = 0; node < trees.distance.size(); ++node) {
        if (node == source) continue;
        messages[{trees.distance[source][node], part, trees.arc_to[part][source][node]}].push_back(
            source);
      }
    }
  }
  return messages;
}

/// Messages of an arc follow the order of the list, at most two at a time. So critical messages do
/// not share the link with all others.
class ArcOrder {
 public:
  explicit ArcOrder(const LiveGraph& graph) : sent_(graph.arcs().size()) {}

  /// Adds to `after` the dependence of the next send over an arc.
  void wait(std::uint32_t arc, ir::OperationIndices& after) const {
    const ir::OperationIndices& sent = sent_[arc];
    if (sent.size() >= kInFlight) after.push_back(sent[sent.size() - kInFlight]);
  }
  void sent(std::uint32_t arc, std::uint32_t send) { sent_[arc].push_back(send); }

 private:
  static constexpr std::size_t kInFlight = 2;
  std::vector<ir::OperationIndices> sent_;
};

/// The operation that made a value, by part, node and source.
class Makers {
 public:
  Makers(std::uint32_t parts, std::uint32_t nodes)
      : nodes_(nodes), makers_(std::size_t{parts} * nodes * nodes, kNone) {}

  std::uint32_t& of(std::uint32_t part, std::uint32_t node, std::uint32_t source) {
    return makers_[(std::size_t{part} * nodes_ + node) * nodes_ + source];
  }
  /// The operations of several sources, without duplicates.
  ir::OperationIndices of(std::uint32_t part, std::uint32_t node, const Nodes& sources) {
    ir::OperationIndices list;
    for (const std::uint32_t source : sources) {
      const std::uint32_t maker = of(part, node, source);
      if (maker != kNone) list.push_back(maker);
    }
    return list;
  }

 private:
  std::uint32_t nodes_;
  std::vector<std::uint32_t> makers_;
};

class BreadthFirstSteps {
 public:
  BreadthFirstSteps(const CollectiveSpec& spec, const LiveGraph& graph)
      : topology_(spec.topology),
        graph_(graph),
        trees_(balancedTrees(graph)),
        messages_(messagesOf(trees_)),
        builder_(ir::scheduleHeader(spec.collective, spec.topology, trees_.parts)),
        cover_(spec.topology),
        makers_(trees_.parts, graph.nodes()),
        order_(graph),
        to_come_(trees_.parts, Nodes(graph.nodes(), 0)),
        received_(graph.arcs().size()) {
    for (std::uint32_t part = 0; part < trees_.parts; ++part)
      builder_.addStream({part, 0});
  }

  Schedule allgather();
  Schedule reduceScatter();

 private:
  using Pieces = llvm::SmallVector<Piece, 4>;

  Pieces piecesOf(std::uint32_t part, const Nodes& sources) {
    Pieces pieces;
    for (const Box& box : cover_.cover(sources))
      pieces.push_back({part, 1, builder_.box(box)});
    return pieces;
  }
  /// The stream of a part, on one node.
  ir::StepPlace at(std::uint32_t node, std::uint32_t part) {
    return {part, builder_.box(boxOf(topology_, node))};
  }
  void send(std::uint32_t arc_index, std::uint32_t part, const Region& what,
            ir::OperationIndices after) {
    const LiveArc& arc = graph_.arc(arc_index);
    order_.wait(arc_index, after);
    order_.sent(arc_index,
                builder_.send(at(arc.from, part), what, ir::hop(arc.axis, arc.sign), after));
  }
  void pass(std::uint32_t part, std::uint32_t arc_index, const Nodes& sources, bool starts,
            bool is_first);

  /// Pieces in scratch, within a frame of `all` in `slot`.
  Region scratch(const Pieces& pieces, const Pieces& all, std::uint32_t slot) {
    const Region whole = builder_.region(Buffer::kScratch, all, 0);
    const auto [entry, is_new] =
        frames_.try_emplace({whole.box, whole.pieces, all.front().part, slot}, 0);
    if (is_new) entry->second = builder_.addFrame(all, slot);
    return builder_.region(Buffer::kScratch, pieces, entry->second);
  }
  /// The place of sums: one frame of all blocks for each part.
  Region sum(const Pieces& pieces) {
    const std::uint32_t part = pieces.front().part;
    return scratch(pieces, {Piece{part, 1, builder_.box(Box{})}}, part);
  }
  /// The slot for the message number `turn` of an arc: arcs into one node have different slots.
  std::uint32_t slotOf(std::uint32_t arc_index, std::uint32_t turn) const {
    const auto arcs = graph_.arcsFrom(graph_.arc(arc_index).to);
    const auto place = std::ranges::find(arcs, LiveGraph::reverse(arc_index)) - arcs.begin();
    return trees_.parts + kStaging * static_cast<std::uint32_t>(place) + turn;
  }

  // Receives in flight per arc. With fewer, links wait for sums (on 4x4x4 without one node the
  // reduce_scatter takes 4 % longer with two than with four), with more there is no gain.
  static constexpr std::uint32_t kStaging = 4;

  const Topology& topology_;
  const LiveGraph& graph_;
  const BreadthFirstTrees trees_;
  const Messages messages_;
  ir::StepBuilder builder_;
  const NodeBoxes cover_;
  Makers makers_;
  ArcOrder order_;
  std::vector<Nodes> to_come_;  // by part and node: messages still to receive for its own block
  std::vector<ir::OperationIndices> received_;  // by arc
  std::map<std::array<std::uint32_t, 4>, std::uint32_t> frames_;
};

Schedule BreadthFirstSteps::allgather() {
  for (std::uint32_t part = 0; part < trees_.parts; ++part) {
    for (std::uint32_t node = 0; node < graph_.nodes(); ++node) {
      const Pieces own = piecesOf(part, {node});
      builder_.copy(at(node, part), builder_.region(Buffer::kOut, own),
                    builder_.region(Buffer::kIn, own), {});
    }
  }
  for (const auto& [key, sources] : messages_) {
    const auto& [distance, part, arc_index] = key;
    const LiveArc& arc = graph_.arc(arc_index);
    builder_.setPhase(distance - 1);
    const Pieces pieces = piecesOf(part, sources);
    // The own block is sent from `in`, so that the send does not wait for its copy in `out`.
    send(arc_index, part, builder_.region(distance == 1 ? Buffer::kIn : Buffer::kOut, pieces),
         makers_.of(part, arc.from, sources));
    const std::uint32_t receive = builder_.receive(
        at(arc.to, part), builder_.region(Buffer::kOut, pieces), ir::hop(arc.axis, arc.sign), {});
    for (const std::uint32_t source : sources)
      makers_.of(part, arc.to, source) = receive;
  }
  return builder_.take();
}

/// Sums accumulate in `out` for the own block, and in scratch for the others. Messages over an arc
/// use a few slots in rotation.
Schedule BreadthFirstSteps::reduceScatter() {
  const std::uint32_t farthest = std::get<0>(messages_.rbegin()->first);
  for (const auto& [key, sources] : messages_) {
    if (std::get<0>(key) > 1) break;
    ++to_come_[std::get<1>(key)][sources.front()];  // the own block
  }
  for (auto it = messages_.rbegin(); it != messages_.rend(); ++it) {
    const auto& [distance, part, arc] = it->first;
    builder_.setPhase(farthest - distance);
    const std::uint32_t up = LiveGraph::reverse(arc);
    // A message has one buffer at each end.
    std::map<std::pair<bool, bool>, Nodes> alike;
    for (const std::uint32_t source : it->second) {
      alike[{makers_.of(part, graph_.arc(up).from, source) == kNone,
             makers_.of(part, graph_.arc(up).to, source) == kNone}]
          .push_back(source);
    }
    for (const auto& [is_first, alike_sources] : alike)
      pass(part, up, alike_sources, is_first.first, is_first.second);
  }
  return builder_.take();
}

/// Forwards sums of the blocks of `sources`. `starts`: the sender has only its own data;
/// `is_first`: the receiver has only its own data.
void BreadthFirstSteps::pass(std::uint32_t part, std::uint32_t arc_index, const Nodes& sources,
                             bool starts, bool is_first) {
  const LiveArc& arc = graph_.arc(arc_index);
  const Pieces pieces = piecesOf(part, sources);
  const Region own_data = builder_.region(Buffer::kIn, pieces);
  send(arc_index, part, starts ? own_data : sum(pieces), makers_.of(part, arc.from, sources));

  const bool arrives = sources.size() == 1 && sources.front() == arc.to;
  const bool last = arrives && --to_come_[part][arc.to] == 0;
  const Region total = last ? builder_.region(Buffer::kOut, pieces) : sum(pieces);
  ir::OperationIndices& before = received_[arc_index];
  ir::OperationIndices free;  // last reader of the slot
  if (before.size() >= kStaging) free.push_back(before[before.size() - kStaging]);
  const Region staging = scratch(
      pieces, pieces, slotOf(arc_index, static_cast<std::uint32_t>(before.size() % kStaging)));
  const ir::StepPlace place = at(arc.to, part);
  const Shift moves = ir::hop(arc.axis, arc.sign);
  std::uint32_t reduced = kNone;
  if (is_first) {
    reduced = builder_.receiveAndReduce(place, total, own_data, staging, moves, free);
  } else {
    // The receive itself does not wait for earlier sums.
    ir::OperationIndices after = makers_.of(part, arc.to, sources);
    after.push_back(builder_.receive(place, staging, moves, free));
    reduced = builder_.reduce(place, total, sum(pieces), staging, after);
  }
  before.push_back(reduced);
  for (const std::uint32_t source : sources)
    makers_.of(part, arc.to, source) = reduced;
}

/// The schedule of one node.
Schedule ownBlock(const CollectiveSpec& spec) {
  ir::StepBuilder builder(ir::scheduleHeader(spec.collective, spec.topology, 1));
  const Piece own{0, 1, builder.box(boxOf(spec.topology, 0))};
  builder.copy({builder.addStream({0, 0})}, builder.region(Buffer::kOut, own),
               builder.region(Buffer::kIn, own), {});
  return builder.take();
}

}  // namespace

llvm::Expected<ir::Program> lowerBreadthFirstTrees(const CollectiveSpec& spec) {
  if (llvm::Error error = checkTreeNodes(spec.topology, "breadth-first trees")) return error;
  const LiveGraph graph(spec.topology);
  const bool reduces = rowOf(spec.collective).reduces();
  ir::Program program;
  program.schedule = graph.nodes() == 1 ? ownBlock(spec)
                     : reduces          ? BreadthFirstSteps(spec, graph).reduceScatter()
                                        : BreadthFirstSteps(spec, graph).allgather();
  return program;
}

}  // namespace torc::compiler
