// Turns a plan into steps: the exchanges of every color, one group of axes after another. On all
// axes at once they are the direct all-to-all; on X and then on YZ the two-phase schedule; on one
// axis after another the virtual mesh, which combines messages ("Optimization of All-to-All
// Communication on the Blue Gene/L Supercomputer"). Exchanges along one axis may go around its
// rings, from neighbour to neighbour, or use the fewest messages (Bruck). passes/exchanges/ has the
// steps of each.
//
// Order. An exchange waits for the exchange before it of the same part, and after a phase barrier
// for those of all parts; around a ring, for those of other colors on the same axis instead.
#include "passes/expand_exchanges.h"

#include <array>
#include <bit>
#include <utility>
#include <vector>

#include "ir/make_error.h"
#include "passes/analysis/exact_dependences.h"
#include "passes/analysis/limits.h"
#include "passes/analysis/plan_axes.h"
#include "passes/analysis/plan_expander.h"
#include "passes/detours/stand_ins.h"
#include "passes/exchanges/bruck_alltoall.h"
#include "passes/exchanges/exchange.h"
#include "passes/exchanges/leader.h"
#include "passes/exchanges/ring_alltoall.h"

namespace torc::passes {
namespace {

class ExchangeExpansion {
 public:
  ExchangeExpansion(const ir::Program& program, PeerOrder order, std::uint32_t window)
      : program_(program),
        topology_(program.schedule.topology),
        order_(order),
        window_(window),
        builder_(program.schedule) {}

  llvm::Expected<Schedule> run();

 private:
  void makeParts();
  llvm::Error expandPhase(llvm::ArrayRef<ir::PlanOperation> exchanges);
  llvm::Error check(const ir::PlanOperation& exchange, const ExchangePart& part) const;
  llvm::Error checkDone(const ExchangePart& part) const;
  llvm::Error checkSize(const ir::PlanOperation& exchange, const ExchangePart& part);
  void keepAll(ExchangePart& part);
  bool isMoving(std::uint32_t axis) const { return topology_.axes[axis].size > 1; }
  /// Axes of more than one node, a bit each.
  std::uint32_t all() const {
    std::uint32_t set = 0;
    for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis)
      set |= isMoving(axis) ? 1u << axis : 0;
    return set;
  }
  /// Whether it goes around a ring: along a line, or among cores, it is an exchange.
  bool goesRound(const ir::PlanOperation& exchange) const {
    return exchange.kind == ir::PlanKind::kRingAlltoall && topology_.axes[exchange.axis].isRing();
  }

  const ir::Program& program_;
  const Topology& topology_;
  const PeerOrder order_;
  const std::uint32_t window_;  // 0: all
  ir::StepBuilder builder_;
  std::vector<ExchangePart> parts_;
  std::uint32_t phases_ = 0;        // so far
  ir::OperationIndices phase_end_;  // last operations of the exchanges of the phase before
  std::array<ir::OperationIndices, kMaxAxes>
      link_end_;  // of earlier phases, around rings of an axis
};

llvm::Expected<Schedule> ExchangeExpansion::run() {
  makeParts();
  llvm::Expected<std::vector<PlanPhase>> phases = phasesOf(program_);
  if (!phases) return phases.takeError();
  for (const PlanPhase& exchanges : *phases) {
    if (llvm::Error error = expandPhase(exchanges)) return error;
  }
  for (ExchangePart& part : parts_) {
    if (llvm::Error error = checkDone(part)) return error;
    if (!part.hasStarted()) keepAll(part);  // there is one node
  }
  if (topology_.isDamaged()) return withDependences(addStandIns(builder_.take()));
  return builder_.take();
}

void ExchangeExpansion::makeParts() {
  const ScheduleView schedule = program_.schedule.view();
  const std::uint32_t count = schedule.partCount();
  for (std::uint32_t part = 0; part < count; ++part) {
    const PartIndex index = schedule.partIndex(part);
    ExchangePart progress;
    progress.part = part;
    progress.color = index.color;
    progress.down = index.direction == 1;
    parts_.push_back(std::move(progress));
  }
}

/// Expands the exchanges of one phase, part by part.
llvm::Error ExchangeExpansion::expandPhase(llvm::ArrayRef<ir::PlanOperation> exchanges) {
  builder_.setPhase(phases_++);
  ir::OperationIndices phase_end;
  std::array<ir::OperationIndices, kMaxAxes> link_end;
  for (ExchangePart& part : parts_) {
    bool any = false, waits_for_phase = false;
    for (const ir::PlanOperation& exchange : exchanges) {
      if (exchange.color != part.color) continue;
      if (llvm::Error error = check(exchange, part)) return error;
      const bool ring = goesRound(exchange);
      if (!ring && !waits_for_phase) {
        part.after.append(phase_end_.begin(), phase_end_.end());
        waits_for_phase = true;
      }
      if (llvm::Error error = checkSize(exchange, part)) return error;
      ExchangeSteps steps(builder_, part, exchange);
      if (exchange.isOfLeader()) {
        expandOfLeader(steps, exchange.axis);
      } else if (ring) {
        link_end[exchange.axis].append(
            expandRingAlltoall(steps, exchange.axis, link_end_[exchange.axis]));
      } else if (exchange.kind == ir::PlanKind::kBruckAlltoall &&
                 topology_.axes[exchange.axis].wraps()) {
        expandBruckAlltoall(steps, exchange.axis);
      } else {
        expandExchange(steps, order_, window_);
      }
      any = true;
    }
    if (any) phase_end.append(part.after.begin(), part.after.end());
  }
  phase_end_ = std::move(phase_end);
  for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
    if (!link_end[axis].empty()) link_end_[axis] = std::move(link_end[axis]);
  }
  return llvm::Error::success();
}

