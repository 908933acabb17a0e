// Computes offsets and guards of ring steps.
#include "passes/analysis/ring_steps.h"

#include <utility>

namespace torc::passes {
namespace {

/// Direction + of a ring.
LineStep forwardOnRing(ir::PlanKind kind, std::int32_t size, std::int32_t step) {
  const Nodes all{0, size - 1};
  LineStep line;
  line.senders = line.receivers = all;
  if (kind == ir::PlanKind::kRingReduceScatter) {
    line.sent = -1 - step;
    line.received = (-2 - step) % size;  // x itself, rather than x-d, at the end
  } else {
    line.sent = -step;
    line.received = -1 - step;
  }
  if (step == 0) line.sources = all;
  return line;
}

/// Line + of an axis.
LineStep forwardOnLine(ir::PlanKind kind, std::int32_t size, std::int32_t step) {
  LineStep line;
  if (kind == ir::PlanKind::kRingReduceScatter) {
    const std::int32_t k = size - 2 - step;
    line.sent = 1 + k;
    line.received = k;
    line.senders = {0, size - 2 - k};
    line.receivers = {1, size - 1 - k};
    line.sources = {0, 0};  // no node sends to node 0 on this line
  } else {
    line.sent = -step;
    line.received = -1 - step;
    line.senders = {step, size - 2};
    line.receivers = {step + 1, size - 1};
    if (step == 0) line.sources = line.senders;
  }
  return line;
}

/// Way + of a ring, in half the steps.
LineStep forwardHalfAround(ir::PlanKind kind, std::int32_t size, std::int32_t step) {
  const Nodes all{0, size - 1};
  const std::int32_t hops = size / 2;
  LineStep line;
  line.senders = line.receivers = all;
  std::int32_t distance = 0;  // of the block's owner from the farther node
  if (kind == ir::PlanKind::kRingReduceScatter) {
    distance = hops - step;
    line.sent = distance;
    line.received = distance - 1;
  } else {
    distance = step + 1;
    line.sent = -step;
    line.received = -distance;
  }
  if (step == 0) line.sources = all;
  line.half = 2 * distance == size;
  return line;
}

/// The mirror image of a step on the axis: x becomes size-1-x.
LineStep mirrored(LineStep line, std::int32_t size) {
  line.sign = -line.sign;
  line.sent = -line.sent;
  line.received = -line.received;
  for (Nodes* nodes : {&line.senders, &line.receivers, &line.sources}) {
    if (!nodes->none()) *nodes = {size - 1 - nodes->last, size - 1 - nodes->first};
  }
  return line;
}

/// The mirror image of a step on the ring about node 0: x becomes -x.
LineStep turned(LineStep line) {
  line.sign = -line.sign;
  line.sent = -line.sent;
  line.received = -line.received;
  for (Nodes* nodes : {&line.senders, &line.receivers, &line.sources}) {
    if (!nodes->none()) *nodes = {-nodes->last, -nodes->first};
  }
  return line;
}

}  // namespace

RingStep ringStep(ir::PlanKind kind, std::uint32_t size, bool is_line, std::uint32_t direction,
                  std::uint32_t step) {
  const auto nodes = static_cast<std::int32_t>(size);
  const auto number = static_cast<std::int32_t>(step);
  if (is_line) {
    const LineStep line = forwardOnLine(kind, nodes, number);
    return {line, mirrored(line, nodes)};
  }
  const LineStep line = forwardOnRing(kind, nodes, number);
  return {direction == 0 ? line : mirrored(line, nodes)};
}

RingStep scatterStep(std::uint32_t size, bool both_ways, std::uint32_t direction,
                     std::uint32_t step) {
  const auto hops = static_cast<std::int32_t>(both_ways ? size / 2 : size - 1);
  const auto number = static_cast<std::int32_t>(step);
  const bool has_half = both_ways && size % 2 == 0;
  RingStep forward;
  const auto add = [&](const Nodes& senders, bool half) {
    if (senders.none()) return;
    LineStep line;
    line.sent = hops - number;
    line.received = line.sent - 1;
    line.senders = senders;
    line.receivers = {senders.first + 1, senders.last + 1};
    if (senders.first == 0) line.sources = {0, 0};
    line.half = half;
    forward.push_back(line);
  };
  add({0, has_half ? number - 1 : number}, false);
  if (has_half) add({number, number}, true);
  RingStep all;
  if (both_ways || direction == 0) all = forward;
  if (both_ways || direction == 1) {
    for (const LineStep& line : forward)
      all.push_back(turned(line));
  }
  return all;
}

RingStep gatherStep(std::uint32_t size, bool both_ways, std::uint32_t direction,
                    std::uint32_t step) {
  const std::uint32_t last = (both_ways ? size / 2 : size - 1) - 1;
  RingStep lines = scatterStep(size, both_ways, direction, last - step);
  for (LineStep& line : lines) {
    line.sign = -line.sign;
    std::swap(line.sent, line.received);
    std::swap(line.senders, line.receivers);
    line.sources = step == 0 ? line.senders : Nodes();
  }
  return lines;
}

RingStep halfLatencyStep(ir::PlanKind kind, std::uint32_t size, std::uint32_t step) {
  const auto nodes = static_cast<std::int32_t>(size);
  const LineStep line = forwardHalfAround(kind, nodes, static_cast<std::int32_t>(step));
  return {line, mirrored(line, nodes)};
}

}  // namespace torc::passes
