// Axes are gone through in the order in which ranks are counted, so that a line of the first axis
// is consecutive ranks, its lines along the second one are consecutive too, and so on.
//
// Up. Along an axis, node x receives the sum of all below it on its line (its `below`), adds its
// own value and sends that to x + 1. On the first axis the value is what the node contributes; the
// last node of a line then has the line's total, which is its value on the next axis: there only
// the last nodes of lines take part, and on the axis after that only the last ones of planes.
//
// Down. What comes before a line of an axis is, at the line's last node, its own `below` on the
// next axis with what comes before that. It goes down the line, and every node puts it in front of
// its `below` on this axis. After the first axis that is the exscan of the node; with its own
// contribution it is the scan. `out` has the first axis's part of it from the start.
//
// The first line of all has nothing before it: where coordinates on all higher axes are 0 nothing
// goes down. Those nodes are no box; the others are one for each higher axis, by the highest
// coordinate that is not 0.
//
// In S segments a vector of n bytes takes
//   (U + D - 1 + S) (alpha + n beta / S),   U = sum of d_i - 1,  D = U without the last axis
// as long as a node's sums below may wait for what comes down, in the window of segments that it
// has scratch for. All sums are of consecutive ranks, the lower ones first.
#include "compiler/algorithms/scan/line_scan.h"

#include <algorithm>
#include <vector>

#include <llvm/ADT/SmallVector.h>

#include "ir/make_error.h"
#include "ir/step_builder.h"

namespace torc::compiler {
namespace {

using Awaited = llvm::SmallVector<std::uint32_t, 16>;

/// Axes of more than one node, in the order in which ranks are counted.
llvm::SmallVector<std::uint32_t, kMaxAxes> longAxesByRank(const Topology& topology) {
  llvm::SmallVector<std::uint32_t, kMaxAxes> axes;
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    if (topology.axes[topology.order[i]].size > 1) axes.push_back(topology.order[i]);
  }
  return axes;
}

class LineScan {
 public:
  explicit LineScan(const CollectiveSpec& spec)
      : topology_(spec.topology),
        includes_own_(rowOf(spec.collective).includesOwn()),
        axes_(longAxesByRank(topology_)),
        builder_(ir::scheduleHeader(spec.collective, topology_, 1)),
        in_(whole(Buffer::kIn)),
        out_(whole(Buffer::kOut)),
        levels_(axes_.size()) {}

  Schedule run() {
    if (axes_.empty() && includes_own_) {
      builder_.copy({builder_.addStream({0, 0}), kNone}, out_, in_, {});
    }
    for (std::uint32_t level = 0; level < axes_.size(); ++level)
      up(level);
    for (std::uint32_t level = axes_.empty() ? 0 : axes_.size() - 1; level-- > 0;)
      down(level);
    Schedule schedule = builder_.take();
    schedule.flags |= kOrderedSums;
    return schedule;
  }

 private:
  /// One axis. A node that takes part in it is the last one on all axes before.
  struct Level {
    Region value;       // what a node adds
    Region below;       // what comes before the node: on its line, then on higher axes too
    Region sum;         // both
    Awaited has_value;  // whichever of them a node executes brought it that
    Awaited has_below;  // likewise
    Awaited reads;      // of `value` and `sum`, and of `below` as it came up
  };

  void up(std::uint32_t level);
  void down(std::uint32_t level);
  void downTo(std::uint32_t level, std::uint32_t stream, const Box& lines);

  std::int32_t last(std::uint32_t level) const {
    return static_cast<std::int32_t>(topology_.axes[axes_[level]].size) - 1;
  }
  /// The nodes that take part in a level.
  Box members(std::uint32_t level) const {
    Box box;
    for (std::uint32_t i = 0; i < level; ++i)
      box[axes_[i]] = Interval::absolute(last(i));
    return box;
  }
  /// Those of `box` at first..end on the level's axis.
  ir::StepPlace at(std::uint32_t stream, Box box, std::uint32_t level, std::int32_t first,
                   std::int32_t end) {
    box[axes_[level]] = Interval::absolute(first, static_cast<std::uint32_t>(end - first + 1));
    return {stream, builder_.box(box)};
  }
  Region whole(Buffer buffer) { return builder_.region(buffer, {{0, 1, builder_.box({})}}); }
  Region newFrame() {
    const std::uint32_t frame = builder_.addFrame({{0, 1, builder_.box({})}}, slots_++);
    return wholeFrame(builder_.schedule().frames[frame], frame);
  }
  static Awaited both(const Awaited& some, const Awaited& others) {
    Awaited all = some;
    all.append(others);
    return all;
  }

