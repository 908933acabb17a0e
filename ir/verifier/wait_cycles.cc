// Rule 2, progress: no cycle among dependences and rendezvous matches. Events are the start and the
// completion of operations. An operation starts when its dependences are complete; it completes
// after its start and, without any buffering, after the start of the other end of its message. All
// nodes are folded into one graph of events; if that has no cycle, no node can be part of one. The
// cycles of this graph, as in a chain along which data go from node to node, are unfolded along an
// axis: every event at each of its coordinates separately, with the other axes still folded;
// remaining cycles then along another axis. A cycle that remains when all axes are unfolded is a
// deadlock.
#include <algorithm>
#include <optional>

#include <llvm/ADT/STLExtras.h>

#include "ir/verifier/rule_context.h"

namespace torc::ir {
namespace {

/// An event, at one coordinate of the unfolded axes.
struct Instance {
  std::uint64_t event = 0;
  Coordinates at{};  // kEverywhere on the others
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

/// The strongly connected components of a graph, each after those that lead to it (Tarjan, with a
/// stack of its own).
class Components {
 public:
  Components(std::uint64_t events, const std::vector<Edge>& edges) : first_(events + 1, 0) {
    for (const Edge& edge : edges)
      ++first_[edge.from + 1];
    for (std::uint64_t e = 0; e < events; ++e)
      first_[e + 1] += first_[e];
    targets_.resize(edges.size());
    std::vector<std::uint64_t> next(first_.begin(), first_.end() - 1);
    for (const Edge& edge : edges)
      targets_[next[edge.from]++] = edge.to;
    index_.assign(events, 0);
    low_.assign(events, 0);
    component.assign(events, kNone);
    for (std::uint64_t e = 0; e < events; ++e) {
      if (index_[e] == 0) visit(e);
    }
    std::reverse(members.begin(), members.end());
    for (std::uint32_t& number : component)
      number = static_cast<std::uint32_t>(members.size()) - 1 - number;
  }

  std::vector<std::vector<std::uint64_t>> members;  // by component
  std::vector<std::uint32_t> component;             // by event

 private:
  void visit(std::uint64_t root) {
    struct Frame {
      std::uint64_t event, next;
    };
    std::vector<Frame> frames{{root, first_[root]}};
    enter(root);
    while (!frames.empty()) {
      Frame& frame = frames.back();
      if (frame.next < first_[frame.event + 1]) {
        const std::uint64_t target = targets_[frame.next++];
        if (index_[target] == 0) {
          enter(target);
          frames.push_back({target, first_[target]});
        } else if (component[target] == kNone) {
          low_[frame.event] = std::min(low_[frame.event], index_[target]);
        }
        continue;
      }
      const std::uint64_t event = frame.event;
      frames.pop_back();
      if (!frames.empty())
        low_[frames.back().event] = std::min(low_[frames.back().event], low_[event]);
      if (low_[event] != index_[event]) continue;
      members.emplace_back();
      std::uint64_t member = 0;
      do {
        member = stack_.back();
        stack_.pop_back();
        component[member] = static_cast<std::uint32_t>(members.size() - 1);
        members.back().push_back(member);
      } while (member != event);
    }
  }
  void enter(std::uint64_t event) {
    index_[event] = low_[event] = ++count_;
    stack_.push_back(event);
  }

  std::vector<std::uint64_t> first_, targets_, index_, low_, stack_;
  std::uint64_t count_ = 0;
};

class EventOrder {
 public:
  explicit EventOrder(VerifyContext& context)
      : context_(context), schedule_(context.schedule), topology_(context.topology) {}

  std::optional<std::vector<Step>> run() {
    if (!append(folded(), (1u << topology_.axis_count) - 1)) return std::nullopt;
    return std::move(order_);
  }

