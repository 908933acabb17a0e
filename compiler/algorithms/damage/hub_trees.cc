// Ways from each root to the hubs, and the trees of the hubs, as few boxes of nodes and roots.
#include "compiler/algorithms/damage/hub_trees.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include <llvm/ADT/STLExtras.h>

#include "compiler/algorithms/damage/closed_trees.h"
#include "compiler/algorithms/damage/live_graph.h"
#include "compiler/algorithms/damage/node_boxes.h"
#include "compiler/algorithms/trees/arc_boxes.h"
#include "compiler/algorithms/trees/root_classes.h"
#include "ir/make_error.h"
#include "ir/step_builder.h"
#include "passes/analysis/plan_axes.h"

namespace torc::compiler {
namespace {

using Nodes = std::vector<std::uint32_t>;
using ir::OperationIndices;

/// A coordinate on a way.
struct Mark {
  std::int32_t at = 0;
  bool from_root = false;
  Mark plus(std::int32_t hops) const { return {at + hops, from_root}; }
  auto operator<=>(const Mark&) const = default;
};
using Marks = std::array<Mark, kMaxAxes>;

/// A straight part of a way.
struct Leg {
  std::uint32_t axis = 0;
  int sign = 1;
  Mark to;
};
using Legs = std::vector<Leg>;

/// The act of a node on a leg in a scatter; in a gather it is the opposite.
enum class Act : std::uint8_t { kRootSends, kRelayReceives, kRelaySends, kHubReceives };

/// Nodes from `first` to `last` on each axis, and their act along one.
struct Run {
  Act act{};
  std::uint32_t axis = 0;
  int sign = 1;
  Marks first{}, last{};
  auto operator<=>(const Run&) const = default;
};

class HubTrees {
 public:
  explicit HubTrees(const CollectiveSpec& spec)
      : topology_(spec.topology),
        graph_(topology_),
        boxes_(topology_),
        builder_(header(spec.collective)),
        is_scatter_(rowOf(spec.collective).describesOwnOut()) {}

  Schedule run();

 private:
  /// The neighbour of the center, with one part.
  struct Hub {
    std::uint32_t axis = 0;
    int sign = 1;
    std::uint32_t node = 0;
  };
  /// Nodes with the same subtree, seen from each, that hang on the same side of their parents.
  struct Branch {
    std::uint32_t axis = 0;
    int sign = 1;
    Nodes children, subtree;  // the subtree of the first child
  };

  Schedule header(Collective collective);
  Coordinates at(std::uint32_t node) const {
    return topology_.coordinatesOf(static_cast<std::int32_t>(node));
  }
  std::int32_t size(std::uint32_t axis) const {
    return static_cast<std::int32_t>(topology_.axes[axis].size);
  }
  /// A coordinate of an axis, which wraps.
  std::int32_t on(std::uint32_t axis, std::int64_t coordinate) const {
    return static_cast<std::int32_t>(wrap(coordinate, topology_.axes[axis].size));
  }

  std::vector<Legs> waysFrom(std::uint32_t root) const;
  std::optional<Nodes> walk(std::uint32_t root, const Legs& way) const;
  Legs cheapest(std::uint32_t root, std::uint32_t hub, Nodes& used) const;
  void addRuns(std::uint32_t root, const Legs& way, std::map<Run, Nodes>& runs) const;
  std::vector<Branch> branchesOf(const Hub& hub) const;

  Box guardOf(const Run& run, const Box& roots) const;
  Region region(Buffer buffer, llvm::ArrayRef<Box> blocks, std::uint32_t frame = kNone);
  std::uint32_t message(bool sends, const Box& guard, const Region& region, std::uint32_t axis,
                        int sign, const OperationIndices& after) {
    const ir::StepPlace place{stream_, builder_.box(guard)};
    const Shift moves = ir::hop(axis, is_scatter_ ? sign : -sign);
    return sends == is_scatter_ ? builder_.send(place, region, moves, after)
                                : builder_.receive(place, region, moves, after);
  }
  void addWays(std::uint32_t part, const std::map<Run, Nodes>& runs, OperationIndices& at_hub);
  void addTree(std::uint32_t part, OperationIndices& at_hub);

