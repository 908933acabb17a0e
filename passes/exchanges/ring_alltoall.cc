// Ring all-to-all [own]: blocks travel from neighbour to neighbour, the shorter way around, and all
// blocks that leave a node by the same link at the same time are one message. A ring of d nodes
// takes floor(d / 2) steps and loads each link with floor(d^2 / 4) / (2 d) of a node's data, the
// minimum; the network only needs links between neighbours.
//
// Steps. Upwards in step t = 1, 2, ... a node receives the blocks of the node t below it for the
// nodes from here on, up to `reach` above the source: the block for its own coordinate, which
// stays, and the blocks for those behind it, which go into a frame and are forwarded in step t + 1.
// These are two messages, in a stream each, so that nothing is copied. Downwards likewise. The
// reach is floor(d / 2) upwards and floor((d - 1) / 2) downwards, for a part of direction - the
// other way around: on an even ring the two halves of a block for the opposite node go different
// ways.
//
// Order. The first step waits for the operations that brought the blocks, and for the last messages
// of another color along the same axis. So the earlier of two colors has the links to itself; with
// shared links, both would end when the second does. A later step waits for the step before it.
// Receives wait for nothing, except for their frame if allocate-scratch lets frames share a slot.
// The steps of both directions are listed alternately, in the order of execution, which shows
// allocate-scratch the free frames.
#include "passes/exchanges/ring_alltoall.h"

namespace torc::passes {
namespace {

/// One direction of the ring.
class Direction {
 public:
  /// The first step waits for `after`.
  Direction(ExchangeSteps& steps, std::uint32_t axis, int sign, std::uint32_t reach,
            const ir::OperationIndices& after)
      : steps_(steps), sign_(sign), reach_(reach), moves_(ir::hop(axis, sign)), arrived_(after) {
    if (reach > 0) stay_ = steps.newStream();
    if (reach > 1) go_on_ = steps.newStream();
  }

  /// Adds step t, if there is one; appends the operations that brought blocks that stay to
  /// `brought`, and the last messages to `last`.
  void addStep(std::uint32_t t, ir::OperationIndices& brought, ir::OperationIndices& last);

 private:
  /// The blocks that a node at `to` (0: the own one, 1: the next one) gets in step t, relative to
  /// this node: those that stay with it, those that are forwarded.
  std::uint32_t staying(int to, std::uint32_t t) {
    return steps_.blocks(source(to, t), Interval::relative(sign_ * to));
  }
  std::uint32_t goingOn(int to, std::uint32_t t) {
    const auto count = static_cast<std::int32_t>(reach_ - t);
    const std::int32_t nearest = sign_ * (to + 1), farthest = sign_ * (to + count);
    return steps_.blocks(source(to, t),
                         Interval::relative(sign_ > 0 ? nearest : farthest, reach_ - t));
  }
  Interval source(int to, std::uint32_t t) const {
    return Interval::relative(sign_ * (to - static_cast<std::int32_t>(t)));
  }

  ExchangeSteps& steps_;
  const int sign_;
  const std::uint32_t reach_;
  const Shift moves_;
  ir::StepPlace stay_, go_on_;
  ir::OperationIndices arrived_;  // dependences of the next step's messages
  std::uint32_t frame_ = kNone;   // frame of their blocks
};

void Direction::addStep(std::uint32_t t, ir::OperationIndices& brought,
                        ir::OperationIndices& last) {
  if (t > reach_) return;
  ir::StepBuilder& builder = steps_.builder();
  const bool goes_on = t < reach_;
  const auto held = [&](std::uint32_t blocks) {
    return frame_ == kNone ? steps_.before(blocks) : steps_.within(frame_, blocks);
  };
  ir::OperationIndices sent = {builder.send(stay_, held(staying(1, t)), moves_, arrived_)};
  if (goes_on) sent.push_back(builder.send(go_on_, held(goingOn(1, t)), moves_, arrived_));
  brought.push_back(builder.receive(stay_, steps_.behind(staying(0, t)), moves_, {}));
  if (!goes_on) return last.append(sent);
  frame_ = steps_.newFrame(goingOn(0, t));
  arrived_ = {builder.receive(go_on_, steps_.within(frame_, goingOn(0, t)), moves_, {})};
}

}  // namespace

ir::OperationIndices expandRingAlltoall(ExchangeSteps steps, std::uint32_t axis,
                                        const ir::OperationIndices& link_before) {
  const std::uint32_t size = steps.topology().axes[axis].size;
  std::uint32_t reach[] = {size / 2, (size - 1) / 2};  // upwards, downwards
  if (steps.part().down) std::swap(reach[0], reach[1]);
  ir::OperationIndices after = steps.after(), brought, last;
  after.append(link_before);
  Direction up(steps, axis, 1, reach[0], after), down(steps, axis, -1, reach[1], after);
  for (std::uint32_t t = 1; t <= size / 2; ++t) {
    up.addStep(t, brought, last);
    down.addStep(t, brought, last);
  }
  brought.push_back(steps.keep(steps.newStream()));
  steps.finish(std::move(brought));
  return last;
}

RingAlltoallSize sizeOfRingAlltoall(std::uint32_t ring, std::size_t waits_for) {
  // Both directions take a step for every other node, of two sends and two receives.
  return {std::uint64_t{4} * ring, std::uint64_t{2} * ring + 5 * waits_for};
}

}  // namespace torc::passes
