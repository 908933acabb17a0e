// Turns a plan into steps: the ring ("bucket") reduce-scatter and allgather of every color along
// one axis after another ("Optimal Bucket Algorithms for Large MPI Collectives on Torus
// Interconnects", section 2.2 and Algorithm 1). passes/ring_steps.h says which block goes where in
// each step. One stream per part.
//
// Blocks. In a reduce-scatter, axes done before are fixed to the own coordinate, the current axis
// has the moving block, axes to come are whole: a later phase moves 1/d of the data of the one
// before. An allgather visits the axes in reverse and widens again.
//
// Where sums grow. allreduce: in `out`; the first time that a block is touched out = in + received,
// later out = out + received. reduce_scatter: in scratch, a frame per block that moves in the first
// phase; later phases add up in the frame of the own coordinate, and the very last addition writes
// `out`. On a line (a mesh axis, or a ring that a dead link cuts, which begins behind the cut) a
// block's sums from the two sides meet at its owner: line - is added after line +.
//
// Order. A step depends on the step before it in its stream, the first step of a phase on the last
// steps of all streams in the phase before. So sends and receives of step s wait for nothing but
// earlier steps: no deadlock, even without buffering.
//
// Every receive has a frame (or its place in `out`, in an allgather) of its own, and a separate
// reduction; every frame is alone in its slot. coalesce, infer-dependences and allocate-scratch
// improve on that.
#include "passes/expand_rings.h"

#include <algorithm>
#include <array>
#include <limits>

#include <llvm/ADT/DenseMap.h>

#include "ir/schedule_builder.h"
#include "passes/limits.h"
#include "passes/plan_progress.h"
#include "passes/ring_steps.h"
#include "schedules/partition.h"

namespace torc {
namespace {

using Indices = llvm::SmallVector<std::uint32_t, 8>;

/// How far the steps of a part have come.
struct PartState {
  explicit PartState(const PlanProgress& start) : progress(start) {}

  PlanProgress progress;
  std::uint32_t own_frame = kNone;  // reduce_scatter: sums of the own coordinate's blocks on the
                                    // first axis ...
  llvm::DenseMap<std::int32_t, std::uint32_t> frames;  // ... and of others there, by offset
};

class Expansion {
 public:
  explicit Expansion(const Program& program)
      : plan_(program.plan),
        old_(program.schedule),
        topology_(old_.topology),
        parts_(old_.view()),
        builder_(old_) {}

  llvm::Expected<Schedule> run();

 private:
  llvm::Error expandPhase(llvm::ArrayRef<PlanOperation> rings);

  llvm::Error checkSize(const PlanOperation& ring);

  void reduceScatter(std::uint32_t axis, std::uint32_t direction);
  void sendSums(std::uint32_t axis, const LineStep& line, Indices& step_end);
  void reduceOwn(std::uint32_t axis, const RingStep& step, bool last, Indices& step_end);
  void allgather(std::uint32_t axis, std::uint32_t direction);

  std::uint32_t send(const Region& a, std::uint32_t axis, int sign, const Nodes& nodes);
  std::uint32_t receive(const Region& dst, std::uint32_t axis, int sign, const Nodes& nodes);
  std::uint32_t receiveAndReduce(const Region& dst, const Region& a, std::uint32_t axis, int sign,
                                 const Nodes& nodes, std::uint32_t also_after = kNone);
  std::uint32_t copyOwnBlocks();

  bool moves(std::uint32_t axis) const { return topology_.axes[axis].size > 1; }
  Box ownBox() const;
  std::uint32_t blocks(std::uint32_t axis, std::int32_t offset);
  Region region(Buffer buffer, std::uint32_t box) const { return boxRegion(buffer, part_, box); }
  Region scratch(std::uint32_t frame, std::uint32_t box) const {
    return boxRegion(Buffer::kScratch, part_, box, frame);
  }
  std::uint32_t newFrame(std::uint32_t box);
  Region sumRegion(std::uint32_t axis, std::int32_t offset);
  Region previousRegion(std::uint32_t axis, std::int32_t offset);
  Operation operation(OperationKind kind, std::uint32_t axis, const Nodes& nodes, int shift);
  PlanProgress& progress() { return states_[part_].progress; }
  const PlanProgress& progress() const { return states_[part_].progress; }

