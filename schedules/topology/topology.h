// Topology: the shape of a torus or mesh partition and the placement of ranks on it.
//
// Axes are the 1 to 7 network dimensions (X, Y, Z, U, V, W, S by default) and,
// last, an optional axis T: the cores of a node. A node's coordinates give its
// rank by an order string, fastest axis first, as in Blue Gene's mapping files:
// "XYZ" means rank = x + X*(y + Y*z).
#ifndef TORC_SCHEDULES_TOPOLOGY_TOPOLOGY_H_
#define TORC_SCHEDULES_TOPOLOGY_TOPOLOGY_H_

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "support/status.h"

namespace torc {

inline constexpr int kMaxDimensions = 7;             // network dimensions
inline constexpr int kMaxAxes = kMaxDimensions + 1;  // with the cores of a node

/// Coordinates along every axis, or a distance; unused axes are 0.
using Coordinates = std::array<std::int32_t, kMaxAxes>;
/// `value` modulo the size of an axis.
inline std::uint32_t wrap(std::int64_t value, std::uint32_t size) {
  std::int64_t r = value % static_cast<std::int64_t>(size);
  return static_cast<std::uint32_t>(r < 0 ? r + size : r);
}
/// The same distance the other way.
inline Coordinates opposite(Coordinates distance) {
  for (std::int32_t& along : distance)
    along = -along;
  return distance;
}

enum class AxisKind : std::uint8_t {
  kTorus = 0,  // wraps around
  kMesh = 1,   // a line without a link between the ends; a line of two wraps, by one cable
  kCore = 2,   // the cores of a node; every core reaches every other, so it wraps too
};

/// One axis, with the same layout in memory and in a file.
struct Axis {
  std::uint32_t size = 1;
  AxisKind kind = AxisKind::kTorus;
  char name = 'X';
  // 1, in a plan: rings cut by dead links stay rings, and messages take detours there.
  std::uint8_t detours = 0;
  std::uint8_t reserved = 0;
  double bandwidth = 1.0;  // of one link in one direction, relative to the others; > 0
  double latency = 0.0;    // seconds per hop; >= 0

  /// Whether coordinates count modulo the size.
  bool wraps() const { return kind != AxisKind::kMesh || size <= 2; }
  /// Whether the two ways round use separate cables.
  bool isRing() const { return kind == AxisKind::kTorus && size > 1; }
  /// Whether the two ways round share one cable: a line of two.
  bool hasOneCable() const { return kind == AxisKind::kMesh && size == 2; }
  /// The direction, 1 or -1, of the links that a message over `distance` uses. A single cable is
  /// always +.
  int linkSign(std::int32_t distance) const { return distance > 0 || hasOneCable() ? 1 : -1; }
  /// Capacity of the axis relative to a ring of bandwidth 1: c_i of the bounds. A line has half, as
  /// its ends have half the links; a core axis has 0, as it is no network.
  double capacity() const {
    return kind == AxisKind::kCore ? 0.0 : kind == AxisKind::kTorus ? bandwidth : bandwidth / 2;
  }
  bool operator==(const Axis&) const = default;
};
static_assert(sizeof(Axis) == 24);

/// A cable that is out of order, in both directions: from `from` one step up along `axis`. `from`
/// is 0 on the axis of cores.
struct DeadLink {
  Coordinates from{};
  std::uint32_t axis = 0;

  bool operator==(const DeadLink&) const = default;
};
static_assert(sizeof(DeadLink) == 36);

inline constexpr std::uint32_t kMaxDeadLinks = 16;
inline constexpr std::uint32_t kMaxDeadNodes = 16;

/// A torus or mesh with its damage. A plain value; `validate` checks it.
///
/// A *site* is a point of the grid, dead or alive; its number is its node's rank on the torus
/// without damage. Ranks are the live nodes in the order of their sites.
struct Topology {
  std::uint32_t axis_count = 0;
  std::uint16_t dead_link_count = 0;
  std::uint16_t dead_node_count = 0;
  std::array<Axis, kMaxAxes> axes{};
  std::array<std::uint8_t, kMaxAxes> order{};  // order[0] is the axis that varies fastest with rank
  /// By site of `from`, then by axis; each once.
  std::array<DeadLink, kMaxDeadLinks> dead_link_table{};
  /// Nodes with all their cores, with core coordinate 0; by site, each once.
  std::array<Coordinates, kMaxDeadNodes> dead_node_table{};

