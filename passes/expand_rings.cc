// Turns a plan into steps: the ring ("bucket") reduce-scatter and allgather of every color along
// one axis after another ("Optimal Bucket Algorithms for Large MPI Collectives on Torus
// Interconnects", section 2.2 and Algorithm 1). passes/analysis/ring_steps.h says which block goes
// where in each step. One stream per part; of a color whose rings are half-latency ones the two
// halves go together, in a stream for each way.
//
// Blocks. In a reduce-scatter, axes done before are fixed to the own coordinate, the current axis
// has the moving block, axes to come are whole: a later phase moves 1/d of the data of the one
// before. An allgather visits the axes in reverse and widens again.
//
// Where sums grow. allreduce: in `out`; the first time that a block is touched out = in + received,
// later out = out + received. reduce_scatter: in scratch, a frame per block that moves in the first
// phase; later phases add up in the frame of the own coordinate, and the very last addition writes
// `out`. On a line (a mesh axis, or a ring that a dead link cuts, which begins behind the cut) a
// block's sums from the two sides meet at its owner: line - is added after line +. So do they on a
// half-latency ring. There half a block that comes from halfway around goes on as a whole: in the
// first phase the other half of the sum starts as a copy of `in`.
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

#include "ir/schedule_builder.h"
#include "passes/analysis/limits.h"
#include "passes/analysis/ring_steps.h"
#include "passes/analysis/strands.h"

namespace torc {
namespace {

using Indices = llvm::SmallVector<std::uint32_t, 8>;

using Parts = llvm::ArrayRef<std::uint32_t>;

class Expansion {
 public:
  explicit Expansion(const Program& program)
      : program_(program),
        plan_(program.plan),
        old_(program.schedule),
        topology_(old_.topology),
        builder_(old_) {}

  llvm::Expected<Schedule> run();

 private:
  llvm::Error expandPhase(llvm::ArrayRef<PlanOperation> rings);

  llvm::Error checkSize(const PlanOperation& ring);

  std::uint32_t stepCount(std::uint32_t axis) const;
  RingStep stepOf(PlanKind kind, std::uint32_t axis, std::uint32_t step) const;
  void reduceScatter(std::uint32_t axis);
  void sendSums(std::uint32_t axis, const LineStep& line, Indices& step_end);
  void reduceOwn(std::uint32_t axis, const RingStep& step, bool last, Indices& step_end);
  void allgather(std::uint32_t axis);

  std::uint32_t send(const Region& a, std::uint32_t axis, int sign, const Nodes& nodes);
  std::uint32_t receive(const Region& dst, std::uint32_t axis, int sign, const Nodes& nodes);
  std::uint32_t receiveAndReduce(Parts parts, const Region& dst, const Region& a,
                                 std::uint32_t axis, std::uint32_t box, int sign,
                                 const Nodes& nodes, std::uint32_t also_after = kNone);
  std::uint32_t copyOwnBlocks();
  std::uint32_t copyOtherHalf(std::uint32_t axis, const LineStep& line);

  bool moves(std::uint32_t axis) const { return topology_.axes[axis].size > 1; }
  Box ownBox() const;
  std::uint32_t blocks(std::uint32_t axis, std::int32_t offset);
  Parts all() const { return strand().parts; }
  Parts movedBy(const LineStep& line) const;
  llvm::SmallVector<Piece, 2> pieces(Parts parts, std::uint32_t box) const;
  Region region(Buffer buffer, Parts parts, std::uint32_t box, std::uint32_t frame = kNone) {
    return builder_.region(buffer, pieces(parts, box), frame);
  }
  std::uint32_t newFrame(Parts parts, std::uint32_t box);
  Region sumRegion(Parts parts, std::uint32_t axis, std::int32_t offset);
  Region previousRegion(Parts parts, std::uint32_t axis, std::int32_t offset);
  Operation operation(OperationKind kind, std::uint32_t axis, int sign, const Nodes& nodes);
  Strand& strand() { return strands_[strand_]; }
  const Strand& strand() const { return strands_[strand_]; }
  PlanProgress& progress() { return strand().progress; }
  const PlanProgress& progress() const { return strand().progress; }

