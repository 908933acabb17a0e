// Rule 2, progress: no cycle among dependences and rendezvous matches. Events are the start and the
// completion of operations. An operation starts when its dependences are complete; it completes
// after its start and, without any buffering, after the start of the other end of its message. All
// nodes are folded into one graph of events; if that has no cycle, no node can be part of one. The
// cycles of this graph are unfolded along one axis after another: every event on each range of
// coordinates whose nodes have the same messages, with the other axes still folded. A remaining
// cycle may be a chain along which data go from node to node in one direction; its events are
// ordered at each coordinate alone. If neither finds an order, every event is unfolded at each of
// its coordinates separately; a cycle that remains when all axes are unfolded so is a deadlock.
#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <vector>

#include <llvm/ADT/SCCIterator.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/Sequence.h>

#include "ir/verifier/rule_context.h"

namespace torc::ir {
namespace {

/// An event on the nodes of a box, which has all coordinates of the folded axes.
struct Instance {
  std::uint64_t event = 0;
  Ranges nodes{};
};

struct Edge {
  std::uint64_t from = 0, to = 0;  // instances
  std::uint32_t match = kNone;     // of messages; otherwise both are on one node
  bool to_receiver = false;        // from the sender to the receiver, or back
};

struct Graph {
  std::vector<Instance> instances;
  std::vector<Edge> edges;
};

/// An instance among the targets of edges.
struct Vertex {
  std::vector<const Vertex*> targets;
};

}  // namespace
}  // namespace torc::ir

template <>
struct llvm::GraphTraits<const torc::ir::Vertex*> {
  using NodeRef = const torc::ir::Vertex*;
  using ChildIteratorType = std::vector<NodeRef>::const_iterator;
  static NodeRef getEntryNode(NodeRef vertex) { return vertex; }
  static ChildIteratorType child_begin(NodeRef vertex) { return vertex->targets.begin(); }
  static ChildIteratorType child_end(NodeRef vertex) { return vertex->targets.end(); }
};

namespace torc::ir {
namespace {

/// The strongly connected components of a graph, each after those that lead to it.
std::vector<std::vector<std::uint64_t>> componentsOf(const Graph& graph) {
  std::vector<Vertex> vertices(graph.instances.size() + 1);  // the last leads to all
  for (const Edge& edge : graph.edges)
    vertices[edge.from].targets.push_back(&vertices[edge.to]);
  for (std::size_t i = 0; i < graph.instances.size(); ++i)
    vertices.back().targets.push_back(&vertices[i]);
  std::vector<std::vector<std::uint64_t>> components;
  const Vertex* const all = &vertices.back();
  for (auto component = llvm::scc_begin(all); !component.isAtEnd(); ++component) {
    components.emplace_back();
    for (const Vertex* vertex : *component)
      components.back().push_back(static_cast<std::uint64_t>(vertex - vertices.data()));
  }
  components.pop_back();  // of the last vertex
  std::ranges::reverse(components);
  return components;
}

/// How finely axes are unfolded.
enum class Unfolding {
  kByRanges,  // ranges of coordinates whose nodes have the same messages
  kByCoordinate,
};

class EventOrder : public RuleChecker {
 public:
  using RuleChecker::RuleChecker;

  std::optional<std::vector<Step>> run() {
    std::vector<Step> order;
    if (!append(folded(), (1u << topology_.axis_count) - 1, Unfolding::kByCoordinate, order))
      return std::nullopt;
    return order;
  }

 private:
  Graph folded() const {
    Graph graph;
    const Ranges everywhere = allNodes(topology_);
    for (std::uint64_t i = 0; i < schedule_.operations.size(); ++i) {
      graph.instances.push_back({2 * i, everywhere});
      graph.instances.push_back({2 * i + 1, everywhere});
      graph.edges.push_back({2 * i, 2 * i + 1, kNone, false});
      for (std::uint32_t d : schedule_.dependencesOf(schedule_.operations[i]))
        graph.edges.push_back({std::uint64_t{d} * 2 + 1, 2 * i, kNone, false});
    }
    for (std::uint32_t m = 0; m < context_.matches.size(); ++m) {
      const std::uint64_t send = context_.matches[m].send;
      const std::uint64_t receive = context_.matches[m].receive;
      graph.edges.push_back({2 * send, 2 * receive + 1, m, true});
      graph.edges.push_back({2 * receive, 2 * send + 1, m, false});
    }
    return graph;
  }