  const Topology& topology_;
  const LiveGraph graph_;
  const NodeBoxes boxes_;
  std::vector<Hub> hubs_;
  Coordinates center_{};
  llvm::SmallVector<std::uint32_t, kMaxAxes> axes_;  // of more than one node
  ir::StepBuilder builder_;
  const bool is_scatter_;
  std::uint32_t part_ = 0, stream_ = 0, frame_ = 0;  // of the current hub
  std::uint32_t own_copy_ = kNone;                   // of a gather
};

/// Finds the hubs, too.
Schedule HubTrees::header(Collective collective) {
  std::vector<Coordinates> places(topology_.deadNodes().begin(), topology_.deadNodes().end());
  for (const DeadLink& link : topology_.deadLinks()) {
    if (topology_.dead_node_count == 0) places.push_back(link.from);
  }
  axes_ = passes::networkAxes(topology_);
  std::int32_t farthest = -1;
  for (const Coordinates& place : places) {
    std::int32_t hops = 0;  // from rank 0
    std::vector<Hub> hubs;
    for (const std::uint32_t axis : axes_) {
      hops += std::min(place[axis], size(axis) - place[axis]);
      for (const int sign : {1, -1}) {
        Coordinates beside = place;
        beside[axis] = on(axis, beside[axis] + sign);
        if (topology_.isDead(beside)) continue;
        hubs.push_back({axis, sign, static_cast<std::uint32_t>(topology_.rankOf(beside))});
      }
    }
    if (hops <= farthest || hubs.empty()) continue;
    farthest = hops;
    center_ = place;
    hubs_ = std::move(hubs);
  }
  Schedule schedule =
      ir::scheduleHeader(collective, topology_, static_cast<std::uint32_t>(hubs_.size()));
  schedule.flags |= kDropsBroken;
  return schedule;
}

/// The ways to all hubs, by part.
std::vector<Legs> HubTrees::waysFrom(std::uint32_t root) const {
  std::vector<Legs> ways(hubs_.size());
  std::vector<char> is_made(hubs_.size(), 0);
  Nodes used(graph_.arcs().size(), 0);  // by arc: ways
  const Coordinates from = at(root);
  for (std::size_t first = 0; first < axes_.size() && from != center_; ++first) {
    for (const int sign : {1, -1}) {
      // The path of a rectangular tree. Where the root has the center's coordinate on the first
      // axis, it goes round to the last node before it.
      Legs way;
      std::uint32_t last = axes_[first];
      if (from[last] == center_[last]) way.push_back({last, sign, {-sign, true}});
      for (std::size_t i = 0; i < axes_.size(); ++i) {
        const std::uint32_t axis = axes_[(first + i) % axes_.size()];
        if (from[axis] == center_[axis]) continue;
        way.push_back({axis, sign, {center_[axis], false}});
        if (from[axes_[first]] != center_[axes_[first]]) last = axis;
      }
      if (last == way.back().axis && !way.back().to.from_root) {
        way.back().to.at = on(last, center_[last] - sign);
        if (from[last] == way.back().to.at) way.pop_back();
      }
      for (std::size_t part = 0; part < hubs_.size(); ++part) {
        if (hubs_[part].axis != last || hubs_[part].sign != -sign) continue;
        const std::optional<Nodes> arcs = walk(root, way);
        if (!arcs) continue;
        for (const std::uint32_t arc : *arcs)
          ++used[arc];
        ways[part] = way;
        is_made[part] = 1;
      }
    }
  }
  for (std::size_t part = 0; part < hubs_.size(); ++part) {
    if (!is_made[part]) ways[part] = cheapest(root, hubs_[part].node, used);
  }
  return ways;
}

/// The arcs of a way; std::nullopt if one of them is dead.
std::optional<Nodes> HubTrees::walk(std::uint32_t root, const Legs& way) const {
  Nodes arcs;
  std::uint32_t node = root;
  for (const auto& [axis, sign, to] : way) {
    const std::int32_t end = on(axis, to.at + (to.from_root ? at(root)[axis] : 0));
    while (at(node)[axis] != end) {
      const auto next = llvm::find_if(graph_.arcsFrom(node), [&](std::uint32_t arc) {
        return graph_.arc(arc).axis == axis && graph_.arc(arc).sign == sign;
      });
      if (next == graph_.arcsFrom(node).end()) return std::nullopt;
      arcs.push_back(*next);
      node = graph_.arc(*next).to;
    }
  }
  return arcs;
}

/// A way on as few arcs of other ways as possible, and then as few arcs.
Legs HubTrees::cheapest(std::uint32_t root, std::uint32_t hub, Nodes& used) const {
  constexpr std::uint32_t kShared = 1024;  // hops
  std::vector<std::uint32_t> cost(graph_.nodes(), kNone), arc_to(graph_.nodes(), kNone);
  std::set<std::pair<std::uint32_t, std::uint32_t>> open{{0, root}};
  cost[root] = 0;
  while (!open.empty()) {
    const auto [so_far, node] = *open.begin();
    open.erase(open.begin());
    if (so_far != cost[node]) continue;
    for (const std::uint32_t arc : graph_.arcsFrom(node)) {
      const std::uint32_t sum = so_far + 1 + kShared * used[arc];
      if (sum >= cost[graph_.arc(arc).to]) continue;
      cost[graph_.arc(arc).to] = sum;
      arc_to[graph_.arc(arc).to] = arc;
      open.insert({sum, graph_.arc(arc).to});
    }
  }
  Legs way;
  for (std::uint32_t node = hub; node != root; node = graph_.arc(arc_to[node]).from) {
    const LiveArc& arc = graph_.arc(arc_to[node]);
    ++used[arc_to[node]];
    if (!way.empty() && way.back().axis == arc.axis && way.back().sign == arc.sign) continue;
    way.push_back({arc.axis, arc.sign, {at(node)[arc.axis], false}});
  }
  std::reverse(way.begin(), way.end());
  return way;
}

/// Adds the root to the runs of all nodes of a way.
void HubTrees::addRuns(std::uint32_t root, const Legs& way, std::map<Run, Nodes>& runs) const {
  Marks here{};
  for (const std::uint32_t axis : axes_)
    here[axis] = {0, true};
  bool is_first = true;
  const auto add = [&](Act act, const Leg& leg, const Mark& from, const Mark& to) {
    Run run{act, leg.axis, leg.sign, here, here};
    run.first[leg.axis] = leg.sign > 0 ? from : to;
    run.last[leg.axis] = leg.sign > 0 ? to : from;
    runs[run].push_back(root);
  };
  for (const Leg& leg : way) {
    const auto place = [&](const Mark& mark) {
      return mark.at + (mark.from_root ? at(root)[leg.axis] : 0);
    };
    const Mark from = here[leg.axis];
    const std::int32_t hops = on(leg.axis, leg.sign * (place(leg.to) - place(from)));
    const bool is_last = &leg == &way.back();
    if (is_first) add(Act::kRootSends, leg, from, from);
    if (!is_first || hops > 1) {
      add(Act::kRelaySends, leg, is_first ? from.plus(leg.sign) : from, leg.to.plus(-leg.sign));
    }
    if (!is_last || hops > 1) {
      add(Act::kRelayReceives, leg, from.plus(leg.sign), is_last ? leg.to.plus(-leg.sign) : leg.to);
    }
    if (is_last) add(Act::kHubReceives, leg, leg.to, leg.to);
    here[leg.axis] = leg.to;
    is_first = false;
  }
}

/// The branches of a hub's tree, those with the most nodes first.
std::vector<HubTrees::Branch> HubTrees::branchesOf(const Hub& hub) const {
  const std::vector<std::uint32_t> distance = graph_.distancesFrom(hub.node);
  // The arc from a node's parent: the last hops are along the hub's axis, those before along the
  // axis below.
  const auto rank = [&](std::uint32_t arc) {
    const LiveArc& it = graph_.arc(arc);
    return std::pair((hub.axis + topology_.axis_count - it.axis) % topology_.axis_count,
                     it.sign != hub.sign);
  };
  Nodes order(graph_.nodes());
  std::iota(order.begin(), order.end(), 0);
  llvm::stable_sort(order,
                    [&](std::uint32_t a, std::uint32_t b) { return distance[a] > distance[b]; });
  std::vector<Nodes> below(graph_.nodes());
  // By size of the subtree, axis, sign, and place of each member relative to the child.
  std::map<std::tuple<std::int64_t, std::uint32_t, int, Nodes>, Branch> alike;
  for (const std::uint32_t node : llvm::ArrayRef(order).drop_back()) {
    Nodes members = std::move(below[node]), shape;
    members.push_back(node);
    std::uint32_t best = kNone;
    for (const std::uint32_t leaving : graph_.arcsFrom(node)) {
      const std::uint32_t arc = LiveGraph::reverse(leaving);
      if (distance[graph_.arc(arc).from] + 1 != distance[node]) continue;
      if (best == kNone || rank(arc) < rank(best)) best = arc;
    }
    const LiveArc& arc = graph_.arc(best);
    for (const std::uint32_t member : members) {
      std::uint32_t& place = shape.emplace_back(0);
      for (const std::uint32_t axis : axes_)
        place = place * topology_.axes[axis].size +
                static_cast<std::uint32_t>(on(axis, at(member)[axis] - at(node)[axis]));
    }
    llvm::sort(shape);
    const auto size = static_cast<std::int64_t>(members.size());
    Branch& branch = alike[{-size, arc.axis, arc.sign, std::move(shape)}];
    branch.axis = arc.axis;
    branch.sign = arc.sign;
    branch.children.push_back(node);
    if (branch.subtree.empty()) branch.subtree = members;
    llvm::append_range(below[arc.from], members);
  }
  std::vector<Branch> branches;
  for (auto& [key, branch] : alike)
    branches.push_back(std::move(branch));
  return branches;
}

/// The nodes of a run, for some roots.
Box HubTrees::guardOf(const Run& run, const Box& roots) const {
  Box guard;
  for (const std::uint32_t axis : axes_) {
    const Mark &first = run.first[axis], &last = run.last[axis];
    const bool for_all = roots[axis].kind == IntervalKind::kAll;
    const std::int32_t length =
        for_all ? size(axis) : static_cast<std::int32_t>(roots[axis].length);
    const RootSpan span{first.from_root,
                        last.from_root,
                        static_cast<std::int16_t>(on(axis, first.at)),
                        static_cast<std::int16_t>(on(axis, last.at)),
                        static_cast<std::uint16_t>(roots[axis].start),
                        static_cast<std::uint16_t>(on(axis, roots[axis].start + length - 1))};
    guard[axis] = Interval::forRoots(span);
  }
  return guard;
}

Region HubTrees::region(Buffer buffer, llvm::ArrayRef<Box> blocks, std::uint32_t frame) {
  llvm::SmallVector<Piece, 4> pieces;
  for (const Box& box : blocks)
    pieces.push_back({part_, 1, builder_.box(box)});
  return builder_.region(buffer, pieces, frame);
}

/// The steps between all roots and a hub. A scatter adds those that bring the part to `at_hub`; a
/// gather's wait for these.
void HubTrees::addWays(std::uint32_t part, const std::map<Run, Nodes>& runs,
                       OperationIndices& at_hub) {
  const Region at_root = region(is_scatter_ ? Buffer::kIn : Buffer::kOut, {Box{}});
  const Region held = region(Buffer::kScratch, {Box{}}, frame_);
  const Region passing =
      region(Buffer::kScratch, {Box{}},
             builder_.addFrame({{part, 1, builder_.box({})}}, builder_.schedule().slot_count));
  stream_ = builder_.addStream({part, 0});
  OperationIndices ready;  // receives of nodes between
  const auto add = [&](Act act, const Region& region, OperationIndices& after, bool in_turn) {
    for (const auto& [run, roots] : runs) {
      if (run.act != act) continue;
      for (const Box& box : boxes_.cover(roots)) {
        const std::uint32_t made = message(act == Act::kRootSends || act == Act::kRelaySends,
                                           guardOf(run, box), region, run.axis, run.sign, after);
        if (in_turn) after = {made};
        // The own block comes back to the root, and in place it lies among the data sent.
        if (act == Act::kRootSends && is_scatter_) at_hub.push_back(made);
      }
    }
  };
  OperationIndices before_root;
  if (!is_scatter_) before_root = {own_copy_};
  add(is_scatter_ ? Act::kRelayReceives : Act::kRelaySends, passing, ready, true);
  add(is_scatter_ ? Act::kRelaySends : Act::kRelayReceives, passing, ready, false);
  add(Act::kHubReceives, held, at_hub, is_scatter_);
  add(Act::kRootSends, at_root, before_root, false);
  Run own;
  for (const std::uint32_t axis : axes_)
    own.first[axis] = own.last[axis] = {0, true};
  const ir::StepPlace place{stream_,
                            builder_.box(guardOf(own, boxOf(topology_, hubs_[part].node)))};
  if (is_scatter_) {
    at_hub.push_back(builder_.copy(place, held, at_root, at_hub));
  } else {
    builder_.copy(place, at_root, held, at_hub);
  }
}

/// The steps of a hub's tree: a scatter's wait for `at_hub`; a gather adds the last ones to it.
void HubTrees::addTree(std::uint32_t part, OperationIndices& at_hub) {
  Box own;
  for (const std::uint32_t axis : axes_)
    own[axis] = Interval::relative(0);
  const Region mine = region(is_scatter_ ? Buffer::kOut : Buffer::kIn, {own});
  const Region held = region(Buffer::kScratch, {own}, frame_);
  stream_ = builder_.addStream({part, 0});
  const std::vector<Branch> branches = branchesOf(hubs_[part]);
  const auto add = [&](const Branch& branch, bool sends, const OperationIndices& after) {
    llvm::SmallVector<Box, 1> blocks = boxes_.cover(branch.subtree);
    for (Box& box : blocks) {
      for (const std::uint32_t axis : axes_) {
        if (box[axis].kind == IntervalKind::kAll) continue;
        const std::int32_t child = at(branch.children.front())[axis];
        const std::int32_t hop = sends && axis == branch.axis ? branch.sign : 0;
        box[axis] = Interval::relative(on(axis, box[axis].start - child) + hop, box[axis].length);
      }
    }
    const Region moved = region(Buffer::kScratch, blocks, frame_);
    OperationIndices made = after;
    for (const Box& children : boxes_.cover(branch.children)) {
      const bool in_turn = sends != is_scatter_;  // receives
      const std::uint32_t around = topology_.axes[branch.axis].size;
      const std::uint32_t step =
          message(sends, sends ? movedBack(children, branch.axis, branch.sign, around) : children,
                  moved, branch.axis, branch.sign, in_turn ? made : after);
      if (in_turn) made = {step};
    }
    return made;
  };
  if (is_scatter_) {
    for (const Branch& branch : branches) {
      add(branch, true, at_hub);
      at_hub = add(branch, false, at_hub);
    }
    builder_.copy({stream_, kNone}, mine, held, at_hub);
    return;
  }
  std::map<std::pair<std::uint32_t, int>, OperationIndices> received;  // by direction
  own_copy_ = builder_.copy({stream_, kNone}, held, mine, {});
  received[{kNone, 0}] = {own_copy_};
  for (const Branch& branch : llvm::reverse(branches)) {
    OperationIndices ready;
    for (const auto& [direction, last] : received)
      ready.append(last);
    add(branch, false, ready);
    OperationIndices& last = received[{branch.axis, branch.sign}];
    last = add(branch, true, last);
  }
  for (const auto& [direction, last] : received)
    at_hub.append(last);
}

Schedule HubTrees::run() {
  std::vector<std::map<Run, Nodes>> runs(hubs_.size());
  for (std::uint32_t root = 0; root < graph_.nodes(); ++root) {
    const std::vector<Legs> ways = waysFrom(root);
    for (std::size_t part = 0; part < hubs_.size(); ++part)
      addRuns(root, ways[part], runs[part]);
  }
  for (std::uint32_t part = 0; part < hubs_.size(); ++part) {
    part_ = part;
    frame_ = builder_.addFrame({{part, 1, builder_.box({})}}, builder_.schedule().slot_count);
    OperationIndices at_hub;
    if (!is_scatter_) addTree(part, at_hub);
    addWays(part, runs[part], at_hub);
    if (is_scatter_) addTree(part, at_hub);
  }
  return builder_.take();
}

}  // namespace

llvm::Expected<ir::Program> lowerHubTrees(const CollectiveSpec& spec) {
  if (!suitsClosedTrees(spec.topology) || !RootGuards::suit(spec.topology)) {
    return makeError("hub-trees: they need a ring along every axis, and something dead");
  }
  ir::Program program;
  program.schedule = HubTrees(spec).run();
  return program;
}

TreePipeline hubTreesPipeline(const Topology& topology) {
  TreePipeline pipeline = rectangularPipeline(topology);
  for (std::uint32_t i = 0; i < topology.axis_count; ++i)
    pipeline.hops += topology.axes[i].size / 2;
  pipeline.messages = 2;
  return pipeline;
}

ProgramSize estimateHubTrees(const CollectiveSpec& spec) {
  return treesSize(spec, 2.0 * spec.topology.axis_count, 0);
}

}  // namespace torc::compiler