  const Topology& topology_;
  const bool includes_own_;
  const llvm::SmallVector<std::uint32_t, kMaxAxes> axes_;
  ir::StepBuilder builder_;
  const Region in_, out_;
  std::vector<Level> levels_;
  std::uint32_t slots_ = 0;
};

void LineScan::up(std::uint32_t level) {
  builder_.setPhase(level);
  Level& here = levels_[level];
  const bool is_first = level == 0, is_last = level + 1 == axes_.size();
  here.value = is_first ? in_ : levels_[level - 1].sum;
  // What comes before the node in an exscan need not wait in scratch for the rest: it is where the
  // result begins.
  const bool begins_result = is_first && !includes_own_;
  const Region received_in = newFrame();
  here.below = begins_result ? out_ : received_in;
  here.sum = is_first && includes_own_ ? out_ : newFrame();
  if (!is_first) here.has_value = levels_[level - 1].has_below;
  const std::uint32_t stream = builder_.addStream({0, 0});
  const Box box = members(level);
  const Shift moves = ir::hop(axes_[level], 1);
  const std::int32_t end = last(level);
  // The last node of all needs no sum but that of a scan.
  const bool sums_at_end = !is_last || (is_first && includes_own_);
  const std::uint32_t received =
      builder_.receive(at(stream, box, level, 1, end), received_in, moves, {});
  here.has_below = {received};
  std::uint32_t summed = received;
  if (end > 1 || sums_at_end) {
    summed = builder_.reduce(at(stream, box, level, 1, sums_at_end ? end : end - 1), here.sum,
                             received_in, here.value, both(here.has_value, {received}));
    here.has_below.push_back(summed);
    here.reads.push_back(summed);
  }
  here.reads.push_back(
      builder_.send(at(stream, box, level, 0, 0), here.value, moves, here.has_value));
  if (end > 1) {
    here.reads.push_back(
        builder_.send(at(stream, box, level, 1, end - 1), here.sum, moves, {summed}));
  }
  if (is_first && includes_own_) {  // nothing comes before the first node of all
    Box first;
    for (const std::uint32_t axis : axes_)
      first[axis] = Interval::absolute(0);
    builder_.copy({stream, builder_.box(first)}, out_, in_, {});
  }
  if (!begins_result) return;
  here.has_below.push_back(builder_.copy(at(stream, box, level, 1, end), out_, received_in,
                                         both({received}, here.reads)));
}

/// To the lines of a level comes what is before them, where something is.
void LineScan::down(std::uint32_t level) {
  const auto levels = static_cast<std::uint32_t>(axes_.size());
  builder_.setPhase(2 * levels - 2 - level);
  const std::uint32_t stream = builder_.addStream({0, 0});
  Box lines = members(level);
  for (std::uint32_t highest = levels; --highest > level;) {
    lines[axes_[highest]] = Interval::absolute(1, static_cast<std::uint32_t>(last(highest)));
    downTo(level, stream, lines);
    lines[axes_[highest]] = Interval::absolute(0);
  }
}

void LineScan::downTo(std::uint32_t level, std::uint32_t stream, const Box& lines) {
  Level& here = levels_[level];
  const Level& above = levels_[level + 1];
  const Shift moves = ir::hop(axes_[level], -1);
  const std::int32_t end = last(level);
  // The first node of a line has nothing else before it: what comes is its `below`, or its result.
  Region at_first = level > 0 ? here.below : out_;
  if (level == 0 && includes_own_) at_first = above.below;
  const std::uint32_t on_first =
      builder_.receive(at(stream, lines, level, 0, 0), at_first, moves, here.reads);
  Awaited received = {on_first};
  if (end > 1) {
    received.push_back(
        builder_.receive(at(stream, lines, level, 1, end - 1), above.below, moves, {}));
  }
  const Awaited there = both(above.has_below, received);
  builder_.send(at(stream, lines, level, 1, end), above.below, moves, there);
  // In front of what is below on the line. On a line's last node the sums of the next axis have
  // read its own.
  Awaited after = both(there, both(here.has_below, here.reads));
  after.append(above.reads);
  if (level > 0) {
    const std::uint32_t sum = builder_.reduce(at(stream, lines, level, 1, end), here.below,
                                              above.below, here.below, after);
    here.has_below.push_back(on_first);
    here.has_below.push_back(sum);
    return;
  }
  builder_.reduce(at(stream, lines, 0, 1, end), out_, above.below,
                  includes_own_ ? out_ : here.below, after);
  if (includes_own_) {
    builder_.reduce(at(stream, lines, 0, 0, 0), out_, above.below, in_,
                    both({on_first}, here.reads));
  }
}

}  // namespace

llvm::Expected<ir::Program> planLineScan(const CollectiveSpec& spec) {
  if (spec.topology.isDamaged()) {
    return makeError("line-scan: the lines cannot go round damage");
  }
  ir::Program program;
  program.schedule = LineScan(spec).run();
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