  /// Appends the events of a graph in order to `order`. `axes` has a bit for each folded axis.
  bool append(const Graph& graph, std::uint32_t axes, Unfolding unfolding,
              std::vector<Step>& order) {
    context_.work.done += graph.instances.size() + graph.edges.size();
    if (context_.work.tooMuch()) return false;
    const std::vector<std::vector<std::uint64_t>> components = componentsOf(graph);
    std::vector<Graph> cycles(components.size());
    std::vector<std::size_t> component(graph.instances.size()), place(graph.instances.size());
    for (std::size_t c = 0; c < cycles.size(); ++c) {
      for (const std::uint64_t member : components[c]) {
        component[member] = c;
        place[member] = cycles[c].instances.size();
        if (components[c].size() > 1) cycles[c].instances.push_back(graph.instances[member]);
      }
    }
    for (const Edge& edge : graph.edges) {
      const std::size_t c = component[edge.from];
      if (c == component[edge.to])
        cycles[c].edges.push_back({place[edge.from], place[edge.to], edge.match, edge.to_receiver});
    }
    for (std::size_t c = 0; c < cycles.size(); ++c) {
      if (components[c].size() == 1) {
        appendEvent(graph.instances[components[c].front()], order);
      } else if (!appendCycle(cycles[c], axes, unfolding, order)) {
        return false;
      }
    }
    return true;
  }

  /// Sends act at their start, others at their completion.
  void appendEvent(const Instance& instance, std::vector<Step>& order) {
    const Operation& operation = schedule_.operations[instance.event / 2];
    if ((instance.event % 2 == 1) == sends(operation.kind)) return;
    const auto has = [&](const Ranges& nodes) {
      return overlaps(nodes, instance.nodes, topology_);
    };
    if (!llvm::any_of(context_.domains.of(operation), has)) return;
    order.push_back({static_cast<std::uint32_t>(instance.event / 2), instance.nodes});
  }

  /// The same for events that all wait for one another. By ranges it fails if it finds no order.
  bool appendCycle(const Graph& cycle, std::uint32_t axes, Unfolding unfolding,
                   std::vector<Step>& order) {
    if (unfolding == Unfolding::kByCoordinate) {
      std::vector<Step> steps;
      if (appendCycle(cycle, axes, Unfolding::kByRanges, steps)) {
        std::ranges::move(steps, std::back_inserter(order));
        return true;
      }
    }
    // If all nodes of an axis have all its messages, the cycle is a deadlock: followed around the
    // axis often enough it closes.
    for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
      const bool everywhere = llvm::all_of(cycle.edges, [&](const Edge& edge) {
        return edge.match == kNone ||
               context_.matches[edge.match].senders[axis].length == topology_.axes[axis].size;
      });
      if (everywhere) axes &= ~(1u << axis);
    }
    if (unfolding == Unfolding::kByRanges && appendChain(cycle, axes, order)) return true;
    if (axes == 0) {
      if (unfolding == Unfolding::kByCoordinate) report(cycle);
      return false;
    }
    // The axis that leaves the fewest events on cycles.
    std::uint32_t best = kNone;
    double least = 2;
    for (std::uint32_t axis = 0; axis < topology_.axis_count && least > 0; ++axis) {
      if ((axes >> axis & 1) == 0) continue;
      const Graph unfolded = unfold(cycle, axis, unfolding);
      context_.work.done += unfolded.instances.size() + unfolded.edges.size();
      if (context_.work.tooMuch()) return false;
      const auto single = llvm::count_if(componentsOf(unfolded),
                                         [](const auto& members) { return members.size() == 1; });
      const double left =
          1 - static_cast<double>(single) / static_cast<double>(unfolded.instances.size());
      if (left < least) best = axis, least = left;
    }
    return append(unfold(cycle, best, unfolding), axes & ~(1u << best), unfolding, order);
  }

