// Rule 2, progress: no cycle among dependences and rendezvous matches.
//
// Events are the start and the completion of operations. An operation starts when those that it
// names are complete; it completes after its start and, without any buffering, after the start of
// the other end of its message. First all nodes are folded into one graph; if that has no cycle,
// no node can be part of one. If it has one, and nodes differ, every node is looked at by itself.
// Along a collapsed axis a folded cycle is a real one: walked round often enough it closes.
#include <algorithm>

#include "ir/text/text.h"
#include "ir/verifier/context.h"

namespace torc::ir {
namespace {

/// A graph of events; edges are gathered first, then ordered.
class EventGraph {
 public:
  explicit EventGraph(std::uint64_t events) : incoming_(events, 0), first_(events + 1, 0) {}

  void addEdge(std::uint64_t from, std::uint64_t to) { edges_.push_back({from, to}); }

  /// A topological order; shorter than the number of events if there is a cycle.
  std::vector<std::uint64_t> order() {
    for (const auto& [from, to] : edges_) {
      ++first_[from + 1];
      ++incoming_[to];
    }
    for (std::size_t i = 1; i < first_.size(); ++i)
      first_[i] += first_[i - 1];
    std::vector<std::uint64_t> targets(edges_.size());
    std::vector<std::uint64_t> next(first_.begin(), first_.end() - 1);
    for (const auto& [from, to] : edges_)
      targets[next[from]++] = to;
    std::vector<std::uint64_t> order;
    order.reserve(incoming_.size());
    for (std::uint64_t e = 0; e < incoming_.size(); ++e) {
      if (incoming_[e] == 0) order.push_back(e);
    }
    for (std::size_t i = 0; i < order.size(); ++i) {
      for (std::uint64_t k = first_[order[i]]; k < first_[order[i] + 1]; ++k) {
        if (--incoming_[targets[k]] == 0) order.push_back(targets[k]);
      }
    }
    return order;
  }

  /// After order(): the events of one cycle, each waiting for the one before.
  std::vector<std::uint64_t> cycle() const {
    std::vector<std::uint64_t> waits_for(incoming_.size(), incoming_.size());
    for (const auto& [from, to] : edges_) {
      if (incoming_[from] > 0 && incoming_[to] > 0) waits_for[to] = from;
    }
    std::uint64_t event = 0;
    while (incoming_[event] == 0)
      ++event;
    std::vector<bool> seen(incoming_.size(), false);
    while (!seen[event]) {
      seen[event] = true;
      event = waits_for[event];
    }
    std::vector<std::uint64_t> cycle{event};
    for (std::uint64_t e = waits_for[event]; e != event; e = waits_for[e])
      cycle.push_back(e);
    std::reverse(cycle.begin(), cycle.end());
    return cycle;
  }

 private:
  std::vector<std::pair<std::uint64_t, std::uint64_t>> edges_;
  std::vector<std::uint32_t> incoming_;
  std::vector<std::uint64_t> first_;
};

std::uint64_t startOf(std::uint64_t operation) {
  return 2 * operation;
}
std::uint64_t endOf(std::uint64_t operation) {
  return 2 * operation + 1;
}

void addLocalEdges(const ScheduleView& schedule, std::uint64_t base, EventGraph& graph) {
  for (std::uint64_t i = 0; i < schedule.operations.size(); ++i) {
    graph.addEdge(startOf(base + i), endOf(base + i));
    for (std::uint32_t d : schedule.dependencesOf(schedule.operations[i])) {
      graph.addEdge(endOf(base + d), startOf(base + i));
    }
  }
}

}  // namespace

std::vector<std::uint64_t> checkProgress(VerifyContext& context, bool& per_class_order) {
  const ScheduleView& schedule = context.schedule;
  const std::uint64_t count = schedule.operations.size();
  per_class_order = false;

  EventGraph folded(2 * count);
  addLocalEdges(schedule, 0, folded);
  std::vector<Match> last(count);  // the same pair of operations matches on most classes
  for (std::uint32_t c = 0; c < context.classCount(); ++c) {
    for (std::uint32_t i = 0; i < count; ++i) {
      const Match& match = context.match(c, i);
      if (match.operation == kNone || match.operation == last[i].operation) continue;
      last[i] = match;
      folded.addEdge(startOf(match.operation), endOf(i));
    }
  }
  std::vector<std::uint64_t> order = folded.order();
  if (order.size() == 2 * count) return order;

  EventGraph* graph = &folded;
  EventGraph exact(context.classCount() > 1 ? 2 * count * context.classCount() : 0);
  if (context.classCount() > 1) {
    for (std::uint64_t c = 0; c < context.classCount(); ++c) {
      addLocalEdges(schedule, c * count, exact);
      for (std::uint32_t i = 0; i < count; ++i) {
        const Match& match = context.match(static_cast<std::uint32_t>(c), i);
        if (match.operation == kNone) continue;
        exact.addEdge(startOf(match.node_class * count + match.operation), endOf(c * count + i));
      }
    }
    order = exact.order();
    per_class_order = true;
    if (order.size() == 2 * count * context.classCount()) return order;
    graph = &exact;
  }

  std::string text = "deadlock without buffering: ";
  const std::vector<std::uint64_t> cycle = graph->cycle();
  const std::size_t shown = std::min<std::size_t>(cycle.size(), 8);
  for (std::size_t k = 0; k < shown; ++k) {
    const std::uint64_t event = cycle[k];
    if (k > 0) text += ", which waits for ";
    text += event % 2 == 0 ? "the start of %" : "the end of %";
    text += std::to_string(event / 2 % count);
    if (per_class_order) {
      const auto node_class = static_cast<std::uint32_t>(event / 2 / count);
      text += " on " + context.rankText(context.coordinatesOf(node_class));
    }
  }
  text += shown < cycle.size() ? ", and so on round a cycle of " + std::to_string(cycle.size())
                               : ", which waits for the first";
  context.fault(Rule::kProgress, static_cast<std::uint32_t>(cycle.front() / 2 % count), text);
  return {};
}

}  // namespace torc::ir
