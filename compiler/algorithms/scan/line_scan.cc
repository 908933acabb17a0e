// Axes are visited in rank order: a line of the first axis is consecutive ranks, its lines along
// the second axis are consecutive too, and so on.
//
// Up. Along an axis, node x receives the sum of all lower nodes on its line (its `below`), adds its
// own value and sends the sum to x + 1. On the first axis the value is the node's contribution; the
// last node of a line then has the line's total, its value on the next axis. There only the last
// nodes of lines take part, and on the axis after that only the last ones of planes.
//
// Down. The prefix of a line on an axis is, at the line's last node, its own `below` on the next
// axis combined with the prefix there. It goes down the line, and every node prepends it to its
// `below` on this axis. After the first axis this is the exscan of the node; with its own
// contribution it is the scan. `out` has the first axis's part of it from the start. The first line
// of all has no prefix: nothing goes down there.
//
// In S segments a vector of n bytes takes
//   (U + D - 1 + S) (alpha + n beta / S),   U = sum of d_i - 1,  D = U without the last axis
// if the window of segments with scratch is large enough for a node's lower sums to wait for the
// prefix. All sums cover consecutive ranks, the lower ones first.
//
// Damage. A line consists of its live nodes, and ends with its last live node. If two consecutive
// nodes then are no neighbours, or the link between them is dead, data between them goes from node
// to node on a shortest path.
//
// Boxes cover nodes with equal operations, and each box is one operation.
#include "compiler/algorithms/scan/line_scan.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>

#include "compiler/algorithms/damage/live_graph.h"
#include "compiler/algorithms/damage/node_boxes.h"
#include "ir/step_builder.h"
#include "passes/analysis/exact_dependences.h"

namespace torc::compiler {
namespace {

using Nodes = std::vector<std::uint32_t>;  // ranks

/// Axes of more than one node, in rank order.
llvm::SmallVector<std::uint32_t, kMaxAxes> longAxesByRank(const Topology& topology) {
  llvm::SmallVector<std::uint32_t, kMaxAxes> axes;
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    if (topology.axes[topology.order[i]].size > 1) axes.push_back(topology.order[i]);
  }
  return axes;
}

/// The nodes of some lines, by their places there.
struct Places {
  explicit Places(llvm::ArrayRef<Nodes> lines) {
    for (const Nodes& line : lines) {
      (line.size() == 1 ? only : first).push_back(line.front());
      if (line.size() == 1) continue;
      middle.insert(middle.end(), line.begin() + 1, line.end() - 1);
      last.push_back(line.back());
    }
    behind = middle;
    behind.insert(behind.end(), last.begin(), last.end());
  }
  Nodes only, first, middle, last;
  Nodes behind;  // the nodes after the first place
};

class LineScan {
 public:
  explicit LineScan(const CollectiveSpec& spec)
      : topology_(spec.topology),
        includes_own_(rowOf(spec.collective).includesOwn()),
        axes_(longAxesByRank(topology_)),
        boxes_(topology_),
        graph_(topology_),
        builder_(ir::scheduleHeader(spec.collective, topology_, 1)),
        in_(whole(Buffer::kIn)),
        out_(whole(Buffer::kOut)),
        levels_(axes_.size()) {}

  Schedule run() {
    if (axes_.empty() && includes_own_) {
      builder_.copy({builder_.addStream({0, 0}), kNone}, out_, in_, {});
    }
    findLines();
    for (std::uint32_t level = 0; level < axes_.size(); ++level)
      up(level);
    for (std::uint32_t level = axes_.empty() ? 0 : axes_.size() - 1; level-- > 0;)
      down(level);
    Schedule schedule = builder_.take();
    schedule.flags |= kOrderedSums;
    return schedule;
  }

 private:
  /// One axis. The participants are the last nodes of their lines on the previous axes.
  struct Level {
    std::vector<Nodes> lines;  // by rank
    Region value;              // a node's contribution to the axis
    Region below;              // the sum of lower nodes: on its line, later on higher axes too
    Region sum;                // of `value` and `below`
  };
  /// Messages from each node of some lines to the next one, or to the previous one.
  struct Messages {
    std::uint32_t stream = 0;
    Shift moves{};
    struct Way {
      std::uint32_t stream = 0;
      std::vector<const LiveArc*> arcs;
    };
    std::vector<Way> ways;  // paths between consecutive nodes that are no neighbours
  };

