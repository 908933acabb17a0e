// Ring reduce-scatter ("Optimal Bucket Algorithms for Large MPI Collectives on Torus
// Interconnects", section 2.2): in every step a node sends a block's sum and adds its own data to
// the received one. passes/analysis/ring_steps.h has the offsets of blocks.
//
// Blocks. Axes done before are fixed to the own coordinate, the current axis has the moving block,
// axes to come are whole: a later phase moves 1/d of the data of the one before.
//
// Place of the sums. allreduce: in `out`; the first addition to a block is out = in + received,
// later ones out = out + received. reduce_scatter, and reduce, which has an `out` at the root
// alone: in scratch, with a frame for each moving block in the first phase; later phases add to the
// frame of the own coordinate, and the very last addition of a reduce_scatter writes `out`. On a
// line (a mesh axis, or a ring cut by a dead link, which begins behind the cut) a block's sums from
// the two sides meet at its owner: line - is added after line +. So they do on a half-latency ring.
// There half a block from halfway around continues as a whole block: in the first phase the other
// half of the sum starts as a copy of `in`.
//
// Every receive has a frame of its own, and a separate reduction.
#include "passes/rings/ring_reduce_scatter.h"

namespace torc::passes {
namespace {

class RingReduceScatter {
 public:
  using Parts = StrandSteps::Parts;

  RingReduceScatter(StrandSteps& steps, std::uint32_t axis)
      : steps_(steps), axis_(axis), first_phase_(!steps.progress().hasStarted()) {}

  void expand() {
    for (std::uint32_t s = 0; s < steps_.stepCount(axis_); ++s) {
      const RingStep step = steps_.stepOf(ir::PlanKind::kRingReduceScatter, axis_, s);
      for (const LineStep& line : step)
        sendSums(line);
      if (step.front().received == 0) {
        addOwn(step);
      } else {
        for (const LineStep& line : step)
          addReceived(line);
      }
      steps_.setAfter(std::move(step_end_));
      step_end_.clear();
    }
  }

 private:
  void sendSums(const LineStep& line);
  void addReceived(const LineStep& line);
  void addOwn(const RingStep& step);
  Region sumRegion(Parts parts, std::int32_t offset) { return steps_.sums(parts, axis_, offset); }
  Region previousRegion(Parts parts, std::int32_t offset);

  StrandSteps& steps_;
  const std::uint32_t axis_;
  const bool first_phase_;
  ir::OperationIndices step_end_;  // dependences of the next step
};

/// Sends the node's sums of the blocks of a step. In the first phase a node that has received none
/// of them yet sends its own data.
void RingReduceScatter::sendSums(const LineStep& line) {
  Nodes others = line.senders;
  const Parts parts = steps_.movedBy(line);
  if (first_phase_ && !line.sources.none()) {
    const Region data = steps_.region(Buffer::kIn, parts, steps_.blocks(axis_, line.sent));
    step_end_.push_back(steps_.send(data, axis_, line, line.sources));
    // The sources are all senders, or the one at an end of them.
    if (line.sources.first == others.first) {
      others.first = line.sources.last + 1;
    } else {
      others.last = line.sources.first - 1;
    }
  }
  if (others.none()) return;
  step_end_.push_back(steps_.send(sumRegion(parts, line.sent), axis_, line, others));
}

/// Adds data received on a line to the sums of blocks that move on in the next step.
void RingReduceScatter::addReceived(const LineStep& line) {
  const Parts parts = steps_.movedBy(line);
  const Region sum = sumRegion(parts, line.received);
  const Region previous = previousRegion(parts, line.received);
  step_end_.push_back(steps_.receiveThenReduce(parts, steps_.blocks(axis_, line.received), sum,
                                               previous, axis_, line, line.receivers));
  if (!line.half || !first_phase_) return;
  // The other half of these blocks is not received: its sum is the own data.
  const Parts other = steps_.notMovedBy(line);
  const Region start = sumRegion(other, line.received);
  const Region data = steps_.region(Buffer::kIn, other, steps_.blocks(axis_, line.received));
  step_end_.push_back(steps_.copy(start, data, axis_, line));
}

/// The last step, which brings the sums of the own blocks: from one side on a ring, from both on a
/// line and on a half-latency ring. The last sums of a reduce_scatter are results.
void RingReduceScatter::addOwn(const RingStep& step) {
  const bool last =
      !rowOf(steps_.collective()).outWhole() && steps_.progress().isLastToReduce(axis_);
  const std::uint32_t box = steps_.blocks(axis_, 0);
  const auto sumOf = [&](Parts parts) {
    return last ? steps_.region(Buffer::kOut, parts, box) : sumRegion(parts, 0);
  };
  const auto add = [&](const LineStep& line, const Region& a, const Nodes& nodes,
                       std::uint32_t also_after = kNone) {
    const Parts parts = steps_.movedBy(line);
    return steps_.receiveThenReduce(parts, box, sumOf(parts), a, axis_, line, nodes, also_after);
  };
  const LineStep& line = step.front();
  const Region sum = sumOf(steps_.movedBy(line));
  const Region previous = previousRegion(steps_.movedBy(line), 0);
  std::uint32_t index = add(line, previous, line.receivers);
  if (step.size() == 2) {
    const LineStep& back = step.back();
    if (line.half) {  // the other half comes from the other side
      step_end_.push_back(add(back, previousRegion(steps_.movedBy(back), 0), back.receivers));
    } else if (previous == sum) {
      index = add(back, sum, back.receivers, index);
    } else {
      // Line - adds to the sum of line +, except at the end node, which line + does not reach.
      const Nodes both{line.receivers.first, back.receivers.last};
      const Nodes end{back.receivers.first, line.receivers.first - 1};
      if (!end.none()) step_end_.push_back(add(back, previous, end));
      if (!both.none()) index = add(back, sum, both, index);
    }
  }
  step_end_.push_back(index);
}

/// The first operand of the current phase's first sum of these blocks.
Region RingReduceScatter::previousRegion(Parts parts, std::int32_t offset) {
  if (!first_phase_) return sumRegion(parts, offset);
  return steps_.region(Buffer::kIn, parts, steps_.blocks(axis_, offset));
}

}  // namespace

void expandRingReduceScatter(StrandSteps& steps, std::uint32_t axis) {
  RingReduceScatter(steps, axis).expand();
}

}  // namespace torc::passes
