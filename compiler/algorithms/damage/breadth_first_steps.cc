// The steps of allgather and reduce_scatter on breadth-first trees: what comes over an arc from one
// distance goes in one message, of as few boxes as cover it; of a reduce_scatter in up to four, for
// a message names one buffer at each end.
#include <algorithm>
#include <map>
#include <tuple>

#include "compiler/algorithms/damage/breadth_first_trees.h"
#include "compiler/algorithms/damage/spanning_trees.h"
#include "compiler/algorithms/damage/tree_program.h"
#include "schedules/box.h"

namespace torc::compiler {
namespace {

using Nodes = std::vector<std::uint32_t>;

/// Disjoint boxes that hold the given nodes, no other live ones, and dead ones as they like: the
/// block of a dead node is empty.
class BoxCover {
 public:
  explicit BoxCover(const Topology& topology)
      : topology_(topology), wanted_(topology.sites(), false) {}

  Blocks cover(const Nodes& nodes) {
    for (const std::uint32_t node : nodes)
      wanted_[siteOf(node)] = true;
    Blocks boxes;
    for (const std::uint32_t node : nodes) {
      if (wanted_[siteOf(node)]) boxes.push_back(grow(node));
    }
    return boxes;
  }

 private:
  std::size_t siteOf(std::uint32_t node) const {
    return static_cast<std::size_t>(
        topology_.siteOf(topology_.coordinatesOf(static_cast<std::int32_t>(node))));
  }

  /// Calls `visit` with every place of `ranges`.
  template <typename Visit>
  void forEach(const Ranges& ranges, Visit visit) const {
    Coordinates at{};
    const std::uint64_t count = volume(ranges, topology_);
    for (std::uint64_t i = 0; i < count; ++i) {
      std::uint64_t rest = i;
      for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
        at[axis] = static_cast<std::int32_t>(ranges[axis].start + rest % ranges[axis].length);
        rest /= ranges[axis].length;
      }
      visit(at);
    }
  }

  bool holdsNoOther(const Ranges& ranges) const {
    bool any = false, other = false;
    forEach(ranges, [&](const Coordinates& at) {
      const bool wanted = wanted_[static_cast<std::size_t>(topology_.siteOf(at))];
      any |= wanted;
      other |= !wanted && !topology_.isDead(at);
    });
    return any && !other;
  }

  /// The box of a node, made longer along one axis after the other.
  Box grow(std::uint32_t node) {
    const Coordinates at = topology_.coordinatesOf(static_cast<std::int32_t>(node));
    Ranges ranges{};
    for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis)
      ranges[axis] = {static_cast<std::uint32_t>(at[axis]), 1};
    for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
      while (ranges[axis].start + ranges[axis].length < topology_.axes[axis].size) {
        Ranges slab = ranges;
        slab[axis] = {ranges[axis].start + ranges[axis].length, 1};
        if (!holdsNoOther(slab)) break;
        ++ranges[axis].length;
      }
    }
    forEach(ranges, [&](const Coordinates& place) {
      wanted_[static_cast<std::size_t>(topology_.siteOf(place))] = false;
    });
    Box box;
    for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
      if (ranges[axis].length == topology_.axes[axis].size) continue;
      box[axis] =
          Interval::absolute(static_cast<std::int32_t>(ranges[axis].start), ranges[axis].length);
    }
    return box;
  }

  const Topology& topology_;
  std::vector<bool> wanted_;  // by site
};