 private:
  Graph folded() const {
    Graph graph;
    Coordinates everywhere;
    everywhere.fill(kEverywhere);
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

  /// Appends the events of a graph in order. `axes` has a bit for each folded axis.
  bool append(const Graph& graph, std::uint32_t axes) {
    context_.work.done += graph.instances.size() + graph.edges.size();
    if (context_.work.tooMuch()) return false;
    const Components components(graph.instances.size(), graph.edges);
    std::vector<Graph> cycles(components.members.size());
    std::vector<std::uint64_t> place(graph.instances.size(), 0);
    for (std::size_t c = 0; c < cycles.size(); ++c) {
      if (components.members[c].size() == 1) continue;
      for (std::uint64_t member : components.members[c]) {
        place[member] = cycles[c].instances.size();
        cycles[c].instances.push_back(graph.instances[member]);
      }
    }
    for (const Edge& edge : graph.edges) {
      const std::uint32_t c = components.component[edge.from];
      if (c != components.component[edge.to] || components.members[c].size() == 1) continue;
      cycles[c].edges.push_back({place[edge.from], place[edge.to], edge.match, edge.to_receiver});
    }
    for (std::size_t c = 0; c < cycles.size(); ++c) {
      const std::vector<std::uint64_t>& members = components.members[c];
      if (members.size() == 1) {
        const Instance& instance = graph.instances[members.front()];
        order_.push_back({instance.event, instance.at});
      } else if (!appendCycle(cycles[c], axes)) {
        return false;
      }
    }
    return true;
  }

  /// The same for events that all wait for one another.
  bool appendCycle(const Graph& cycle, std::uint32_t axes) {
    // If all nodes of an axis have all its messages, the cycle is a deadlock: followed around the
    // axis often enough it closes.
    for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
      const bool everywhere = llvm::all_of(cycle.edges, [&](const Edge& edge) {
        return edge.match == kNone ||
               context_.matches[edge.match].senders[axis].length == topology_.axes[axis].size;
      });
      if (everywhere) axes &= ~(1u << axis);
    }
    if (axes == 0) {
      report(cycle);
      return false;
    }
    // The axis that leaves the fewest events on cycles.
    std::uint32_t best = kNone;
    double least = 2;
    for (std::uint32_t axis = 0; axis < topology_.axis_count && least > 0; ++axis) {
      if ((axes >> axis & 1) == 0) continue;
      const Graph unfolded = unfold(cycle, axis);
      context_.work.done += unfolded.instances.size() + unfolded.edges.size();
      if (context_.work.tooMuch()) return false;
      const Components components(unfolded.instances.size(), unfolded.edges);
      std::size_t single = 0;
      for (const auto& members : components.members)
        single += members.size() == 1;
      const double left =
          1 - static_cast<double>(single) / static_cast<double>(unfolded.instances.size());
      if (left < least) best = axis, least = left;
    }
    return append(unfold(cycle, best), axes & ~(1u << best));
  }

  Graph unfold(const Graph& cycle, std::uint32_t axis) {
    const std::uint32_t size = topology_.axes[axis].size;
    Graph unfolded;
    // One node per coordinate: the nodes of an instance are consecutive.
    if (tooLarge(cycle.instances.size() + cycle.edges.size(), size)) return cycle;
    for (const Instance& instance : cycle.instances) {
      for (std::uint32_t x = 0; x < size; ++x) {
        unfolded.instances.push_back(instance);
        unfolded.instances.back().at[axis] = static_cast<std::int32_t>(x);
      }
    }
    for (const Edge& edge : cycle.edges) {
      const Match* match = edge.match == kNone ? nullptr : &context_.matches[edge.match];
      Range from{0, size};
      std::int64_t distance = 0;
      if (match != nullptr) {
        from = edge.to_receiver ? match->senders[axis] : match->receivers[axis];
        distance = edge.to_receiver ? match->distance[axis] : -match->distance[axis];
      }
      for (std::uint32_t i = 0; i < from.length; ++i) {
        const std::uint32_t x = wrap(std::int64_t{from.start} + i, size);
        unfolded.edges.push_back({edge.from * size + x, edge.to * size + wrap(x + distance, size),
                                  edge.match, edge.to_receiver});
      }
    }
    return unfolded;
  }

  /// Counts work; true if it exceeds the limit.
  bool tooLarge(std::uint64_t records, std::uint64_t times) {
    if (records * times > kMostRecords) context_.work.done = context_.work.most + 1;
    return context_.work.tooMuch();
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
        const auto told_apart = [](std::int32_t x) { return x != kEverywhere; };
        if (llvm::any_of(instance.at, told_apart)) {
          Coordinates node = instance.at;
          std::ranges::replace(node, kEverywhere, 0);
          text += " on " + context_.rankText(node);
        }
      }
      ++length;
    }
    text += length > 8 ? ", and so on round a cycle of " + std::to_string(length)
                       : ", which waits for the first";
    context_.fault(Rule::kProgress, static_cast<std::uint32_t>(graph.instances[at].event / 2),
                   text);
  }

  static constexpr std::uint64_t kMostRecords = 5'000'000;  // of a graph: some hundred megabytes

  VerifyContext& context_;
  const ScheduleView& schedule_;
  const Topology& topology_;
  std::vector<Step> order_;
};

}  // namespace

std::optional<std::vector<Step>> checkProgress(VerifyContext& context) {
  return EventOrder(context).run();
}

}  // namespace torc::ir
