// Shapes, rank order and neighbours of a torus or mesh partition.
#include "schedules/topology/topology.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <vector>

#include "schedules/topology/damage.h"
#include "support/message.h"

namespace torc {
namespace {

constexpr std::uint64_t kMaxRanks = std::numeric_limits<std::int32_t>::max();

/// Error for a shape that does not parse: the fault and its column.
Status shapeError(std::string_view shape, std::size_t column, const std::string& what) {
  return Status(StatusCode::kInvalidArgument, "torus '" + shown(shape) + "': " + what +
                                                  " (column " + std::to_string(column + 1) + ")");
}

/// Reads the size at `position`; on success moves `position` past it.
Status readSize(std::string_view shape, std::size_t& position, std::uint32_t& size) {
  const char* begin = shape.data() + position;
  const char* end = shape.data() + shape.size();
  std::uint64_t value = 0;
  auto [stop, error] = std::from_chars(begin, end, value);
  if (stop == begin) {
    return shapeError(shape, position,
                      position == shape.size() ? "a size is missing" : "a size was expected");
  }
  if (error != std::errc() || value > kMaxRanks) {
    return shapeError(shape, position,
                      "this size is too large (largest " + std::to_string(kMaxRanks) + ")");
  }
  if (value == 0) return shapeError(shape, position, "a size must be at least 1");
  size = static_cast<std::uint32_t>(value);
  position += static_cast<std::size_t>(stop - begin);
  return {};
}

}  // namespace

std::uint64_t Topology::sites() const {
  std::uint64_t product = 1;
  for (std::uint32_t i = 0; i < axis_count; ++i)
    product *= axes[i].size;
  return product;
}

int Topology::dimensions() const {
  return static_cast<int>(axis_count) - (hasCores() ? 1 : 0);
}

bool Topology::hasCores() const {
  return axis_count > 0 && axes[axis_count - 1].kind == AxisKind::kCore;
}

std::int32_t Topology::siteOf(const Coordinates& at) const {
  std::int64_t site = 0;
  for (std::uint32_t i = axis_count; i-- > 0;) {
    site = site * axes[order[i]].size + at[order[i]];
  }
  return static_cast<std::int32_t>(site);
}

Coordinates Topology::coordinatesOfSite(std::int32_t site) const {
  Coordinates at{};
  auto rest = static_cast<std::uint32_t>(site);
  for (std::uint32_t i = 0; i < axis_count; ++i) {
    const std::uint32_t size = axes[order[i]].size;
    at[order[i]] = static_cast<std::int32_t>(rest % size);
    rest /= size;
  }
  return at;
}

std::uint32_t Topology::axisNamed(char name) const {
  std::uint32_t axis = 0;
  while (axis < axis_count && axes[axis].name != name)
    ++axis;
  return axis;
}

Coordinates Topology::moved(Coordinates from, const Coordinates& shift) const {
  for (std::uint32_t i = 0; i < axis_count; ++i)
    from[i] = static_cast<std::int32_t>(wrap(std::int64_t{from[i]} + shift[i], axes[i].size));
  return from;
}

std::int32_t Topology::neighbour(const Coordinates& from, const Coordinates& shift) const {
  const Coordinates to = moved(from, shift);
  for (std::uint32_t i = 0; i < axis_count; ++i) {
    if (!axes[i].wraps() && to[i] != std::int64_t{from[i]} + shift[i]) return -1;
  }
  return rankOf(to);
}

std::string Topology::shape() const {
  std::string text;
  for (std::uint32_t i = 0; i < axis_count; ++i) {
    if (axes[i].kind == AxisKind::kCore) {
      text += '+';
    } else if (i > 0) {
      text += 'x';
    }
    text += std::to_string(axes[i].size);
    if (axes[i].kind == AxisKind::kMesh) text += 'm';
  }
  return text;
}

bool sameRankOrder(const Topology& a, const Topology& b) {
  const auto counted = [](const Topology& topology) {
    std::vector<std::uint8_t> axes;
    for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
      if (topology.axes[topology.order[i]].size > 1) axes.push_back(topology.order[i]);
    }
    return axes;
  };
  return counted(a) == counted(b);
}

std::string Topology::orderString() const {
  std::string text;
  for (std::uint32_t i = 0; i < axis_count; ++i)
    text += axes[order[i]].name;
  return text;
}

