// Shapes, rank order and neighbours of a torus or mesh partition.
#include "schedules/topology/topology.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <vector>

#include "schedules/faults/reject.h"
#include "schedules/topology/damage.h"
#include "support/message.h"

namespace torc {
namespace {

constexpr std::uint64_t kMaxRanks = std::numeric_limits<std::int32_t>::max();

/// Reads the size at `position`; on success moves `position` past it.
std::uint32_t readSize(std::string_view shape, std::size_t& position) {
  const char* begin = shape.data() + position;
  const char* end = shape.data() + shape.size();
  std::uint64_t value = 0;
  const auto [stop, error] = std::from_chars(begin, end, value);
  rejectIf(stop == begin, begin == end ? "a size is missing" : "a size was expected");
  rejectIf(error != std::errc() || value > kMaxRanks, "this size is too large (largest ", kMaxRanks,
           ")");
  rejectIf(value == 0, "a size must be at least 1");
  position += static_cast<std::size_t>(stop - begin);
  return static_cast<std::uint32_t>(value);
}

void validateAxes(const Topology& topology) {
  const std::uint32_t count = topology.axis_count;
  rejectIf(count < 1 || count > kMaxAxes, "has ", count, " axes, must have 1 to ", kMaxAxes);
  std::uint64_t product = 1;
  std::uint32_t ordered = 0;
  for (std::uint32_t i = 0; i < kMaxAxes; ++i) {
    const Axis& axis = topology.axes[i];
    const std::uint8_t next = topology.order[i];
    rejectIf(axis.detours > 1 || axis.reserved != 0, "axis ", i, ": reserved bytes");
    if (i >= count) {
      rejectIf(axis != Axis{} || std::signbit(axis.latency) || next != 0, "axis ", i,
               " is unused but not blank");
      continue;
    }
    rejectIf(axis.size < 1, "axis ", i, ": size must be at least 1");
    rejectIf(axis.kind > AxisKind::kCore, "axis ", i, ": unknown kind");
    const bool core = axis.kind == AxisKind::kCore;
    rejectIf(core && i + 1 != count, "cores must be the last axis");
    rejectIf(core != (axis.name == kCoreAxisName), "axis ", i,
             ": the name T is for cores, and for them alone");
    rejectIf(axis.name < 'A' || axis.name > 'Z', "axis ", i, ": name must be A to Z");
    rejectIf(topology.axisNamed(axis.name) < i, "two axes named ", axis.name);
    rejectIf(!(std::isfinite(axis.bandwidth) && axis.bandwidth > 0), "axis ", i,
             ": bandwidth must be a positive number");
    rejectIf(!(std::isfinite(axis.latency) && axis.latency >= 0) || std::signbit(axis.latency),
             "axis ", i, ": latency must be zero or a positive number");
    product *= axis.size;
    rejectIf(product > kMaxRanks, "more than ", kMaxRanks, " ranks");
    rejectIf(next >= count || (ordered >> next & 1), "the rank order must name every axis once");
    ordered |= 1u << next;
  }
  const int dimensions = topology.dimensions();
  rejectIf(dimensions < 1, "needs a network dimension besides the cores");
  rejectIf(dimensions > kMaxDimensions, "has ", dimensions, " dimensions, at most ",
           kMaxDimensions);
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
  return statusOf([&] {
           validateAxes(*this);
           validateDamage(*this);
         })
      .annotated("topology");
}

StatusOr<std::array<std::uint8_t, kMaxAxes>> parseOrder(const Topology& topology,
                                                        std::string_view order) {
  std::array<std::uint8_t, kMaxAxes> result{};
  const Status status = statusOf([&] {
    rejectIf(order.size() != topology.axis_count, "names every axis exactly once, please");
    std::uint32_t seen = 0;
    for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
      const std::uint32_t axis = topology.axisNamed(order[i]);
      rejectIf(axis == topology.axis_count, "no axis '", order[i], "'");
      rejectIf(seen >> axis & 1, "axis '", order[i], "' occurs twice");
      seen |= 1u << axis;
      result[i] = static_cast<std::uint8_t>(axis);
    }
  });
  if (status.ok()) return result;
  std::string names;
  for (std::uint32_t i = 0; i < topology.axis_count; ++i)
    names += topology.axes[i].name;
  return Status(StatusCode::kInvalidArgument,
                message("order '", order, "': ", status.message(), " (the axes are ", names, ")"));
}

StatusOr<Topology> parseTopology(std::string_view shape, std::string_view order) {
  Topology topology;
  std::size_t position = 0;  // of a fault, too
  const Status status = statusOf([&] {
    std::uint64_t product = 1;
    for (bool cores = false;;) {
      const std::uint32_t i = topology.axis_count;
      rejectIf(!cores && i == kMaxDimensions, "more than ", kMaxDimensions, " dimensions");
      Axis& axis = topology.axes[i];
      const std::size_t begin = position;
      axis.size = readSize(shape, position);
      axis.name = cores ? kCoreAxisName : kAxisNames[i];
      if (cores) axis.kind = AxisKind::kCore;
      topology.order[i] = static_cast<std::uint8_t>(i);
      ++topology.axis_count;
      product *= axis.size;
      if (product > kMaxRanks) {
        position = begin;
        reject("the sizes multiply to more than ", kMaxRanks, " ranks");
      }
      if (!cores && position < shape.size() && shape[position] == 'm') {
        axis.kind = AxisKind::kMesh;
        ++position;
      }
      if (position == shape.size()) break;
      rejectIf(cores, "nothing may follow the cores");
      rejectIf(shape[position] != 'x' && shape[position] != '+',
               "'x', 'm' or '+' was expected after a size");
      cores = shape[position++] == '+';
    }
  });
  if (!status.ok()) {
    return Status(
        StatusCode::kInvalidArgument,
        message("torus '", shown(shape), "': ", status.message(), " (column ", position + 1, ")"));
  }
  if (!order.empty()) {
    const auto parsed = parseOrder(topology, order);
    if (!parsed.ok()) return parsed.status();
    topology.order = *parsed;
  }
  return topology;
}

}  // namespace torc
