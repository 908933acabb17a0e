#include "runtime/run/calibration/link_rounds.h"

namespace torc::runtime {
namespace {

/// The round of the link up from `coordinate`; -1 without a link.
int roundOfLink(const Axis& axis, std::int32_t coordinate) {
  const auto size = static_cast<std::int32_t>(axis.size);
  const bool closes = coordinate == size - 1;
  if (size == 1 || (closes && (size == 2 || axis.kind == AxisKind::kMesh))) return -1;
  return closes && size % 2 == 1 ? 2 : coordinate % 2;
}

}  // namespace

int linkRounds(const Axis& axis) {
  if (axis.size <= 2) return axis.size == 2 ? 1 : 0;
  return axis.kind != AxisKind::kMesh && axis.size % 2 == 1 ? 3 : 2;
}

LinkEnd linkEnd(const Axis& axis, std::int32_t coordinate, int round) {
  const auto size = static_cast<std::int32_t>(axis.size);
  if (roundOfLink(axis, coordinate) == round) return LinkEnd::kLow;
  return roundOfLink(axis, (coordinate + size - 1) % size) == round ? LinkEnd::kHigh
                                                                    : LinkEnd::kNone;
}

std::int32_t farthest(const Axis& axis) {
  const auto size = static_cast<std::int32_t>(axis.size);
  return axis.kind == AxisKind::kMesh ? size - 1 : size / 2;
}

int linksOfNode(const Topology& topology) {
  int links = 0;
  for (int axis = 0; axis < topology.dimensions(); ++axis) {
    const Axis& of = topology.axes[static_cast<std::size_t>(axis)];
    if (of.size > 1) links += of.hasOneCable() ? 1 : 2;
  }
  return links;
}

}  // namespace torc::runtime