  /// The same for events in a range of an axis whose messages go along it in one direction: one
  /// coordinate comes after the other. If they go along several axes, only when none is folded:
  /// most of them may then be on no cycle.
  bool appendChain(const Graph& cycle, std::uint32_t axes, std::vector<Step>& order) {
    std::array<std::int64_t, kMaxAxes> up{}, down{};  // the longest ways
    for (const Edge& edge : cycle.edges) {
      for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
        up[axis] = std::max(up[axis], hops(edge, axis));
        down[axis] = std::max(down[axis], -hops(edge, axis));
      }
    }
    const auto goes = [&](std::uint32_t axis) { return up[axis] + down[axis] > 0; };
    if (axes != 0 && llvm::count_if(llvm::seq(topology_.axis_count), goes) > 1) return false;
    for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
      const Range range = cycle.instances.front().nodes[axis];
      const auto isIn = [&](const Instance& one) { return one.nodes[axis] == range; };
      // None leaves the range at one end and comes back at the other.
      if (!goes(axis) || (up[axis] > 0 && down[axis] > 0) ||
          range.length + up[axis] + down[axis] > topology_.axes[axis].size ||
          !llvm::all_of(cycle.instances, isIn)) {
        continue;
      }
      Graph at_once{cycle.instances, {}};
      llvm::copy_if(cycle.edges, std::back_inserter(at_once.edges),
                    [&](const Edge& edge) { return hops(edge, axis) == 0; });
      order.push_back({.axis = axis, .sign = up[axis] > 0 ? 1 : -1, .chain = range});
      return append(at_once, axes, Unfolding::kByRanges, order.back().body);
    }
    return false;
  }

  /// How far an edge goes along an axis, at most half its size.
  std::int64_t hops(const Edge& edge, std::uint32_t axis) const {
    if (edge.match == kNone) return 0;
    const std::int64_t size = topology_.axes[axis].size;
    const std::int64_t distance = context_.matches[edge.match].distance[axis];
    const std::int64_t ahead =
        wrap(edge.to_receiver ? distance : -distance, topology_.axes[axis].size);
    return 2 * ahead > size ? ahead - size : ahead;
  }

  Graph unfold(const Graph& cycle, std::uint32_t axis, Unfolding unfolding) {
    const std::uint32_t size = topology_.axes[axis].size;
    // Whether a range begins at each coordinate.
    std::vector<bool> begins(size, unfolding == Unfolding::kByCoordinate);
    for (const Edge& edge : cycle.edges) {
      if (edge.match == kNone) continue;
      const Match& match = context_.matches[edge.match];
      for (const Range& range : {match.senders[axis], match.receivers[axis]}) {
        if (range.length == size) continue;
        begins[range.start] = begins[wrap(std::int64_t{range.start} + range.length, size)] = true;
      }
    }
    const auto first = std::ranges::find(begins, true) - begins.begin();
    std::vector<Range> ranges;
    std::vector<std::size_t> range_of(size);  // by coordinate
    for (std::uint32_t k = 0; k < size; ++k) {
      const std::uint32_t x = wrap(first + k, size);
      if (k == 0 || begins[x]) ranges.push_back({x, 0});
      ++ranges.back().length;
      range_of[x] = ranges.size() - 1;
    }
    const std::size_t cells = ranges.size();
    Graph unfolded;
    // The nodes of an instance are consecutive.
    if ((cycle.instances.size() + cycle.edges.size()) * cells > kMostRecords)
      context_.work.done = context_.work.most + 1;
    if (context_.work.tooMuch()) return cycle;
    for (const Instance& instance : cycle.instances) {
      for (const Range& range : ranges) {
        unfolded.instances.push_back(instance);
        unfolded.instances.back().nodes[axis] = range;
      }
    }
    for (const Edge& edge : cycle.edges) {
      const Match* match = edge.match == kNone ? nullptr : &context_.matches[edge.match];
      Range from{0, size};
      if (match != nullptr) from = (edge.to_receiver ? match->senders : match->receivers)[axis];
      std::uint64_t last = 0;
      for (std::uint32_t i = 0; i < from.length; ++i) {
        const std::uint32_t x = wrap(std::int64_t{from.start} + i, size);
        const Edge next{edge.from * cells + range_of[x],
                        edge.to * cells + range_of[wrap(x + hops(edge, axis), size)], edge.match,
                        edge.to_receiver};
        if (i == 0 || next.from != unfolded.edges.back().from || next.to != last)
          unfolded.edges.push_back(next);
        last = next.to;
      }
    }
    return unfolded;
  }

  /// Reports a cycle. On folded axes, coordinate 0 stands for all nodes.
  void report(const Graph& graph) {
    std::vector<std::uint64_t> waits_for(graph.instances.size(), 0);
    for (const Edge& edge : graph.edges)
      waits_for[edge.to] = edge.from;
    std::vector<bool> seen(graph.instances.size(), false);
    std::uint64_t at = 0;
    while (!seen[at]) {
      seen[at] = true;
      at = waits_for[at];
    }
    std::string text = "deadlock without buffering: ";
    std::uint64_t length = 0;
    for (std::uint64_t next = at; length == 0 || next != at; next = waits_for[next]) {
      if (length < 8) {
        const Instance& instance = graph.instances[next];
        text += length > 0 ? ", which waits for " : "";
        text += instance.event % 2 == 0 ? "the start of %" : "the end of %";
        text += std::to_string(instance.event / 2);
        if (instance.nodes != allNodes(topology_))
          text += " on " + context_.rankText(firstNode(instance.nodes));
      }
      ++length;
    }
    text += length > 8 ? ", and so on round a cycle of " + std::to_string(length)
                       : ", which waits for the first";
    context_.fault(Rule::kProgress, static_cast<std::uint32_t>(graph.instances[at].event / 2),
                   text);
  }

  static constexpr std::uint64_t kMostRecords = 5'000'000;  // of a graph: some hundred megabytes
};

}  // namespace

std::optional<std::vector<Step>> checkProgress(VerifyContext& context) {
  return EventOrder(context).run();
}

}  // namespace torc::ir
