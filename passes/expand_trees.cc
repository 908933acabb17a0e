// Turns a plan into steps: the tree broadcasts and tree reductions of every color, along one axis
// after another. A broadcast goes from the nodes that have the data both ways along the axis; a
// reduction is its mirror image: sums go both ways towards the root's coordinate, to the nodes that
// a broadcast along the axes left would start from. passes/trees/tree_arms.h says who is on the
// way.
//
// The root is that of the call, or the node at coordinate 0 of every axis in a collective that has
// none: an allreduce as a reduction to that node and a broadcast from it. A reduce ends at its
// root.
//
// Streams. For each part one of the root's copy from `in` to `out`, where the plan begins with the
// root's data, and one for each arm of each tree.
//
// Where sums grow. In `out`: out = in + received where a node has added nothing so far, out = out +
// received from then on. What is received has a frame, one for each arm. Where there is something
// to wait for besides the message, receive and reduction are two operations, so that the sender
// need not wait for it too.
//
// In a reduce only the root has `out`: there the sums of a part grow in a frame, and those of the
// last tree in the root's `out`. Nothing is copied on rings. On a line only the call tells who is
// at an end and has nothing to add, so all nodes of it begin with a copy, and the root may end with
// one.
//
// Order. A node passes on what it has when it has it all: a broadcast's send waits for whatever
// brings its node the data (the root's, or a receive), a reduction's for all sums of its node so
// far. A broadcast's receive overwrites the sum that its node has sent on, and waits for that. A
// phase barrier ends a phase; the order is that of the data with it and without.
#include "passes/expand_trees.h"

#include <vector>

#include "ir/make_error.h"
#include "ir/step_builder.h"
#include "passes/analysis/limits.h"
#include "passes/analysis/plan_axes.h"
#include "passes/analysis/plan_expander.h"
#include "passes/trees/tree_arms.h"

namespace torc::passes {
namespace {

/// A part, and how far its trees have come.
struct PartProgress {
  std::uint32_t part = 0;
  std::uint32_t color = 0;
  std::uint32_t reduced = 0, reached = 0;  // axes along which a tree has gone, a bit each
  /// The nodes that have the data, or all sums that there are.
  Box holders;
  ir::OperationIndices has_data;  // whichever of them a node executes brought it that
  ir::OperationIndices sent;      // whichever of them a node executes has sent its sum on
  Region sums;                    // where nodes but the root have theirs
  bool has_sums = false;          // not just the own data
  bool is_done = false;           // the root's `out` has the sum
};

class TreeExpansion {
 public:
  explicit TreeExpansion(const ir::Program& program)
      : program_(program),
        plan_(program.schedule.view()),
        row_(rowOf(program.schedule.collective)),
        topology_(program.schedule.topology),
        builder_(program.schedule) {}

  llvm::Expected<Schedule> run();

 private:
  void makeParts();
  llvm::Error expandPhase(llvm::ArrayRef<ir::PlanOperation> trees);
  llvm::Error check(const ir::PlanOperation& tree, const PartProgress& part) const;
  llvm::Error checkDone(const PartProgress& part) const;
  llvm::Error checkSize(const PartProgress& part);
  void broadcast(PartProgress& part, std::uint32_t axis);
  void reduce(PartProgress& part, std::uint32_t axis);
  void reduceOnLine(PartProgress& part, std::uint32_t axis);

  /// A step of a sum.
  struct Addition {
    Region sum, before;  // sum = before + what is received
    Region staging;      // into which that is received
  };
  std::uint32_t add(const ir::StepPlace& place, const Addition& what, const Shift& moves,
                    const ir::OperationIndices& after);
  Region newFrame(const PartProgress& part);

  std::uint32_t all() { return builder_.box(Box{}); }
  Region data(Buffer buffer, const PartProgress& part) {
    return builder_.region(buffer, {{part.part, 1, all()}});
  }
  /// The nodes of `box` at `along` on `axis`, in this stream.
  ir::StepPlace place(std::uint32_t stream, Box box, std::uint32_t axis, const Interval& along) {
    box[axis] = along;
    return {stream, guard(box)};
  }
  std::uint32_t guard(const Box& box) { return box == Box{} ? kNone : builder_.box(box); }
  Box rootBox() const {
    Box root;
    for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis)
      root[axis] = rootCoordinate(plan_, axis);
    return root;
  }
  /// Whether sums end at a root that alone has `out`.
  bool endsAtRoot() const { return row_.reduces() && row_.isRooted(); }
  bool isRoot(const Box& nodes) const { return nodes == rootBox(); }
  bool isMoving(std::uint32_t axis) const { return topology_.axes[axis].size > 1; }
  /// The first axis of more than one node that is not among `axes`; kNone: there is none.
  std::uint32_t axisOutside(std::uint32_t axes) const;

