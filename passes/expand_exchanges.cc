// Turns a plan into steps: the exchanges of every color, along some axes after others. On all axes
// at once they are the direct all-to-all; on X and then on YZ the two-phase schedule; on one axis
// after another the virtual mesh, which combines messages ("Optimization of All-to-All
// Communication on the Blue Gene/L Supercomputer").
//
// Blocks. Of the axes, D are done, S are those of the exchange, R the rest. What a node holds is
// from the sources that are anywhere on D and at its own coordinates elsewhere, to the destinations
// that are at its own coordinates on D and anywhere elsewhere. It sends to the peer at +i on S what
// of that is for destinations with the peer's coordinates on S; receives the like; and keeps what
// is for its own coordinates there. That is what it holds when S are done too. The first exchange
// reads `in`, the last one writes `out`; between two of them what a node holds lies in a frame.
//
// Both directions. A message goes the shorter way round each ring. Where a ring is even, the node
// opposite is as far both ways: a part of direction + goes up there, one of direction - down
// (split-directions makes the two halves), so that both directions carry the same. The busiest link
// of an exchange along all axes then carries what the bound says (p floor(d^2 / 4) / (2 d) messages
// on a ring of d nodes, on lines twice that).
//
// Order. An exchange is a receive, a send and a copy for each part, in a stream of its own, however
// many nodes there are. What it reads has to be there: it waits for the exchange before it of the
// same part, and behind a phase barrier for those of all parts. Receives wait for nothing: a
// message never waits for its receiver.
#include "passes/expand_exchanges.h"

#include <utility>
#include <vector>

#include "ir/step_builder.h"
#include "passes/analysis/limits.h"
#include "passes/analysis/plan_axes.h"
#include "passes/manager/plan_expander.h"

namespace torc {
namespace {

using Indices = llvm::SmallVector<std::uint32_t, 8>;

/// A part, and how far its exchanges have come.
struct PartProgress {
  std::uint32_t part = 0;
  std::uint32_t color = 0;
  bool down = false;            // to the node opposite
  std::uint32_t done = 0;       // the axes exchanged along, a bit each
  std::uint32_t frame = kNone;  // what holds its blocks between two exchanges
  Indices after;                // what the next exchange waits for: what brought them

  bool started() const { return done != 0; }
};

class Expansion {
 public:
  Expansion(const Program& program, FamilyOrder order)
      : program_(program),
        topology_(program.schedule.topology),
        order_(order),
        builder_(program.schedule) {}

  llvm::Expected<Schedule> run();

 private:
  void makeParts();
  llvm::Error expandPhase(llvm::ArrayRef<PlanOperation> exchanges);
  llvm::Error check(const PlanOperation& exchange, const PartProgress& part) const;
  llvm::Error checkDone(const PartProgress& part) const;
  llvm::Error checkSize(const PartProgress& part);
  void expand(PartProgress& part, std::uint32_t axes);
  void keepAll(PartProgress& part);

  Family familyOf(std::uint32_t axes, bool down) const;
  std::uint32_t blocks(std::uint32_t done, std::uint32_t axes, const Interval& source,
                       const Interval& destination);
  Region region(Buffer buffer, const PartProgress& part, std::uint32_t blocks,
                std::uint32_t frame = kNone) {
    return builder_.region(buffer, {{part.part, 1, blocks}}, frame);
  }
  bool isMoving(std::uint32_t axis) const { return topology_.axes[axis].size > 1; }
  std::uint32_t movingAxes() const;

  const Program& program_;
  const Topology& topology_;
  const FamilyOrder order_;
  StepBuilder builder_;
  std::vector<PartProgress> parts_;
  std::uint32_t phases_ = 0;  // so far
  Indices phase_end_;         // what the exchanges of the phase before end with
};

llvm::Expected<Schedule> Expansion::run() {
  makeParts();
  llvm::Expected<std::vector<PlanPhase>> phases = phasesOf(program_);
  if (!phases) return phases.takeError();
  for (const PlanPhase& exchanges : *phases) {
    if (llvm::Error error = expandPhase(exchanges)) return error;
  }
  for (PartProgress& part : parts_) {
    if (llvm::Error error = checkDone(part)) return error;
    if (!part.started()) keepAll(part);  // there is one node
  }
  return builder_.take();
}

void Expansion::makeParts() {
  const ScheduleView schedule = program_.schedule.view();
  const std::uint32_t count = schedule.partCount();
  for (std::uint32_t part = 0; part < count; ++part) {
    const PartIndex index = schedule.partIndex(part);
    PartProgress progress;
    progress.part = part;
    progress.color = index.color;
    progress.down = index.direction == 1;
    parts_.push_back(std::move(progress));
  }
}

/// Expands the exchanges of one phase, part by part.
llvm::Error Expansion::expandPhase(llvm::ArrayRef<PlanOperation> exchanges) {
  builder_.setPhase(phases_++);
  Indices phase_end;
  for (PartProgress& part : parts_) {
    bool any = false;
    for (const PlanOperation& exchange : exchanges) {
      if (exchange.color != part.color) continue;
      if (llvm::Error error = check(exchange, part)) return error;
      if (!any) part.after.append(phase_end_.begin(), phase_end_.end());
      if (llvm::Error error = checkSize(part)) return error;
      expand(part, exchange.axes);
      any = true;
    }
    if (any) phase_end.append(part.after.begin(), part.after.end());
  }
  phase_end_ = std::move(phase_end);
  return llvm::Error::success();
}

llvm::Error Expansion::check(const PlanOperation& exchange, const PartProgress& part) const {
  for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
    if (!isMoving(axis) || ((exchange.axes & part.done) >> axis & 1) == 0) continue;
    return passError(operationText(topology_, exchange) + ": it has been exchanged on " +
                     llvm::Twine(topology_.axes[axis].name) + " before");
  }
  return llvm::Error::success();
}

llvm::Error Expansion::checkDone(const PartProgress& part) const {
  for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
    if (!isMoving(axis) || part.done >> axis & 1) continue;
    return passError("the plan ends before color " + llvm::Twine(part.color) + " is exchanged on " +
                     llvm::Twine(topology_.axes[axis].name));
  }
  return llvm::Error::success();
}

