// The dimension-order tree. The root sends both ways along the first axis; every node of that line
// does the same along the second axis, and so on. A ring is halved: one way serves the nearer half,
// the other way the rest. In S chunks, one behind the other, a broadcast of n bytes takes
//   (A + S) (alpha + n beta / S),   A = sum over the axes of floor(d_i / 2), or of a line's longer
// end seen from the root, as every node receives on one link and hands on what it has received: the
// time of a message over one link, n beta, plus the way. Trees on all links are faster by up to
// their number; this is the one that costs least where messages are small or nodes have one port.
//
// Coordinates count from the root on axes that wrap, so that the steps are the same whoever it is;
// on lines the guards name the root's coordinate. For each axis there are two ways, each in a
// stream of its own: a receive on the nodes of its arm, a send on those nodes that have one behind
// them. A send waits for whatever brings its node the data: the root's copy, or a receive.
#include "compiler/algorithms/trees/dimension_tree.h"

#include "ir/step_builder.h"
#include "schedules/root.h"

namespace torc {
namespace {

/// The two ends of an arm along an axis: who receives, and who sends to the next.
struct Arm {
  int sign = 1;
  Interval receivers, senders;
};

/// The arms along an axis of `size` nodes, the root's coordinate being 0, or on a line r.
llvm::SmallVector<Arm, 2> armsOf(std::uint32_t size, bool counts_from_root) {
  if (!counts_from_root) {
    return {{1, Interval::fromRoot(1, size - 1), Interval::fromRoot(0, size - 2)},
            {-1, Interval::toRoot(0, -1), Interval::toRoot(1, 0)}};
  }
  // Up: 1 to size / 2. Down: the rest, from size - 1 on.
  const std::uint32_t up = size / 2, down = size - 1 - up;
  llvm::SmallVector<Arm, 2> arms = {{1, Interval::absolute(1, up), Interval::absolute(0, up)}};
  if (down > 0) {
    const auto first = static_cast<std::int32_t>(up + 1);
    const auto next = static_cast<std::int32_t>((up + 2) % size);
    arms.push_back({-1, Interval::absolute(first, down), Interval::absolute(next, down)});
  }
  return arms;
}

class DimensionTree {
 public:
  explicit DimensionTree(const CollectiveSpec& spec)
      : topology_(spec.topology), builder_(header(spec)) {
    for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
      at_root_[axis] = topology_.axes[axis].size == 1                     ? Interval::all()
                       : countsFromRoot(builder_.schedule().view(), axis) ? Interval::absolute(0)
                                                                          : Interval::root();
    }
  }

  Schedule take() {
    const Region out = data(Buffer::kOut);
    const std::uint32_t own = builder_.addStream({0, 0});
    has_data_ = {builder_.copy({own, guard(at_root_)}, out, data(Buffer::kIn), {})};
    std::uint32_t phase = 0;
    Box reached = at_root_;  // the nodes that have the data before a phase
    for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
      if (topology_.axes[axis].size == 1) continue;
      builder_.setPhase(phase++);
      spread(axis, reached, out);
      reached[axis] = Interval::all();
    }
    return builder_.take();
  }

 private:
  static Schedule header(const CollectiveSpec& spec) {
    Schedule schedule = scheduleHeader(spec.collective, spec.topology);
    Color color;
    color.axis_count = spec.topology.axis_count;
    for (std::uint32_t i = 0; i < color.axis_count; ++i)
      color.order[i] = static_cast<std::uint8_t>(i);
    schedule.colors = {color};
    return schedule;
  }

  Region data(Buffer buffer) { return builder_.region(buffer, {{0, 1, builder_.box(Box{})}}); }
  std::uint32_t guard(const Box& box) { return box == Box{} ? kNone : builder_.box(box); }

  /// Brings the data from the nodes `reached` to all that differ from them on `axis` alone.
  void spread(std::uint32_t axis, Box reached, const Region& out) {
    const bool counts = countsFromRoot(builder_.schedule().view(), axis);
    const auto arms = armsOf(topology_.axes[axis].size, counts);
    llvm::SmallVector<std::uint32_t, 2> received;
    for (const Arm& arm : arms) {
      const std::uint32_t stream = builder_.addStream({0, 0});
      const Shift moves = hop(axis, arm.sign);
      reached[axis] = arm.receivers;
      received.push_back(builder_.receive({stream, guard(reached)}, out, moves, {}));
      llvm::SmallVector<std::uint32_t, 16> after = has_data_;
      after.push_back(received.back());
      reached[axis] = arm.senders;
      builder_.send({stream, guard(reached)}, out, moves, after);
    }
    has_data_.append(received.begin(), received.end());
  }

  const Topology topology_;
  StepBuilder builder_;
  Box at_root_;
  llvm::SmallVector<std::uint32_t, 16> has_data_;  // whichever of them a node executes brings data
};

}  // namespace

llvm::Expected<Program> planDimensionTree(const CollectiveSpec& spec) {
  if (spec.topology.isDamaged()) {
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   "dimension-tree: the tree cannot go round damage");
  }
  Program program;
  program.schedule = DimensionTree(spec).take();
  return program;
}

}  // namespace torc