  const ir::Program& program_;
  const ScheduleView plan_;
  const CollectiveRow& row_;
  const Topology& topology_;
  ir::StepBuilder builder_;
  std::vector<PartProgress> parts_;
  std::uint32_t phases_ = 0;  // so far
};

llvm::Expected<Schedule> TreeExpansion::run() {
  makeParts();
  llvm::Expected<std::vector<PlanPhase>> phases = phasesOf(program_);
  if (!phases) return phases.takeError();
  for (const PlanPhase& trees : *phases) {
    if (llvm::Error error = expandPhase(trees)) return error;
  }
  for (const PartProgress& part : parts_) {
    if (llvm::Error error = checkDone(part)) return error;
  }
  return builder_.take();
}

/// All nodes hold what is to be summed; or the root the result, where there is nothing to sum up.
void TreeExpansion::makeParts() {
  const std::uint32_t count = plan_.partCount();
  const bool one_node = axisOutside(0) == kNone;
  for (std::uint32_t index = 0; index < count; ++index) {
    PartProgress part;
    part.part = index;
    part.color = plan_.partIndex(index).color;
    if (!row_.reduces()) part.holders = rootBox();
    if (!row_.reduces() || one_node) {
      const ir::StepPlace place{builder_.addStream({index, 0}), guard(part.holders)};
      part.has_data = {builder_.copy(place, data(Buffer::kOut, part), data(Buffer::kIn, part), {})};
      part.is_done = true;
    }
    part.sums = data(Buffer::kOut, part);
    if (endsAtRoot() && !one_node) part.sums = newFrame(part);
    parts_.push_back(std::move(part));
  }
}

/// Expands the trees of one phase, part by part.
llvm::Error TreeExpansion::expandPhase(llvm::ArrayRef<ir::PlanOperation> trees) {
  builder_.setPhase(phases_++);
  for (PartProgress& part : parts_) {
    for (const ir::PlanOperation& tree : trees) {
      if (tree.color != part.color) continue;
      if (llvm::Error error = check(tree, part)) return error;
      if (llvm::Error error = checkSize(part)) return error;
      if (tree.kind == ir::PlanKind::kTreeReduce) {
        reduce(part, tree.axis);
      } else {
        broadcast(part, tree.axis);
      }
    }
  }
  return llvm::Error::success();
}

llvm::Error TreeExpansion::check(const ir::PlanOperation& tree, const PartProgress& part) const {
  std::string fault;
  if (tree.kind == ir::PlanKind::kTreeReduce) {
    if (part.reduced >> tree.axis & 1) fault = "it has been reduced there before";
    if (part.reached != 0) fault = "its sums have been broadcast before";
    if (!row_.reduces()) fault = "the collective reduces nothing";
  } else if (endsAtRoot()) {
    fault = "the sum stays at the root";
  } else {
    if (part.reached >> tree.axis & 1) fault = "it has been broadcast there before";
    if (const std::uint32_t axis = axisOutside(part.reduced); row_.reduces() && axis != kNone) {
      fault = std::string("it is not reduced on ") + topology_.axes[axis].name + " yet";
    }
  }
  if (fault.empty()) return llvm::Error::success();
  return makeError(operationText(topology_, tree) + ": " + fault);
}

llvm::Error TreeExpansion::checkDone(const PartProgress& part) const {
  const std::uint32_t axis = axisOutside(endsAtRoot() ? part.reduced : part.reached);
  if (axis == kNone) return llvm::Error::success();
  return makeError("the plan ends before color " + llvm::Twine(part.color) + " is " +
                   (endsAtRoot() ? "reduced" : "broadcast") + " on " +
                   llvm::Twine(topology_.axes[axis].name));
}

llvm::Error TreeExpansion::checkSize(const PartProgress& part) {
  // A tree has two arms of up to five operations, which may wait for all of these, or of four and
  // two copies.
  const Schedule& schedule = builder_.schedule();
  const std::uint64_t waits = part.has_data.size() + part.sent.size() + 4;
  return checkLimits(schedule.operations.size() + 10, schedule.dependences.size() + 10 * waits);
}

std::uint32_t TreeExpansion::axisOutside(std::uint32_t axes) const {
  for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
    if (isMoving(axis) && (axes >> axis & 1) == 0) return axis;
  }
  return kNone;
}

/// Brings the data from those that have it to all that differ from them on `axis` alone.
void TreeExpansion::broadcast(PartProgress& part, std::uint32_t axis) {
  const Region out = data(Buffer::kOut, part);
  ir::OperationIndices received;
  for (const TreeArm& arm : treeArms(plan_, axis)) {
    const std::uint32_t stream = builder_.addStream({part.part, 0});
    const Shift moves = ir::hop(axis, arm.sign);
    received.push_back(
        builder_.receive(place(stream, part.holders, axis, arm.fed), out, moves, part.sent));
    ir::OperationIndices after = part.has_data;
    after.push_back(received.back());
    builder_.send(place(stream, part.holders, axis, arm.feeding), out, moves, after);
  }
  part.has_data.append(received.begin(), received.end());
  part.holders[axis] = Interval::all();
  part.reached |= 1u << axis;
}