/// What goes over an arc of the trees at one distance from the sources, by distance, part and arc.
std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, Nodes> messagesOf(
    const BreadthFirstTrees& trees) {
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, Nodes> messages;
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

/// Messages of an arc go in the order of the list, at most two at a time, so that those on which
/// most depends do not share the link with all others.
class ArcOrder {
 public:
  explicit ArcOrder(const LiveGraph& graph) : sent_(graph.arcs().size()) {}

  /// Adds to `after` what the next send over an arc is to wait for.
  void wait(std::uint32_t arc, OperationList& after) const {
    const OperationList& sent = sent_[arc];
    if (sent.size() >= kInFlight) after.push_back(sent[sent.size() - kInFlight]);
  }
  void sent(std::uint32_t arc, std::uint32_t send) { sent_[arc].push_back(send); }

 private:
  static constexpr std::size_t kInFlight = 2;
  std::vector<OperationList> sent_;
};

/// By part, node and source: the operation that made the value there.
class Makers {
 public:
  Makers(std::uint32_t parts, std::uint32_t nodes)
      : nodes_(nodes), makers_(std::size_t{parts} * nodes * nodes, kNone) {}

  std::uint32_t& of(std::uint32_t part, std::uint32_t node, std::uint32_t source) {
    return makers_[(std::size_t{part} * nodes_ + node) * nodes_ + source];
  }
  /// Those of several sources, each once.
  OperationList of(std::uint32_t part, std::uint32_t node, const Nodes& sources) {
    OperationList list;
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

}  // namespace

Schedule breadthFirstAllgather(const CollectiveSpec& spec, const LiveGraph& graph) {
  const BreadthFirstTrees trees = balancedTrees(graph);
  TreeProgram program(spec, trees.parts);
  BoxCover cover(spec.topology);
  Makers received(trees.parts, graph.nodes());
  ArcOrder order(graph);
  for (std::uint32_t part = 0; part < trees.parts; ++part) {
    for (std::uint32_t node = 0; node < graph.nodes(); ++node) {
      const Blocks own = program.blockOf(node);
      program.copy(node, program.region(Buffer::kOut, part, own),
                   program.region(Buffer::kIn, part, own));
    }
  }
  for (const auto& [key, sources] : messagesOf(trees)) {
    const auto& [distance, part, arc_index] = key;
    const LiveArc& arc = graph.arc(arc_index);
    program.setPhase(distance - 1);
    const Blocks blocks = cover.cover(sources);
    // The own block leaves from `in`, without waiting for its copy in `out`.
    const Buffer buffer = distance == 1 ? Buffer::kIn : Buffer::kOut;
    OperationList after = received.of(part, arc.from, sources);
    order.wait(arc_index, after);
    order.sent(arc_index, program.send(program.region(buffer, part, blocks), arc, after));
    const std::uint32_t receive =
        program.receive(program.region(Buffer::kOut, part, blocks), arc, {});
    for (const std::uint32_t source : sources)
      received.of(part, arc.to, source) = receive;
  }
  return program.take();
}

namespace {

/// Sums grow in `out` for the own block, and for the others in scratch: one frame of all blocks per
/// part. What arrives over an arc is received into a few slots in turn.
class BreadthFirstReduction {
 public:
  BreadthFirstReduction(const CollectiveSpec& spec, const LiveGraph& graph)
      : graph_(graph),
        trees_(balancedTrees(graph)),
        program_(spec, trees_.parts),
        cover_(spec.topology),
        sums_(trees_.parts, graph.nodes()),
        order_(graph),
        to_come_(trees_.parts, Nodes(graph.nodes(), 0)),
        received_(graph.arcs().size()) {}

  Schedule run() {
    const auto messages = messagesOf(trees_);
    const std::uint32_t farthest = std::get<0>(messages.rbegin()->first);
    for (const auto& [key, sources] : messages) {
      if (std::get<0>(key) > 1) break;
      ++to_come_[std::get<1>(key)][sources.front()];  // what comes to a node is its own block
    }
    for (auto it = messages.rbegin(); it != messages.rend(); ++it) {
      const auto& [distance, part, arc] = it->first;
      program_.setPhase(farthest - distance);
      const std::uint32_t up = LiveGraph::reverse(arc);
      // One message names one buffer at each end.
      std::map<std::pair<bool, bool>, Nodes> alike;
      for (const std::uint32_t source : it->second) {
        alike[{sums_.of(part, graph_.arc(up).from, source) == kNone,
               sums_.of(part, graph_.arc(up).to, source) == kNone}]
            .push_back(source);
      }
      for (const auto& [is_first, alike_sources] : alike)
        pass(part, up, alike_sources, is_first.first, is_first.second);
    }
    return program_.take();
  }

 private:
  /// Sends sums of the blocks of `sources` on; `starts`: the sender has nothing but its own data,
  /// `is_first`: so has the receiver.
  void pass(std::uint32_t part, std::uint32_t arc_index, const Nodes& sources, bool starts,
            bool is_first) {
    const LiveArc& arc = graph_.arc(arc_index);
    const Blocks blocks = cover_.cover(sources);
    const Region own_data = program_.region(Buffer::kIn, part, blocks);
    OperationList ready = sums_.of(part, arc.from, sources);
    order_.wait(arc_index, ready);
    order_.sent(arc_index, program_.send(starts ? own_data : sum(part, blocks), arc, ready));

    const bool arrives = sources.size() == 1 && sources.front() == arc.to;
    const bool last = arrives && --to_come_[part][arc.to] == 0;
    const Region total =
        last ? program_.region(Buffer::kOut, part, program_.blockOf(arc.to)) : sum(part, blocks);
    OperationList& before = received_[arc_index];
    OperationList free;  // what has used the slot before
    if (before.size() >= kStaging) free.push_back(before[before.size() - kStaging]);
    const Region staging = program_.scratch(
        part, blocks, slotOf(arc_index, static_cast<std::uint32_t>(before.size() % kStaging)));
    std::uint32_t reduced = kNone;
    if (is_first) {
      reduced = program_.receiveAndReduce(total, own_data, staging, arc, free);
    } else {
      // To receive it need not wait for the sums before it.
      OperationList after = sums_.of(part, arc.to, sources);
      after.push_back(program_.receive(staging, arc, free));
      reduced = program_.reduce(arc.to, total, sum(part, blocks), staging, after);
    }
    before.push_back(reduced);
    for (const std::uint32_t source : sources)
      sums_.of(part, arc.to, source) = reduced;
  }

  Region sum(std::uint32_t part, const Blocks& blocks) {
    return program_.scratch(part, blocks, part, program_.allBlocks());
  }

  /// Arcs that lead to one node have different slots.
  std::uint32_t slotOf(std::uint32_t arc_index, std::uint32_t turn) const {
    const auto arcs = graph_.arcsFrom(graph_.arc(arc_index).to);
    const auto place = std::ranges::find(arcs, LiveGraph::reverse(arc_index)) - arcs.begin();
    return trees_.parts + kStaging * static_cast<std::uint32_t>(place) + turn;
  }

  // Receives of an arc that can be under way. With fewer, links wait for sums (on 4x4x4 without one
  // node the reduce_scatter takes 4 % longer with two than with four), with more they do not gain.
  static constexpr std::uint32_t kStaging = 4;

  const LiveGraph& graph_;
  const BreadthFirstTrees trees_;
  TreeProgram program_;
  BoxCover cover_;
  Makers sums_;
  ArcOrder order_;
  std::vector<Nodes> to_come_;           // by part and node: messages with its own block
  std::vector<OperationList> received_;  // by arc
};

}  // namespace

Schedule breadthFirstReduceScatter(const CollectiveSpec& spec, const LiveGraph& graph) {
  return BreadthFirstReduction(spec, graph).run();
}

llvm::Expected<ir::Program> lowerBreadthFirstTrees(const CollectiveSpec& spec) {
  if (llvm::Error error = checkTreeNodes(spec.topology, "breadth-first trees")) return error;
  const LiveGraph graph(spec.topology);
  ir::Program program;
  if (graph.nodes() == 1) {
    TreeProgram alone(spec, 1);
    const Blocks own = alone.blockOf(0);
    alone.copy(0, alone.region(Buffer::kOut, 0, own), alone.region(Buffer::kIn, 0, own));
    program.schedule = alone.take();
  } else if (rowOf(spec.collective).reduces()) {
    program.schedule = breadthFirstReduceScatter(spec, graph);
  } else {
    program.schedule = breadthFirstAllgather(spec, graph);
  }
  return program;
}

}  // namespace torc::compiler
