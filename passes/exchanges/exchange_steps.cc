// Makes regions and frames of an exchange.
#include "passes/exchanges/exchange_steps.h"

#include <utility>

namespace torc::passes {

ExchangeSteps::ExchangeSteps(ir::StepBuilder& builder, ExchangePart& part,
                             const ir::PlanOperation& exchange)
    : builder_(builder),
      part_(part),
      axes_(exchange.axisSet()),
      gathers_(exchange.kind == ir::PlanKind::kLeaderGather),
      strided_(exchange.stride > 0),
      split_axis_(strided_ ? exchange.axis : part.halfway),
      stride_(strided_ ? exchange.stride : part.stride) {
  if (part.hasStarted()) from_ = Buffer::kScratch;
  std::uint32_t left = 0;  // remaining axes of an exchange
  for (std::uint32_t axis = 0; axis < topology().axis_count; ++axis) {
    if (topology().axes[axis].size > 1) left |= 1u << axis;
  }
  const std::uint32_t done = doneBehind();
  left &= ~done;
  if (left == 0) return;
  const Interval own = Interval::relative(0);
  const std::uint32_t led = gathers_ ? axes_ : part.led & ~axes_;
  to_ = Buffer::kScratch;
  BlockList held;
  if (strided_) {
    const Interval around = Interval::relative(firstOf(stride_), stride_);
    for (const Interval& source : multipleSources())
      held.push_back(pairOf(done, led, 0, own, own, &source, &around));
  } else {
    held = {pairOf(done, led, 0, own, own)};
  }
  frame_ = newFrame(held);
}

std::uint32_t ExchangeSteps::doneBehind() const {
  if (gathers_) return part_.done;
  return part_.done | (strided_ ? axes_ & ~(1u << split_axis_) : axes_);
}

llvm::SmallVector<Interval, 4> ExchangeSteps::multipleSources() const {
  const std::uint32_t count = topology().axes[split_axis_].size / stride_;
  llvm::SmallVector<Interval, 4> sources;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::int32_t multiple = firstOf(count) + static_cast<std::int32_t>(i);
    sources.push_back(Interval::relative(-multiple * static_cast<std::int32_t>(stride_)));
  }
  return sources;
}

ir::StepPlace ExchangeSteps::newStream() {
  ir::StepPlace place{builder_.addStream({part_.part, 0}), kNone};
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

/// Index of a node's blocks after the exchanges along axes `done`, with a leader along `led`: those
/// from `source` to `destination` on the axes `along` and, if given, from `split_source` to
/// `split_destination` on the split axis.
std::uint32_t ExchangeSteps::pairOf(std::uint32_t done, std::uint32_t led, std::uint32_t along,
                                    const Interval& source, const Interval& destination,
                                    const Interval* split_source,
                                    const Interval* split_destination) {
  const Interval own = Interval::relative(0);
  Box from, to;
  for (std::uint32_t axis = 0; axis < topology().axis_count; ++axis) {
    if (split_source != nullptr && axis == split_axis_) {
      from[axis] = *split_source;
      to[axis] = *split_destination;
    } else if (along >> axis & 1) {
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

std::uint32_t ExchangeSteps::keep(const ir::StepPlace& place) {
  const Interval own = Interval::relative(0);
  BlockList kept;
  if (split_axis_ == kNone) {
    kept = {blocks(own, own)};
  } else if (strided_) {
    kept = {blocks(own, own, own, Interval::relative(firstOf(stride_), stride_))};
  } else {
    for (const Interval& source : multipleSources())
      kept.push_back(blocks(own, own, source, own));
  }
  return builder_.copy(place, behind(kept), before(kept), after());
}

void ExchangeSteps::finish(ir::OperationIndices brought) {
  if (gathers_) {
    part_.led |= axes_;
  } else {
    part_.done = doneBehind();
    part_.led &= ~axes_;
    part_.halfway = strided_ ? split_axis_ : kNone;
    part_.stride = strided_ ? stride_ : 0;
  }
  part_.frame = frame_;
  part_.after = std::move(brought);
}

}  // namespace torc::passes