Status Topology::validate() const {
  auto error = [](const std::string& what) {
    return Status(StatusCode::kMalformed, "topology: " + what);
  };
  if (axis_count < 1 || axis_count > kMaxAxes) {
    return error("has " + std::to_string(axis_count) + " axes, must have 1 to " +
                 std::to_string(kMaxAxes));
  }
  std::uint64_t product = 1;
  std::uint32_t ordered = 0;
  for (std::uint32_t i = 0; i < kMaxAxes; ++i) {
    const Axis& axis = axes[i];
    const std::string label = "axis " + std::to_string(i);
    if (axis.detours > 1 || axis.reserved != 0) return error(label + ": reserved bytes");
    if (i >= axis_count) {
      if (!(axis == Axis{}) || std::signbit(axis.latency) || order[i] != 0)
        return error(label + " is unused but not blank");
      continue;
    }
    if (axis.size < 1) return error(label + ": size must be at least 1");
    if (static_cast<std::uint8_t>(axis.kind) > static_cast<std::uint8_t>(AxisKind::kCore)) {
      return error(label + ": unknown kind");
    }
    const bool core = axis.kind == AxisKind::kCore;
    if (core && i + 1 != axis_count) return error("cores must be the last axis");
    if (core != (axis.name == kCoreAxisName)) {
      return error(label + ": the name T is for cores, and for them alone");
    }
    if (axis.name < 'A' || axis.name > 'Z') return error(label + ": name must be A to Z");
    for (std::uint32_t j = 0; j < i; ++j) {
      if (axes[j].name == axis.name) return error(std::string("two axes named ") + axis.name);
    }
    if (!(std::isfinite(axis.bandwidth) && axis.bandwidth > 0)) {
      return error(label + ": bandwidth must be a positive number");
    }
    if (!(std::isfinite(axis.latency) && axis.latency >= 0) || std::signbit(axis.latency)) {
      return error(label + ": latency must be zero or a positive number");
    }
    product *= axis.size;
    if (product > kMaxRanks) {
      return error("more than " + std::to_string(kMaxRanks) + " ranks");
    }
    if (order[i] >= axis_count || (ordered >> order[i] & 1)) {
      return error("the rank order must name every axis once");
    }
    ordered |= 1u << order[i];
  }
  if (dimensions() < 1) return error("needs a network dimension besides the cores");
  if (dimensions() > kMaxDimensions) {
    return error("has " + std::to_string(dimensions()) + " dimensions, at most " +
                 std::to_string(kMaxDimensions));
  }
  return validateDamage(*this).annotated("topology");
}

StatusOr<std::array<std::uint8_t, kMaxAxes>> parseOrder(const Topology& topology,
                                                        std::string_view order) {
  auto error = [&](const std::string& what) {
    std::string names;
    for (std::uint32_t i = 0; i < topology.axis_count; ++i)
      names += topology.axes[i].name;
    return Status(StatusCode::kInvalidArgument,
                  "order '" + std::string(order) + "': " + what + " (the axes are " + names + ")");
  };
  if (order.size() != topology.axis_count) return error("names every axis exactly once, please");
  std::array<std::uint8_t, kMaxAxes> result{};
  std::uint32_t seen = 0;
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    const std::uint32_t axis = topology.axisNamed(order[i]);
    if (axis == topology.axis_count) return error(std::string("no axis '") + order[i] + "'");
    if (seen >> axis & 1) return error(std::string("axis '") + order[i] + "' occurs twice");
    seen |= 1u << axis;
    result[i] = static_cast<std::uint8_t>(axis);
  }
  return result;
}

StatusOr<Topology> parseTopology(std::string_view shape, std::string_view order) {
  Topology topology;
  std::size_t position = 0;
  std::uint64_t product = 1;
  for (bool more = true, cores = false; more;) {
    const std::uint32_t i = topology.axis_count;
    if (!cores && i == kMaxDimensions) {
      return shapeError(shape, position,
                        "more than " + std::to_string(kMaxDimensions) + " dimensions");
    }
    Axis& axis = topology.axes[i];
    const std::size_t begin = position;
    if (Status status = readSize(shape, position, axis.size); !status.ok()) return status;
    axis.name = cores ? kCoreAxisName : kAxisNames[i];
    if (cores) axis.kind = AxisKind::kCore;
    topology.order[i] = static_cast<std::uint8_t>(i);
    ++topology.axis_count;
    product *= axis.size;
    if (product > kMaxRanks) {
      return shapeError(shape, begin,
                        "the sizes multiply to more than " + std::to_string(kMaxRanks) + " ranks");
    }
    if (!cores && position < shape.size() && shape[position] == 'm') {
      axis.kind = AxisKind::kMesh;
      ++position;
    }
    if (position == shape.size()) {
      more = false;
    } else if (!cores && (shape[position] == 'x' || shape[position] == '+')) {
      cores = shape[position] == '+';
      ++position;
    } else {
      return shapeError(
          shape, position,
          cores ? "nothing may follow the cores" : "'x', 'm' or '+' was expected after a size");
    }
  }
  if (!order.empty()) {
    const auto parsed = parseOrder(topology, order);
    if (!parsed.ok()) return parsed.status();
    topology.order = *parsed;
  }
  return topology;
}

}  // namespace torc