/// Brings the sums of those that have some to the ones among them at the root's coordinate.
void TreeExpansion::reduce(PartProgress& part, std::uint32_t axis) {
  const Interval root = rootCoordinate(plan_, axis);
  if (root == Interval::root()) {
    reduceOnLine(part, axis);
  } else {
    // In the first tree of all nobody has more than the own data.
    const Region before = part.has_sums ? part.sums : data(Buffer::kIn, part);
    Box nearest = part.holders;
    nearest[axis] = root;
    const Region out = data(Buffer::kOut, part);
    part.is_done = endsAtRoot() && isRoot(nearest);
    const Region at_root = part.is_done ? out : part.sums;
    ir::OperationIndices added = part.has_data;
    Region so_far = before;
    for (const TreeArm& arm : treeArms(plan_, axis)) {
      const std::uint32_t stream = builder_.addStream({part.part, 0});
      const Shift moves = ir::hop(axis, -arm.sign);
      const Region staging = newFrame(part);
      const ir::StepPlace last = place(stream, part.holders, axis, arm.last);
      part.sent.push_back(builder_.send(last, before, moves, part.has_data));
      if (arm.has_passing) {
        const ir::StepPlace passing = place(stream, part.holders, axis, arm.passing);
        const std::uint32_t sum = add(passing, {part.sums, before, staging}, moves, part.has_data);
        part.sent.push_back(builder_.send(passing, part.sums, moves, {sum}));
      }
      added = {add({stream, guard(nearest)}, {at_root, so_far, staging}, moves, added)};
      so_far = at_root;
    }
    part.has_data = added;
  }
  part.has_sums = true;
  part.holders[axis] = root;
  part.reduced |= 1u << axis;
  if (part.is_done || !endsAtRoot() || !isRoot(part.holders)) return;
  const ir::StepPlace place{builder_.addStream({part.part, 0}), guard(part.holders)};
  builder_.copy(place, data(Buffer::kOut, part), part.sums, part.has_data);
  part.is_done = true;
}

/// The same where any coordinate may be the root's: every node has a sum to which it adds, and what
/// nobody sends nobody receives.
void TreeExpansion::reduceOnLine(PartProgress& part, std::uint32_t axis) {
  if (!part.has_sums) {
    const ir::StepPlace place{builder_.addStream({part.part, 0}), guard(part.holders)};
    part.has_data.push_back(builder_.copy(place, part.sums, data(Buffer::kIn, part), {}));
  }
  ir::OperationIndices added = part.has_data;
  for (const TreeArm& arm : treeArms(plan_, axis)) {
    const std::uint32_t stream = builder_.addStream({part.part, 0});
    const Shift moves = ir::hop(axis, -arm.sign);
    const ir::StepPlace fed = place(stream, part.holders, axis, arm.feeding);
    added.push_back(add(fed, {part.sums, part.sums, newFrame(part)}, moves, added));
    builder_.send(place(stream, part.holders, axis, arm.fed), part.sums, moves, added);
  }
  part.has_data = added;
}

/// A frame of all blocks of a part, alone in its slot.
Region TreeExpansion::newFrame(const PartProgress& part) {
  const auto slot = static_cast<std::uint32_t>(builder_.schedule().frames.size());
  const std::uint32_t frame = builder_.addFrame({{part.part, 1, all()}}, slot);
  return wholeFrame(builder_.schedule().frames[frame], frame);
}

/// The index of the addition.
std::uint32_t TreeExpansion::add(const ir::StepPlace& place, const Addition& what,
                                 const Shift& moves, const ir::OperationIndices& after) {
  if (after.empty()) {
    return builder_.receiveAndReduce(place, what.sum, what.before, what.staging, moves, after);
  }
  ir::OperationIndices both = after;
  both.push_back(builder_.receive(place, what.staging, moves, {}));
  return builder_.reduce(place, what.sum, what.before, what.staging, both);
}

class ExpandTrees final : public PlanExpander {
 public:
  ExpandTrees()
      : PlanExpander("expand-trees", "turns tree broadcasts and reductions into step operations") {}

 private:
  llvm::Error checkServes(const ir::Program& program) const override {
    const CollectiveRow& row = rowOf(program.schedule.collective);
    const bool whole = row.inWhole() && row.outWhole();
    if (row.blocks != BlockSpace::kNode || !whole || !(row.isRooted() || row.reduces())) {
      return makeError(
          "trees serve collectives that give every node the whole of what one node "
          "has, or that or the root the whole of a sum; " +
          llvm::Twine(row.name) + " does not");
    }
    if (program.schedule.topology.isDamaged()) return makeError("trees cannot go round damage");
    return llvm::Error::success();
  }
  llvm::Expected<Schedule> expand(const ir::Program& program) const override {
    return TreeExpansion(program).run();
  }
};

}  // namespace

std::unique_ptr<Pass> makePass(const ExpandTreesPass&) {
  return std::make_unique<ExpandTrees>();
}

}  // namespace torc::passes
