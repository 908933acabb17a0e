// Regions and frames of an exchange.
#include "passes/exchanges/exchange_steps.h"

#include <utility>

namespace torc {

ExchangeSteps::ExchangeSteps(StepBuilder& builder, ExchangePart& part,
                             const PlanOperation& exchange)
    : builder_(builder),
      part_(part),
      axes_(exchange.axisSet()),
      gathers_(exchange.kind == PlanKind::kLeaderGather) {
  if (part.hasStarted()) from_ = Buffer::kScratch;
  std::uint32_t left = 0;  // axes that an exchange has still to move along
  for (std::uint32_t axis = 0; axis < topology().axis_count; ++axis) {
    if (topology().axes[axis].size > 1) left |= 1u << axis;
  }
  const std::uint32_t done = gathers_ ? part.done : part.done | axes_;
  left &= ~done;
  if (left == 0) return;
  const Interval own = Interval::relative(0);
  to_ = Buffer::kScratch;
  frame_ = newFrame(pairOf(done, gathers_ ? axes_ : part.led & ~axes_, 0, own, own));
}

StepPlace ExchangeSteps::newStream() {
  StepPlace place{builder_.addStream({part_.part, 0}), kNone};
  for (std::uint32_t axis = 0; axis < topology().axis_count; ++axis) {
    if (part_.led >> axis & 1) place.guard = onlyAt(axis, 0);
  }
  return place;
}

std::uint32_t ExchangeSteps::onlyAt(std::uint32_t axis, std::int32_t coordinate) {
  Box box;
  box[axis] = Interval::absolute(coordinate);
  return builder_.box(box);
}

std::uint32_t ExchangeSteps::blocks(const Interval& source, const Interval& destination) {
  return pairOf(part_.done, part_.led & ~axes_, axes_, source, destination);
}

/// Index of the blocks that a node holds where axes `done` are done and it leads along `led`, of
/// these those from `source` to `destination` on the axes `along`.
std::uint32_t ExchangeSteps::pairOf(std::uint32_t done, std::uint32_t led, std::uint32_t along,
                                    const Interval& source, const Interval& destination) {
  const Interval own = Interval::relative(0);
  Box from, to;
  for (std::uint32_t axis = 0; axis < topology().axis_count; ++axis) {
    if (along >> axis & 1) {
      from[axis] = source;
      to[axis] = destination;
    } else if (done >> axis & 1) {
      to[axis] = own;
    } else if ((led >> axis & 1) == 0) {
      from[axis] = own;
    }
  }
  return builder_.pair(from, to);
}

llvm::SmallVector<Piece, 4> ExchangeSteps::pieces(llvm::ArrayRef<std::uint32_t> blocks) const {
  llvm::SmallVector<Piece, 4> list;
  for (const std::uint32_t pair : blocks)
    list.push_back({part_.part, 1, pair});
  return list;
}

std::uint32_t ExchangeSteps::newFrame(llvm::ArrayRef<std::uint32_t> blocks) {
  const auto slot = static_cast<std::uint32_t>(builder_.schedule().frames.size());
  return builder_.addFrame(pieces(blocks), slot);
}

std::uint32_t ExchangeSteps::keep(const StepPlace& place) {
  const std::uint32_t kept = blocks(Interval::relative(0), Interval::relative(0));
  return builder_.copy(place, behind(kept), before(kept), after());
}

void ExchangeSteps::finish(OperationIndices brought) {
  if (gathers_) {
    part_.led |= axes_;
  } else {
    part_.done |= axes_;
    part_.led &= ~axes_;
  }
  part_.frame = frame_;
  part_.after = std::move(brought);
}

}  // namespace torc
