// Topology: the shape of a torus or mesh partition and how ranks lie on it.
//
// Axes are the 1 to 7 network dimensions (X, Y, Z, U, V, W, S by default) and,
// last, an optional axis T: the cores of a node. A node's coordinates give its
// rank by an order string, fastest axis first, as in Blue Gene's mapping files:
// "XYZ" means rank = x + X*(y + Y*z).
#ifndef TORC_SCHEDULES_TOPOLOGY_H_
#define TORC_SCHEDULES_TOPOLOGY_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "schedules/status.h"

namespace torc {

inline constexpr int kMaxDimensions = 7;             // network dimensions
inline constexpr int kMaxAxes = kMaxDimensions + 1;  // and the cores of a node

/// Coordinates along every axis; axes that the topology does not have are 0.
using Coordinates = std::array<std::int32_t, kMaxAxes>;

enum class AxisKind : std::uint8_t {
  kTorus = 0,  // wraps around
  kMesh = 1,   // a line: no link between the ends. A line of two is a ring of two whose two ways
               // round share one cable: it wraps.
  kCore = 2,   // the cores of a node; every core reaches every other, so that it
               // wraps too
};

/// One axis, as it stands in memory and in a file.
struct Axis {
  std::uint32_t size = 1;
  AxisKind kind = AxisKind::kTorus;
  char name = 'X';
  std::uint8_t reserved[2] = {};
  double bandwidth = 1.0;  // of one link in one direction, relative to the others; > 0
  double latency = 0.0;    // seconds per hop; >= 0

  /// Whether coordinates count modulo the size.
  bool wraps() const { return kind != AxisKind::kMesh || size <= 2; }
  /// Whether the two ways round use cables of their own.
  bool isRing() const { return kind == AxisKind::kTorus && size > 1; }
  /// What the axis carries compared with a ring of bandwidth 1: c_i of the bounds. A line has no
  /// way round, so that its ends do with half the links; 0 for a core axis, which is no network.
  double capacity() const {
    return kind == AxisKind::kCore ? 0.0 : kind == AxisKind::kTorus ? bandwidth : bandwidth / 2;
  }
  bool operator==(const Axis&) const = default;
};
static_assert(sizeof(Axis) == 24);

/// A torus or mesh. A plain value; `validate` says whether it makes sense.
struct Topology {
  std::uint32_t axis_count = 0;
  std::uint32_t reserved = 0;
  std::array<Axis, kMaxAxes> axes{};
  std::array<std::uint8_t, kMaxAxes> order{};  // order[0] is the axis that varies fastest with rank

  /// Number of ranks: the product of the sizes. Valid topologies fit 31 bits.
  std::uint64_t ranks() const;
  /// Network dimensions: the axes that are not cores.
  int dimensions() const;
  bool hasCores() const;

  std::int32_t rankOf(const Coordinates& at) const;
  Coordinates coordinatesOf(std::int32_t rank) const;

  /// The rank at `from` + `shift`; -1 where that leaves a mesh.
  std::int32_t neighbour(const Coordinates& from, const Coordinates& shift) const;

  /// "4x3mx2+4": sizes joined by x, `m` after a mesh dimension, `+` before the
  /// cores.
  std::string shape() const;
  /// "XYZT".
  std::string orderString() const;

  Status validate() const;
  bool operator==(const Topology&) const = default;
};

/// Reads "8x8x8", "8x8x4m", "8x8x8+4". `order` may be empty (axes in their
/// natural order) or name every axis once. Errors name the place: `torus '4x':
/// size missing after 'x' (column 3)`.
StatusOr<Topology> parseTopology(std::string_view shape, std::string_view order = {});

/// Default axis names, without the cores' T.
inline constexpr std::string_view kAxisNames = "XYZUVWS";
inline constexpr char kCoreAxisName = 'T';

}  // namespace torc

#endif  // TORC_SCHEDULES_TOPOLOGY_H_
