// Node classes, and texts for witnesses.
#include "ir/verifier_context.h"

#include "ir/text.h"

namespace torc {

VerifyContext::VerifyContext(const ScheduleView& schedule_view, const VerifyOptions& verify_options,
                             VerifyResult& verify_result)
    : schedule(schedule_view),
      topology(schedule_view.topology),
      options(verify_options),
      result(verify_result),
      parts(schedule_view) {
  for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
    collapsed_[axis] = !options.per_rank && looksTheSame(axis);
    if (!collapsed_[axis]) class_count_ *= topology.axes[axis].size;
  }
  result.classes = class_count_;
}

bool VerifyContext::looksTheSame(std::uint32_t axis) const {
  const Axis& it = topology.axes[axis];
  if (it.size == 1) return true;
  if (!it.wraps()) return false;
  auto restricted = [&](std::uint32_t box) {
    const Interval& interval = schedule.boxes[box][axis];
    return interval.kind == IntervalKind::kAbsolute && interval.length < it.size;
  };
  for (const Operation& operation : schedule.operations) {
    if (operation.guard != kNone && restricted(operation.guard)) return false;
    for (const Region* region : {&operation.dst, &operation.a, &operation.b}) {
      if (region->present() && restricted(region->box)) return false;
    }
  }
  for (const Frame& frame : schedule.frames) {
    if (restricted(frame.box)) return false;
  }
  return true;
}

Coordinates VerifyContext::coordinatesOf(std::uint32_t node_class) const {
  Coordinates at{};
  for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
    if (collapsed_[axis]) continue;
    at[axis] = static_cast<std::int32_t>(node_class % topology.axes[axis].size);
    node_class /= topology.axes[axis].size;
  }
  return at;
}

std::uint32_t VerifyContext::neighbour(std::uint32_t node_class, const Shift& shift,
                                       Coordinates& collapsed_distance) const {
  const Coordinates at = coordinatesOf(node_class);
  std::uint32_t neighbour_class = 0;
  std::uint32_t stride = 1;
  for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
    const std::uint32_t size = topology.axes[axis].size;
    collapsed_distance[axis] = collapsed_[axis] ? shift[axis] : 0;
    if (collapsed_[axis]) continue;
    neighbour_class += stride * wrap(static_cast<std::int64_t>(at[axis]) + shift[axis], size);
    stride *= size;
  }
  return neighbour_class;
}

bool VerifyContext::executes(std::uint32_t node_class, const Operation& operation) const {
  return operation.guard == kNone ||
         admits(schedule.boxes[operation.guard], topology, coordinatesOf(node_class));
}

Ranges VerifyContext::rangesOf(const Region& region, const Coordinates& at) const {
  return resolve(schedule.boxes[region.box], topology, at);
}

std::string VerifyContext::rankText(const Coordinates& at) const {
  std::string text = "rank " + std::to_string(topology.rankOf(at)) + " (";
  for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
    if (axis > 0) text += ", ";
    text += static_cast<char>(topology.axes[axis].name - 'A' + 'a');
    text += "=" + std::to_string(at[axis]);
  }
  return text + ")";
}

std::string VerifyContext::blockText(const Coordinates& at) const {
  return "the block of " + rankText(at);
}

void VerifyContext::fault(Rule rule, std::uint32_t operation, const std::string& message) {
  if (!full()) result.faults.push_back({rule, operation, message});
}

}  // namespace torc