  const Program& program_;
  const std::vector<PlanOperation>& plan_;
  const Schedule& old_;
  const Topology& topology_;
  ScheduleBuilder builder_;
  std::vector<Strand> strands_;
  std::size_t strand_ = 0;  // that is being expanded
  std::uint32_t phase_ = 0;
  Indices after_;  // what the next step of the strand depends on
};

llvm::Expected<Schedule> Expansion::run() {
  llvm::Expected<std::vector<Strand>> strands = makeStrands(program_, builder_);
  if (!strands) return strands.takeError();
  strands_ = std::move(*strands);
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
  for (strand_ = 0; strand_ < strands_.size(); ++strand_) {
    if (llvm::Error error = progress().checkDone()) return error;
    if (!progress().hasStarted()) copyOwnBlocks();  // nothing to move: there is one node
  }
  return builder_.take();
}

/// Expands the rings of one phase, strand by strand.
llvm::Error Expansion::expandPhase(llvm::ArrayRef<PlanOperation> rings) {
  if (phase_ > std::numeric_limits<std::uint16_t>::max()) {
    return passError("the plan has more than 65536 phases");
  }
  const Indices barrier = std::move(after_);
  Indices phase_end;
  for (strand_ = 0; strand_ < strands_.size(); ++strand_) {
    after_ = barrier;
    bool any = false;
    for (const PlanOperation& ring : rings) {
      if (ring.color != strand().color) continue;
      if (llvm::Error error = progress().check(ring)) return error;
      if (llvm::Error error = checkSize(ring)) return error;
      if (ring.kind == PlanKind::kRingReduceScatter) {
        reduceScatter(ring.axis);
      } else {
        allgather(ring.axis);
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
  // A step of a part on a ring is a send, a receive and a reduction; on a line there are up to
  // three of each, on a half-latency ring two of each, and two copies.
  const std::uint64_t in_step = strand().isHalfLatency() || topology_.isLine(ring.axis) ? 9 : 3;
  const std::uint64_t operations = in_step * stepCount(ring.axis) + 1;
  const Schedule& schedule = builder_.schedule();
  return checkLimits(schedule.operations.size() + operations,
                     schedule.dependences.size() + 9 * after_.size() + 4 * operations);
}

std::uint32_t Expansion::stepCount(std::uint32_t axis) const {
  const std::uint32_t size = topology_.axes[axis].size;
  return strand().isHalfLatency() && !topology_.isLine(axis) ? size / 2 : size - 1;
}

RingStep Expansion::stepOf(PlanKind kind, std::uint32_t axis, std::uint32_t step) const {
  const std::uint32_t size = topology_.axes[axis].size;
  const bool is_line = topology_.isLine(axis);
  if (strand().isHalfLatency() && !is_line) return halfLatencyStep(kind, size, step);
  return ringStep(kind, size, is_line, strand().direction, step);
}

/// The steps of a reduce-scatter of the current strand along `axis`.
void Expansion::reduceScatter(std::uint32_t axis) {
  const bool last =
      old_.collective == Collective::kReduceScatter && progress().isLastToReduce(axis);
  for (std::uint32_t s = 0; s < stepCount(axis); ++s) {
    const RingStep step = stepOf(PlanKind::kRingReduceScatter, axis, s);
    Indices step_end;
    for (const LineStep& line : step)
      sendSums(axis, line, step_end);
    if (step.front().received == 0) {
      reduceOwn(axis, step, last, step_end);
    } else {
      for (const LineStep& line : step) {
        const Parts parts = movedBy(line);
        const Region sum = sumRegion(parts, axis, line.received);
        const Region previous = previousRegion(parts, axis, line.received);
        step_end.push_back(receiveAndReduce(parts, sum, previous, axis, blocks(axis, line.received),
                                            line.sign, line.receivers));
        if (line.half && !progress().hasStarted()) step_end.push_back(copyOtherHalf(axis, line));
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
    const Region data = region(Buffer::kIn, movedBy(line), blocks(axis, line.sent));
    step_end.push_back(send(data, axis, line.sign, line.sources));
    // The sources are all senders, or the one at an end of them.
    if (line.sources.first == others.first) {
      others.first = line.sources.last + 1;
    } else {
      others.last = line.sources.first - 1;
    }
  }
  if (others.none()) return;
  step_end.push_back(send(sumRegion(movedBy(line), axis, line.sent), axis, line.sign, others));
}

/// The last step, which brings the sums of the own blocks: from one side on a ring, from both on a
/// line and on a half-latency ring. `last`: they are results of a reduce_scatter.
void Expansion::reduceOwn(std::uint32_t axis, const RingStep& step, bool last, Indices& step_end) {
  const std::uint32_t box = blocks(axis, 0);
  const auto sumOf = [&](Parts parts) {
    return last ? region(Buffer::kOut, parts, box) : sumRegion(parts, axis, 0);
  };
  const auto add = [&](const LineStep& line, const Region& a, const Nodes& nodes,
                       std::uint32_t also_after = kNone) {
    const Parts parts = movedBy(line);
    return receiveAndReduce(parts, sumOf(parts), a, axis, box, line.sign, nodes, also_after);
  };
  const LineStep& line = step.front();
  const Region sum = sumOf(movedBy(line));
  const Region previous = previousRegion(movedBy(line), axis, 0);
  std::uint32_t index = add(line, previous, line.receivers);
  if (step.size() == 2) {
    const LineStep& back = step.back();
    if (line.half) {  // and the other half comes from the other side
      step_end.push_back(add(back, previousRegion(movedBy(back), axis, 0), back.receivers));
    } else if (previous == sum) {
      index = add(back, sum, back.receivers, index);
    } else {
      // Line - adds to the sum of line +, but for the node at the end, which line + does not reach.
      const Nodes both{line.receivers.first, back.receivers.last};
      const Nodes end{back.receivers.first, line.receivers.first - 1};
      if (!end.none()) step_end.push_back(add(back, previous, end));
      if (!both.none()) index = add(back, sum, both, index);
    }
  }
  step_end.push_back(index);
}

/// The steps of an allgather of the current strand along `axis`.
void Expansion::allgather(std::uint32_t axis) {
  const bool first = !progress().hasStarted();
  for (std::uint32_t k = 0; k < stepCount(axis); ++k) {
    const RingStep step = stepOf(PlanKind::kRingAllgather, axis, k);
    Indices step_end;
    for (const LineStep& line : step) {
      // The own block leaves from `in`, without waiting for its copy in `out`.
      const Buffer buffer = first && k == 0 ? Buffer::kIn : Buffer::kOut;
      const Region sent = region(buffer, movedBy(line), blocks(axis, line.sent));
      step_end.push_back(send(sent, axis, line.sign, line.senders));
    }
    for (const LineStep& line : step) {
      const Region received = region(Buffer::kOut, movedBy(line), blocks(axis, line.received));
      step_end.push_back(receive(received, axis, line.sign, line.receivers));
    }
    if (first && k == 0) step_end.push_back(copyOwnBlocks());
    after_ = std::move(step_end);
  }
}

/// The parts of the current strand that move in a step.
Parts Expansion::movedBy(const LineStep& line) const {
  return line.half ? all().slice(line.sign > 0 ? 0 : 1, 1) : all();
}

/// Where the sums of the current strand's blocks at `offset` on `axis` grow.
Region Expansion::sumRegion(Parts parts, std::uint32_t axis, std::int32_t offset) {
  const std::uint32_t box = blocks(axis, offset);
  if (old_.collective == Collective::kAllreduce) return region(Buffer::kOut, parts, box);
  const bool own = offset == 0 || progress().hasStarted();
  std::uint32_t& frame =
      own ? strand().own_frame : strand().frames.try_emplace(offset, kNone).first->second;
  if (frame == kNone) frame = newFrame(all(), box);
  return region(Buffer::kScratch, parts, box, frame);
}

/// What the first sum that the current phase makes of these blocks starts from.
Region Expansion::previousRegion(Parts parts, std::uint32_t axis, std::int32_t offset) {
  if (progress().hasStarted()) return sumRegion(parts, axis, offset);
  return region(Buffer::kIn, parts, blocks(axis, offset));
}

std::uint32_t Expansion::send(const Region& a, std::uint32_t axis, int sign, const Nodes& nodes) {
  Operation send = operation(OperationKind::kSend, axis, sign, nodes);
  send.a = a;
  return builder_.addOperation(send, after_);
}

std::uint32_t Expansion::receive(const Region& dst, std::uint32_t axis, int sign,
                                 const Nodes& nodes) {
  Operation receive = operation(OperationKind::kRecv, axis, sign, nodes);
  receive.dst = dst;
  return builder_.addOperation(receive, after_);
}

/// Receives `box` of `parts` into a new frame, then dst = a + frame; the index of the reduction.
std::uint32_t Expansion::receiveAndReduce(Parts parts, const Region& dst, const Region& a,
                                          std::uint32_t axis, std::uint32_t box, int sign,
                                          const Nodes& nodes, std::uint32_t also_after) {
  const Region staging = region(Buffer::kScratch, parts, box, newFrame(parts, box));
  Indices after = {receive(staging, axis, sign, nodes)};
  if (also_after != kNone) after.push_back(also_after);
  Operation reduce = operation(OperationKind::kReduce, axis, sign, nodes);
  reduce.dst = dst;
  reduce.a = a;
  reduce.b = staging;
  return builder_.addOperation(reduce, after);
}

/// out = in for the own blocks.
std::uint32_t Expansion::copyOwnBlocks() {
  const std::uint32_t box = builder_.box(ownBox());
  const Nodes nodes{0, static_cast<std::int32_t>(topology_.axes[0].size) - 1};
  Operation copy = operation(OperationKind::kCopy, 0, 1, nodes);
  copy.dst = region(Buffer::kOut, all(), box);
  copy.a = region(Buffer::kIn, all(), box);
  return builder_.addOperation(copy, after_);
}

/// Of the blocks that `line` brings one half of, sum = in for the other.
std::uint32_t Expansion::copyOtherHalf(std::uint32_t axis, const LineStep& line) {
  const Parts other = all().slice(line.sign > 0 ? 1 : 0, 1);
  Operation copy = operation(OperationKind::kCopy, axis, line.sign, line.receivers);
  copy.dst = sumRegion(other, axis, line.received);
  copy.a = region(Buffer::kIn, other, blocks(axis, line.received));
  return builder_.addOperation(copy, after_);
}

/// An operation of the current phase and strand for the given nodes along `axis`, which belongs to
/// what goes in direction `sign` there.
Operation Expansion::operation(OperationKind kind, std::uint32_t axis, int sign,
                               const Nodes& nodes) {
  Operation operation;
  operation.kind = kind;
  operation.phase = static_cast<std::uint16_t>(phase_);
  operation.stream = strand().first_stream + (strand().isHalfLatency() && sign < 0 ? 1 : 0);
  if (sends(kind) || receives(kind)) {
    Shift peer{};
    peer[axis] = sends(kind) ? sign : -sign;
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

/// The blocks that the current strand is concerned with: own coordinates on fixed axes.
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

llvm::SmallVector<Piece, 2> Expansion::pieces(Parts parts, std::uint32_t box) const {
  if (parts.size() == 2 && parts[1] == parts[0] + 1) return {{parts[0], 2, box}};
  llvm::SmallVector<Piece, 2> list;
  for (const std::uint32_t part : parts)
    list.push_back({part, 1, box});
  return list;
}

std::uint32_t Expansion::newFrame(Parts parts, std::uint32_t box) {
  const auto slot = static_cast<std::uint32_t>(builder_.schedule().frames.size());
  return builder_.addFrame(pieces(parts, box), slot);
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