llvm::Error ExchangeExpansion::check(const ir::PlanOperation& exchange,
                                     const ExchangePart& part) const {
  const auto fault = [&](const llvm::Twine& what) {
    return makeError(operationText(topology_, exchange) + ": " + what);
  };
  const bool scatters = exchange.kind == ir::PlanKind::kLeaderScatter;
  if (exchange.isOfLeader() && topology_.axes[exchange.axis].kind != AxisKind::kCore)
    return fault("only cores have a leader");
  if (exchange.kind == ir::PlanKind::kLeaderGather && part.hasStarted())
    return fault("a leader gathers before all exchanges");
  if (scatters && (exchange.axisSet() & part.led) == 0) return fault("no leader has gathered");
  if (scatters && ((part.done | part.led) & all()) != all())
    return fault("a leader scatters after all exchanges");
  if (!exchange.isOfLeader() && (exchange.axisSet() & part.led) != 0)
    return fault("its leader has all of it");
  if (exchange.stride > 0 && !topology_.axes[exchange.axis].isRing())
    return fault("only a ring takes a stride");
  if (part.halfway != kNone && (exchange.kind != ir::PlanKind::kExchange || exchange.stride > 0 ||
                                (exchange.axes >> part.halfway & 1) == 0)) {
    return fault("an exchange on " + llvm::Twine(topology_.axes[part.halfway].name) +
                 " has to complete the one with a stride before it");
  }
  for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
    if (!isMoving(axis) || ((exchange.axisSet() & part.done) >> axis & 1) == 0) continue;
    return makeError(operationText(topology_, exchange) + ": it has been exchanged on " +
                     llvm::Twine(topology_.axes[axis].name) + " before");
  }
  return llvm::Error::success();
}

llvm::Error ExchangeExpansion::checkDone(const ExchangePart& part) const {
  for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
    if (!isMoving(axis) || part.done >> axis & 1) continue;
    return makeError("the plan ends before color " + llvm::Twine(part.color) + " is exchanged on " +
                     llvm::Twine(topology_.axes[axis].name));
  }
  return llvm::Error::success();
}

llvm::Error ExchangeExpansion::checkSize(const ir::PlanOperation& exchange,
                                         const ExchangePart& part) {
  const Schedule& schedule = builder_.schedule();
  std::uint64_t operations = 3, dependences = 2 * part.after.size();
  if (exchange.stride > 0 || part.halfway != kNone) {
    const std::uint32_t peer_loops =
        exchange.stride > 0 ? topology_.axes[exchange.axis].size / exchange.stride : part.stride;
    operations = 2 * std::uint64_t{peer_loops} + 1;
    dependences *= operations;
  }
  if (exchange.kind == ir::PlanKind::kBruckAlltoall) {
    operations *= std::bit_width(topology_.axes[exchange.axis].size);
    dependences += 4 * operations;
  }
  if (exchange.isOfLeader()) {
    operations = 2 * std::uint64_t{topology_.axes[exchange.axis].size};
    dependences *= operations;
  }
  if (goesRound(exchange)) {
    const auto size = sizeOfRingAlltoall(topology_.axes[exchange.axis].size,
                                         part.after.size() + link_end_[exchange.axis].size());
    operations = size.operations;
    dependences = size.dependences;
  }
  return checkLimits(schedule.operations.size() + operations,
                     schedule.dependences.size() + dependences);
}

/// out = in, if there is one node.
void ExchangeExpansion::keepAll(ExchangePart& part) {
  ir::PlanOperation exchange{ir::PlanKind::kExchange, part.color};
  exchange.axes = (1u << topology_.axis_count) - 1;
  ExchangeSteps steps(builder_, part, exchange);
  steps.keep(steps.newStream());
}

class ExpandExchanges final : public PlanExpander {
 public:
  explicit ExpandExchanges(const ExpandExchangesPass& options)
      : PlanExpander("expand-exchanges", "turns exchanges into step operations"),
        order_(*this, "order", "in which a node goes through its peers", options.order),
        window_(*this, "window", "messages that it sends at a time", 1, kMaxWindow, options.window,
                "all") {}

 private:
  llvm::Error checkServes(const ir::Program& program) const override {
    const CollectiveRow& row = rowOf(program.schedule.collective);
    if (row.blocks != BlockSpace::kPair) {
      return makeError(
          "exchanges serve collectives in which every node has a block for every "
          "other; " +
          llvm::Twine(row.name) + " is none");
    }
    return llvm::Error::success();
  }
  llvm::Expected<Schedule> expand(const ir::Program& program) const override {
    return ExchangeExpansion(program, *order_, *window_).run();
  }

  ChoiceOption<PeerOrder> order_;
  IntegerOption window_;
};

}  // namespace

std::unique_ptr<Pass> makePass(const ExpandExchangesPass& options) {
  return std::make_unique<ExpandExchanges>(options);
}

}  // namespace torc::passes

llvm::ArrayRef<llvm::StringRef> torc::words(PeerOrder) {
  static constexpr llvm::StringRef kWords[] = {"fixed", "shuffled"};
  return kWords;
}