  const std::vector<PlanOperation>& plan_;
  const Schedule& old_;
  const Topology& topology_;
  const PartTable parts_;
  ScheduleBuilder builder_;
  std::vector<PartState> states_;
  std::uint32_t part_ = 0;  // part, and stream, that is being expanded
  std::uint32_t phase_ = 0;
  Indices after_;  // what the next step of the stream depends on
};

llvm::Expected<Schedule> Expansion::run() {
  states_.reserve(parts_.size());
  for (part_ = 0; part_ < parts_.size(); ++part_) {
    builder_.addStream({part_, 0});
    states_.emplace_back(PlanProgress(old_, parts_.index(part_).color));
  }
  llvm::SmallVector<PlanOperation, 16> rings;  // of the current phase
  for (std::size_t i = 0; i <= plan_.size(); ++i) {
    if (i < plan_.size() && plan_[i].kind != PlanKind::kPhaseBarrier) {
      // A ring of one node moves nothing, and a phase of such rings is none.
      if (moves(plan_[i].axis)) rings.push_back(plan_[i]);
      continue;
    }
    if (rings.empty()) continue;
    if (llvm::Error error = expandPhase(rings)) return error;
    rings.clear();
    ++phase_;
  }
  for (part_ = 0; part_ < parts_.size(); ++part_) {
    if (llvm::Error error = progress().checkDone()) return error;
    if (!progress().hasStarted()) copyOwnBlocks();  // nothing to move: there is one node
  }
  return builder_.take();
}

/// Expands the rings of one phase, stream by stream.
llvm::Error Expansion::expandPhase(llvm::ArrayRef<PlanOperation> rings) {
  if (phase_ > std::numeric_limits<std::uint16_t>::max()) {
    return passError("the plan has more than 65536 phases");
  }
  const Indices barrier = std::move(after_);
  Indices phase_end;
  for (part_ = 0; part_ < states_.size(); ++part_) {
    const PartIndex& index = parts_.index(part_);
    after_ = barrier;
    bool any = false;
    for (const PlanOperation& ring : rings) {
      if (ring.color != index.color) continue;
      if (llvm::Error error = progress().check(ring)) return error;
      if (llvm::Error error = checkSize(ring)) return error;
      if (ring.kind == PlanKind::kRingReduceScatter) {
        reduceScatter(ring.axis, index.direction);
      } else {
        allgather(ring.axis, index.direction);
      }
      progress().finish(ring);
      any = true;
    }
    if (any) phase_end.append(after_.begin(), after_.end());
  }
  after_ = std::move(phase_end);
  return llvm::Error::success();
}

llvm::Error Expansion::checkSize(const PlanOperation& ring) {
  const Axis& axis = topology_.axes[ring.axis];
  // A step on a ring is a send, a receive and a reduction; on a line there are up to three of each.
  const std::uint64_t operations =
      std::uint64_t{topology_.isLine(ring.axis) ? 9u : 3u} * (axis.size - 1) + 1;
  const Schedule& schedule = builder_.schedule();
  return checkLimits(schedule.operations.size() + operations,
                     schedule.dependences.size() + 9 * after_.size() + 4 * operations);
}

/// The steps of a reduce-scatter of the current part along `axis`.
void Expansion::reduceScatter(std::uint32_t axis, std::uint32_t direction) {
  const bool last =
      old_.collective == Collective::kReduceScatter && progress().isLastToReduce(axis);
  for (std::uint32_t s = 0; s + 1 < topology_.axes[axis].size; ++s) {
    const RingStep step = ringStep(PlanKind::kRingReduceScatter, topology_.axes[axis].size,
                                   topology_.isLine(axis), direction, s);
    Indices step_end;
    for (const LineStep& line : step)
      sendSums(axis, line, step_end);
    if (step.front().received == 0) {
      reduceOwn(axis, step, last, step_end);
    } else {
      for (const LineStep& line : step) {
        const Region sum = sumRegion(axis, line.received);
        const Region previous = previousRegion(axis, line.received);
        step_end.push_back(receiveAndReduce(sum, previous, axis, line.sign, line.receivers));
      }
    }
    after_ = std::move(step_end);
  }
}

/// Sends what the node has of the blocks of a step. In the first phase a node that has received
/// nothing of them yet sends the data that it started with.
void Expansion::sendSums(std::uint32_t axis, const LineStep& line, Indices& step_end) {
  Nodes others = line.senders;
  if (!progress().hasStarted() && !line.sources.none()) {
    const Region data = region(Buffer::kIn, blocks(axis, line.sent));
    step_end.push_back(send(data, axis, line.sign, line.sources));
    // The sources are all senders, or the one at an end of them.
    if (line.sources.first == others.first) {
      others.first = line.sources.last + 1;
    } else {
      others.last = line.sources.first - 1;
    }
  }
  if (others.none()) return;
  step_end.push_back(send(sumRegion(axis, line.sent), axis, line.sign, others));
}

/// The last step, which brings the sums of the own blocks: from one side on a ring, from both on a
/// line. `last`: they are results of a reduce_scatter.
void Expansion::reduceOwn(std::uint32_t axis, const RingStep& step, bool last, Indices& step_end) {
  const Region sum = last ? region(Buffer::kOut, blocks(axis, 0)) : sumRegion(axis, 0);
  const Region previous = previousRegion(axis, 0);
  const LineStep& line = step.front();
  std::uint32_t index = receiveAndReduce(sum, previous, axis, line.sign, line.receivers);
  if (step.size() == 2) {
    // Line - adds to the sum of line +, but for the node at the end, which line + does not reach.
    const LineStep& back = step.back();
    const Nodes both{line.receivers.first, back.receivers.last};
    if (previous == sum) {
      index = receiveAndReduce(sum, sum, axis, back.sign, back.receivers, index);
    } else {
      const Nodes end{back.receivers.first, line.receivers.first - 1};
      step_end.push_back(receiveAndReduce(sum, previous, axis, back.sign, end));
      if (!both.none()) index = receiveAndReduce(sum, sum, axis, back.sign, both, index);
    }
  }
  step_end.push_back(index);
}

/// The steps of an allgather of the current part along `axis`.
void Expansion::allgather(std::uint32_t axis, std::uint32_t direction) {
  const bool first = !progress().hasStarted();
  for (std::uint32_t k = 0; k + 1 < topology_.axes[axis].size; ++k) {
    const RingStep step = ringStep(PlanKind::kRingAllgather, topology_.axes[axis].size,
                                   topology_.isLine(axis), direction, k);
    Indices step_end;
    for (const LineStep& line : step) {
      // The own block leaves from `in`, without waiting for its copy in `out`.
      const Buffer buffer = first && k == 0 ? Buffer::kIn : Buffer::kOut;
      const Region sent = region(buffer, blocks(axis, line.sent));
      step_end.push_back(send(sent, axis, line.sign, line.senders));
    }
    for (const LineStep& line : step) {
      const Region received = region(Buffer::kOut, blocks(axis, line.received));
      step_end.push_back(receive(received, axis, line.sign, line.receivers));
    }
    if (first && k == 0) step_end.push_back(copyOwnBlocks());
    after_ = std::move(step_end);
  }
}

/// Where the sums of the current part's blocks at `offset` on `axis` grow.
Region Expansion::sumRegion(std::uint32_t axis, std::int32_t offset) {
  const std::uint32_t box = blocks(axis, offset);
  if (old_.collective == Collective::kAllreduce) return region(Buffer::kOut, box);
  PartState& part = states_[part_];
  if (part.progress.hasStarted()) return scratch(part.own_frame, box);
  if (offset == 0) {
    if (part.own_frame == kNone) part.own_frame = newFrame(box);
    return scratch(part.own_frame, box);
  }
  const auto [entry, inserted] = part.frames.try_emplace(offset, kNone);
  if (inserted) entry->second = newFrame(box);
  return scratch(entry->second, box);
}

/// What the first sum that the current phase makes of these blocks starts from.
Region Expansion::previousRegion(std::uint32_t axis, std::int32_t offset) {
  if (progress().hasStarted()) return sumRegion(axis, offset);
  return region(Buffer::kIn, blocks(axis, offset));
}

std::uint32_t Expansion::send(const Region& a, std::uint32_t axis, int sign, const Nodes& nodes) {
  Operation send = operation(OperationKind::kSend, axis, nodes, sign);
  send.a = a;
  return builder_.addOperation(send, after_);
}

std::uint32_t Expansion::receive(const Region& dst, std::uint32_t axis, int sign,
                                 const Nodes& nodes) {
  Operation receive = operation(OperationKind::kRecv, axis, nodes, -sign);
  receive.dst = dst;
  return builder_.addOperation(receive, after_);
}

/// Receives into a new frame, then dst = a + frame; the index of the reduction.
std::uint32_t Expansion::receiveAndReduce(const Region& dst, const Region& a, std::uint32_t axis,
                                          int sign, const Nodes& nodes, std::uint32_t also_after) {
  const Region staging = scratch(newFrame(dst.box), dst.box);
  Indices after = {receive(staging, axis, sign, nodes)};
  if (also_after != kNone) after.push_back(also_after);
  Operation reduce = operation(OperationKind::kReduce, axis, nodes, 0);
  reduce.dst = dst;
  reduce.a = a;
  reduce.b = staging;
  return builder_.addOperation(reduce, after);
}

/// out = in for the own blocks.
std::uint32_t Expansion::copyOwnBlocks() {
  const std::uint32_t box = builder_.box(ownBox());
  const Nodes all{0, static_cast<std::int32_t>(topology_.axes[0].size) - 1};
  Operation copy = operation(OperationKind::kCopy, 0, all, 0);
  copy.dst = region(Buffer::kOut, box);
  copy.a = region(Buffer::kIn, box);
  return builder_.addOperation(copy, after_);
}

/// An operation of the current phase and stream for the given nodes along `axis`; its peer is
/// `shift` steps along `axis` away, 0 for none.
Operation Expansion::operation(OperationKind kind, std::uint32_t axis, const Nodes& nodes,
                               int shift) {
  Operation operation;
  operation.kind = kind;
  operation.phase = static_cast<std::uint16_t>(phase_);
  operation.stream = part_;
  if (shift != 0) {
    Shift peer{};
    peer[axis] = shift;
    operation.peer = builder_.shift(peer);
  }
  const auto length = static_cast<std::uint32_t>(nodes.last - nodes.first + 1);
  if (length < topology_.axes[axis].size) {
    Box guard;
    const std::int64_t first = std::int64_t{topology_.lineStart(axis)} + nodes.first;
    guard[axis] = Interval::absolute(
        static_cast<std::int32_t>(wrap(first, topology_.axes[axis].size)), length);
    operation.guard = builder_.box(guard);
  }
  return operation;
}

/// The blocks that the current part is concerned with: own coordinates on fixed axes.
Box Expansion::ownBox() const {
  Box box;
  for (std::uint32_t i = 0; i < topology_.axis_count; ++i) {
    if (progress().isFixed(i) || !moves(i)) box[i] = Interval::relative(0);
  }
  return box;
}

/// Of these, those at `offset` from the own coordinate on `axis`.
std::uint32_t Expansion::blocks(std::uint32_t axis, std::int32_t offset) {
  Box box = ownBox();
  box[axis] = Interval::relative(offset);
  return builder_.box(box);
}

std::uint32_t Expansion::newFrame(std::uint32_t box) {
  const auto slot = static_cast<std::uint32_t>(builder_.schedule().frames.size());
  return builder_.addFrame({part_, box, slot, 0});
}

class ExpandRings final : public Pass {
 public:
  ExpandRings()
      : Pass("expand-rings", "turns ring reduce-scatters and allgathers into step operations",
             PassLevel::kPlan) {}

  llvm::Expected<PassResult> run(Program& program) override {
    if (program.schedule.colors.empty()) return passError("the plan has no color");
    if (program.schedule.topology.isBroken()) {
      return passError(
          "rings cannot go round this damage: a node is dead, or links at different "
          "places of an axis are");
    }
    llvm::Expected<Schedule> schedule = Expansion(program).run();
    if (!schedule) return schedule.takeError();
    program.schedule = std::move(*schedule);
    program.plan.clear();
    operations_ = static_cast<double>(program.schedule.operations.size());
    phases_ = program.schedule.operations.back().phase + 1.0;
    return PassResult::kWithChange;
  }

 private:
  PassStatistic operations_{*this, "operations"};
  PassStatistic phases_{*this, "phases"};
};

}  // namespace

std::unique_ptr<Pass> createExpandRingsPass() {
  return std::make_unique<ExpandRings>();
}

}  // namespace torc