  std::span<const DeadLink> deadLinks() const { return {dead_link_table.data(), dead_link_count}; }
  std::span<const Coordinates> deadNodes() const {
    return {dead_node_table.data(), dead_node_count};
  }
  /// Inserts damage in order; an error if the table is full or has it already.
  Status addDeadLink(const DeadLink& link);
  Status addDeadNode(const Coordinates& node);

  /// Number of sites: the product of the sizes. Valid topologies fit 31 bits.
  std::uint64_t sites() const;
  std::int32_t siteOf(const Coordinates& at) const;
  Coordinates coordinatesOfSite(std::int32_t site) const;

  /// Number of ranks: sites whose node is alive.
  std::uint64_t ranks() const;
  /// Network dimensions: the axes that are not cores.
  int dimensions() const;
  bool hasCores() const;

  /// -1 for a dead node.
  std::int32_t rankOf(const Coordinates& at) const;
  Coordinates coordinatesOf(std::int32_t rank) const;
  /// The axis of this name; axis_count: there is none.
  std::uint32_t axisNamed(char name) const;

  /// The coordinates `from` + `shift`, cyclic on every axis.
  Coordinates moved(Coordinates from, const Coordinates& shift) const;
  /// The rank at `from` + `shift`; -1 if that leaves a mesh or the node is dead.
  std::int32_t neighbour(const Coordinates& from, const Coordinates& shift) const;

  bool isDamaged() const { return dead_link_count > 0 || dead_node_count > 0; }
  bool isDead(const Coordinates& at) const;
  /// Whether a cable leads from `from` one step along `axis`, up (`sign` 1) or down (-1), and it
  /// and the nodes at its ends work. `to` is the other end.
  bool hasLink(const Coordinates& from, std::uint32_t axis, int sign, Coordinates& to) const;

  /// Whether along `axis` every node reaches every other within its row: a mesh dimension, or a
  /// torus dimension with all dead links at one coordinate, the cut of its rings unless they take
  /// detours.
  bool isLine(std::uint32_t axis) const;
  /// The coordinate at which the lines along `axis` begin: 0, or behind the cut.
  std::uint32_t lineStart(std::uint32_t axis) const;
  /// Whether the damage interrupts the rings and lines along the axes: a node is dead, a line is
  /// broken, or a ring is broken at more than one coordinate.
  bool isBroken() const;
  /// Whether some axis takes detours at the cuts of its rings.
  bool hasDetours() const;
  /// Lets every axis with cut rings take detours; false: there is none.
  bool addDetours();
  /// Capacity of `axis` relative to a ring of bandwidth 1: Axis::capacity, halved if the ring is
  /// cut.
  double capacity(std::uint32_t axis) const;

  /// "4x3mx2+4": sizes joined by x, `m` after a mesh dimension, `+` before the
  /// cores. Damage is not shown.
  std::string shape() const;
  /// "XYZT".
  std::string orderString() const;

  Status validate() const;
  bool operator==(const Topology&) const = default;
};

/// Whether ranks have the same order on two topologies of one shape: axes of more than one node are
/// in the same order.
bool sameRankOrder(const Topology& a, const Topology& b);

/// Reads "8x8x8", "8x8x4m", "8x8x8+4". `order` may be empty (axes in their natural order) or name
/// every axis once. Errors give the place: `torus '4x': size missing after 'x' (column 3)`.
StatusOr<Topology> parseTopology(std::string_view shape, std::string_view order = {});

/// Reads an order of the axes of `topology`, fastest first: "YXT". (A topology sorts its damage by
/// rank: a new order changes that.)
StatusOr<std::array<std::uint8_t, kMaxAxes>> parseOrder(const Topology& topology,
                                                        std::string_view order);

/// Reads "0,0,1:Z", the link from (0, 0, 1) one step up along Z, of `topology`, and "1,2,3", a
/// node. Errors name the text: `dead link '0,0,9:Z': Z=9 is outside (size 4)`.
StatusOr<DeadLink> parseDeadLink(const Topology& topology, std::string_view text);
StatusOr<Coordinates> parseDeadNode(const Topology& topology, std::string_view text);

/// Default axis names, without the cores' T.
inline constexpr std::string_view kAxisNames = "XYZUVWS";
inline constexpr char kCoreAxisName = 'T';

}  // namespace torc

#endif  // TORC_SCHEDULES_TOPOLOGY_TOPOLOGY_H_