  void findLines();
  void up(std::uint32_t level);
  void down(std::uint32_t level);
  Messages messages(std::uint32_t level, llvm::ArrayRef<Nodes> lines, int sign);
  std::vector<const LiveArc*> wayBetween(std::uint32_t from, std::uint32_t to) const;
  void send(const Messages& messages, Nodes from, const Region& what);
  void receive(const Messages& messages, Nodes at, const Region& into);

  void reduce(const Messages& beside, const Nodes& at, const Region& dst, const Region& before,
              const Region& behind) {
    for (const Box& box : boxes_.cover(at))
      builder_.reduce({beside.stream, builder_.box(box)}, dst, before, behind, {});
  }
  void copy(const Messages& beside, const Nodes& at, const Region& dst, const Region& a) {
    for (const Box& box : boxes_.cover(at))
      builder_.copy({beside.stream, builder_.box(box)}, dst, a, {});
  }
  Region whole(Buffer buffer) { return builder_.region(buffer, {{0, 1, builder_.box({})}}); }
  Region newFrame() {
    const std::uint32_t frame = builder_.addFrame({{0, 1, builder_.box({})}}, slots_++);
    return wholeFrame(builder_.schedule().frames[frame], frame);
  }

  const Topology& topology_;
  const bool includes_own_;
  const llvm::SmallVector<std::uint32_t, kMaxAxes> axes_;
  const NodeBoxes boxes_;
  const LiveGraph graph_;
  ir::StepBuilder builder_;
  const Region in_, out_;
  std::vector<Level> levels_;
  std::uint32_t slots_ = 0;
};

void LineScan::findLines() {
  Nodes members(topology_.ranks());
  std::iota(members.begin(), members.end(), 0);
  for (std::uint32_t level = 0; level < axes_.size(); ++level) {
    std::vector<Nodes>& lines = levels_[level].lines;
    Coordinates before{};
    Nodes ends;
    for (const std::uint32_t node : members) {
      const Coordinates at = topology_.coordinatesOf(static_cast<std::int32_t>(node));
      const bool goes_on =
          !lines.empty() &&
          llvm::all_of(llvm::ArrayRef(axes_).drop_front(level + 1),
                       [&](std::uint32_t axis) { return at[axis] == before[axis]; });
      if (!goes_on) lines.emplace_back();
      lines.back().push_back(node);
      before = at;
    }
    for (const Nodes& line : lines)
      ends.push_back(line.back());
    members = std::move(ends);
  }
}

void LineScan::up(std::uint32_t level) {
  builder_.setPhase(level);
  Level& here = levels_[level];
  const bool is_first = level == 0, is_last = level + 1 == axes_.size();
  here.value = is_first ? in_ : levels_[level - 1].sum;
  // In an exscan the node's `below` need not wait in scratch: the result begins with it.
  const bool begins_result = is_first && !includes_own_;
  const Region received = newFrame();
  here.below = begins_result ? out_ : received;
  here.sum = is_first && includes_own_ ? out_ : newFrame();
  const Places places(here.lines);
  const Messages upwards = messages(level, here.lines, 1);
  // The last node of all needs its sum only in a scan.
  const bool sums_at_end = !is_last || (is_first && includes_own_);
  receive(upwards, places.behind, received);
  reduce(upwards, sums_at_end ? places.behind : places.middle, here.sum, received, here.value);
  if (sums_at_end) copy(upwards, places.only, here.sum, here.value);
  send(upwards, places.first, here.value);
  send(upwards, places.middle, here.sum);
  // The first node of all has no prefix.
  if (is_first && includes_own_ && here.lines.front().size() > 1) copy(upwards, {0}, out_, in_);
  if (begins_result) copy(upwards, places.behind, out_, received);
}

/// Sends the prefix of each line of a level, except the first, down the line.
void LineScan::down(std::uint32_t level) {
  builder_.setPhase(2 * static_cast<std::uint32_t>(axes_.size()) - 2 - level);
  const Level &here = levels_[level], &above = levels_[level + 1];
  const llvm::ArrayRef<Nodes> lines = llvm::ArrayRef(here.lines).drop_front();
  const Places places(lines);
  const Messages downwards = messages(level, lines, -1);
  // The first node of a line has no `below` on it: the received prefix is its `below`, or its
  // result.
  Region at_first = level > 0 ? here.below : out_;
  if (level == 0 && includes_own_) at_first = above.below;
  receive(downwards, places.first, at_first);
  receive(downwards, places.middle, above.below);
  send(downwards, places.behind, above.below);
  // Prepends the prefix to the node's `below` on the line.
  const Region& prefix = level > 0 ? here.below : out_;
  reduce(downwards, places.behind, prefix, above.below, prefix);
  if (level == 0 && includes_own_) {
    Nodes alone = places.first;
    alone.insert(alone.end(), places.only.begin(), places.only.end());
    reduce(downwards, alone, out_, above.below, in_);
  } else {
    copy(downwards, places.only, prefix, above.below);
  }
}

LineScan::Messages LineScan::messages(std::uint32_t level, llvm::ArrayRef<Nodes> lines, int sign) {
  Messages result;
  result.stream = builder_.addStream({0, 0});
  result.moves = ir::hop(axes_[level], sign);
  for (const Nodes& line : lines) {
    for (std::size_t i = 1; i < line.size(); ++i) {
      const std::uint32_t from = line[sign > 0 ? i - 1 : i], to = line[sign > 0 ? i : i - 1];
      const bool are_neighbours = llvm::any_of(graph_.arcsFrom(from), [&](std::uint32_t number) {
        const LiveArc& arc = graph_.arc(number);
        return arc.to == to && arc.axis == axes_[level] && arc.sign == sign;
      });
      if (!are_neighbours)
        result.ways.push_back({builder_.addStream({0, 0}), wayBetween(from, to)});
    }
  }
  return result;
}

std::vector<const LiveArc*> LineScan::wayBetween(std::uint32_t from, std::uint32_t to) const {
  const std::vector<std::uint32_t> distance = graph_.distancesFrom(to);
  std::vector<const LiveArc*> way;
  while (from != to) {
    const std::uint32_t next = *llvm::find_if(graph_.arcsFrom(from), [&](std::uint32_t arc) {
      return distance[graph_.arc(arc).to] < distance[from];
    });
    way.push_back(&graph_.arc(next));
    from = graph_.arc(next).to;
  }
  return way;
}

void LineScan::send(const Messages& messages, Nodes from, const Region& what) {
  for (const Messages::Way& way : messages.ways) {
    const auto place = llvm::find(from, way.arcs.front()->from);
    if (place == from.end()) continue;
    from.erase(place);
    Region held = what;
    for (const LiveArc* const arc : way.arcs) {
      const Shift moves = ir::hop(arc->axis, arc->sign);
      builder_.send({way.stream, builder_.box(boxOf(topology_, arc->from))}, held, moves, {});
      if (arc == way.arcs.back()) break;
      held = newFrame();
      builder_.receive({way.stream, builder_.box(boxOf(topology_, arc->to))}, held, moves, {});
    }
  }
  for (const Box& box : boxes_.cover(from))
    builder_.send({messages.stream, builder_.box(box)}, what, messages.moves, {});
}

void LineScan::receive(const Messages& messages, Nodes at, const Region& into) {
  for (const Messages::Way& way : messages.ways) {
    const LiveArc& last = *way.arcs.back();
    const auto place = llvm::find(at, last.to);
    if (place == at.end()) continue;
    at.erase(place);
    builder_.receive({way.stream, builder_.box(boxOf(topology_, last.to))}, into,
                     ir::hop(last.axis, last.sign), {});
  }
  for (const Box& box : boxes_.cover(at))
    builder_.receive({messages.stream, builder_.box(box)}, into, messages.moves, {});
}

}  // namespace

llvm::Expected<ir::Program> lowerLineScan(const CollectiveSpec& spec) {
  llvm::Expected<Schedule> schedule = passes::withDependences(LineScan(spec).run());
  if (!schedule) return schedule.takeError();
  ir::Program program;
  program.schedule = std::move(*schedule);
  return program;
}

TreePipeline lineScanPipeline(const Topology& topology) {
  TreePipeline pipeline{0, 1};
  double last = 0;
  for (const std::uint32_t axis : longAxesByRank(topology)) {
    last = topology.axes[axis].size - 1;
    pipeline.hops += 2 * last;
  }
  pipeline.hops -= last;
  pipeline.hops = std::max(pipeline.hops, 1.0);
  return pipeline;
}

ProgramSize estimateLineScan(const CollectiveSpec& spec) {
  return treesSize(spec, 2, 35 * std::max<double>(longAxesByRank(spec.topology).size(), 1));
}

}  // namespace torc::compiler