llvm::Error Expansion::checkSize(const PartProgress& part) {
  const Schedule& schedule = builder_.schedule();
  return checkLimits(schedule.operations.size() + 3,
                     schedule.dependences.size() + 2 * part.after.size());
}

std::uint32_t Expansion::movingAxes() const {
  std::uint32_t axes = 0;
  for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis)
    axes |= static_cast<std::uint32_t>(isMoving(axis)) << axis;
  return axes;
}

/// Appends the exchange of a part along `axes`.
void Expansion::expand(PartProgress& part, std::uint32_t axes) {
  const Interval own = Interval::relative(0);
  const std::uint32_t done = part.done | axes;
  const Buffer from = part.started() ? Buffer::kScratch : Buffer::kIn;
  const bool last = (movingAxes() & ~done) == 0;
  const Buffer to = last ? Buffer::kOut : Buffer::kScratch;
  std::uint32_t frame = kNone;
  if (!last) {
    const auto slot = static_cast<std::uint32_t>(builder_.schedule().frames.size());
    frame = builder_.addFrame({{part.part, 1, blocks(done, 0, own, own)}}, slot);
  }
  const auto received = blocks(part.done, axes, Interval::ofPeer(false), own);
  const auto sent = blocks(part.done, axes, own, Interval::ofPeer(true));
  const auto kept = blocks(part.done, axes, own, own);

  const StepPlace place{builder_.addStream({part.part, 0}), kNone};
  const Family family = familyOf(axes, part.down);
  const std::uint32_t receive =
      builder_.receive(place, region(to, part, received, frame), family, {});
  builder_.send(place, region(from, part, sent, part.frame), family, part.after);
  const std::uint32_t copy = builder_.copy(place, region(to, part, kept, frame),
                                           region(from, part, kept, part.frame), part.after);
  part.done = done;
  part.frame = frame;
  part.after = {receive, copy};
}

/// out = in, where there is one node.
void Expansion::keepAll(PartProgress& part) {
  const Interval own = Interval::relative(0);
  const auto all = blocks(0, (1u << topology_.axis_count) - 1, own, own);
  builder_.copy({builder_.addStream({part.part, 0}), kNone}, region(Buffer::kOut, part, all),
                region(Buffer::kIn, part, all), {});
}

/// The shifts to all nodes that differ on `axes` alone: on rings from the farthest node one way to
/// the farthest the other way, of which `down` has the longer way down where a ring is even.
Family Expansion::familyOf(std::uint32_t axes, bool down) const {
  Family family;
  family.order = order_;
  for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
    const bool along = axes >> axis & 1;
    const auto size = static_cast<std::int32_t>(topology_.axes[axis].size);
    family.count[axis] = along ? topology_.axes[axis].size : 1;
    if (along && topology_.axes[axis].isRing()) {
      family.first[axis] = -(down ? size : size - 1) / 2;
    }
  }
  return family;
}

/// Index of the blocks that an exchange along `axes` moves, those before it having `done` others:
/// along `axes` from the nodes at `source` to those at `destination`.
std::uint32_t Expansion::blocks(std::uint32_t done, std::uint32_t axes, const Interval& source,
                                const Interval& destination) {
  const Interval own = Interval::relative(0);
  Box from, to;
  for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
    if (axes >> axis & 1) {
      from[axis] = source;
      to[axis] = destination;
    } else if (done >> axis & 1) {
      to[axis] = own;
    } else {
      from[axis] = own;
    }
  }
  return builder_.pair(from, to);
}

class ExpandExchanges final : public PlanExpander {
 public:
  explicit ExpandExchanges(const ExpandExchangesPass& options)
      : PlanExpander("expand-exchanges", "turns exchanges into step operations"),
        order_(*this, "order", "in which a node goes through its peers", options.order) {}

 private:
  llvm::Error checkServes(const Program& program) const override {
    const CollectiveRow& row = rowOf(program.schedule.collective);
    if (row.blocks != BlockSpace::kPair) {
      return passError(
          "exchanges serve collectives in which every node has a block for every "
          "other; " +
          llvm::Twine(row.name) + " is none");
    }
    if (program.schedule.topology.isDamaged()) {
      return passError("messages between all nodes cannot avoid the damage");
    }
    return llvm::Error::success();
  }
  llvm::Expected<Schedule> expand(const Program& program) const override {
    return Expansion(program, *order_).run();
  }

  ChoiceOption<FamilyOrder> order_;
};

}  // namespace

llvm::ArrayRef<llvm::StringRef> words(FamilyOrder) {
  static constexpr llvm::StringRef kWords[] = {"fixed", "shuffled"};
  return kWords;
}

std::unique_ptr<Pass> makePass(const ExpandExchangesPass& options) {
  return std::make_unique<ExpandExchanges>(options);
}

}  // namespace torc
