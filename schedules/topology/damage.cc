// Ranks and axes of a damaged torus, and the test that its live nodes are connected.
#include "schedules/topology/damage.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <vector>

#include "schedules/faults/reject.h"
#include "support/message.h"

namespace torc {
namespace {

/// Cells of the condensed grid beyond which connection is not checked: up to 3 dimensions no damage
/// needs more.
constexpr std::uint64_t kMaxCells = 1u << 20;

std::int64_t deadSitesBelow(const Topology& topology, std::int64_t site) {
  // The cores of a node are `stride` sites apart.
  std::int64_t cores = 1, stride = 1;
  if (topology.hasCores()) {
    const std::uint32_t core_axis = topology.axis_count - 1;
    cores = topology.axes[core_axis].size;
    for (std::uint32_t i = 0; topology.order[i] != core_axis; ++i)
      stride *= topology.axes[topology.order[i]].size;
  }
  std::int64_t count = 0;
  for (const Coordinates& node : topology.deadNodes()) {
    const std::int64_t first = topology.siteOf(node);
    if (first < site) count += std::min(cores, (site - first - 1) / stride + 1);
  }
  return count;
}

/// The coordinate at which the rings along `axis` are cut: all its dead links are there, and
/// nothing takes detours.
std::optional<std::uint32_t> cutOf(const Topology& topology, std::uint32_t axis) {
  std::optional<std::uint32_t> cut;
  if (topology.axes[axis].detours != 0) return cut;
  for (const DeadLink& link : topology.deadLinks()) {
    if (link.axis != axis) continue;
    const auto at = static_cast<std::uint32_t>(link.from[axis]);
    if (cut && *cut != at) return std::nullopt;
    cut = at;
  }
  return topology.axes[axis].isRing() ? cut : std::nullopt;
}

bool hasDeadLink(const Topology& topology, std::uint32_t axis) {
  return std::ranges::any_of(topology.deadLinks(),
                             [&](const DeadLink& link) { return link.axis == axis; });
}

// `checkEntry` rejects the coordinates of a dead node, or the lower end of a dead link.
void checkEntry(const Topology& topology, const Coordinates& node) {
  for (int i = 0; i < kMaxAxes; ++i) {
    const bool network = i < topology.dimensions();
    const std::int64_t size = network ? topology.axes[i].size : 1;
    if (node[i] >= 0 && node[i] < size) continue;
    rejectIf(!network, "axis ", i, " is no network dimension but not 0");
    reject(topology.axes[i].name, "=", node[i], " is outside (size ", size, ")");
  }
}

void checkEntry(const Topology& topology, const DeadLink& link) {
  rejectIf(link.axis >= static_cast<std::uint32_t>(topology.dimensions()), "axis ", link.axis,
           " is no network dimension");
  checkEntry(topology, link.from);
  const Axis& axis = topology.axes[link.axis];
  rejectIf(axis.size == 1, "there is no link along ", axis.name, " (size 1)");
  rejectIf(axis.kind == AxisKind::kMesh && link.from[link.axis] + 1u == axis.size,
           "there is no link beyond the end of the mesh along ", axis.name);
}

std::string textOf(const Topology& topology, const Coordinates& node) {
  return nodeText(topology, node);
}
std::string textOf(const Topology& topology, const DeadLink& link) {
  return linkText(topology, link);
}

/// Order of the tables.
std::pair<std::int32_t, std::uint32_t> keyOf(const Topology& topology, const DeadLink& link) {
  return {topology.siteOf(link.from), link.axis};
}
std::int32_t keyOf(const Topology& topology, const Coordinates& node) {
  return topology.siteOf(node);
}

/// The fault that `check` throws, as one of an argument, after the pieces of `context`.
template <typename Check, typename... Pieces>
Status ofArgument(Check check, const Pieces&... context) {
  const Status fault = statusOf(check);
  if (fault.ok()) return fault;
  return Status(StatusCode::kInvalidArgument, message(context..., ": ", fault.message()));
}

/// Inserts `entry`, a `what`, into the ordered table of `count` entries.
template <typename Table, typename Entry>
Status insertOrdered(const Topology& topology, const char* what, Table& table, std::uint16_t& count,
                     const Entry& entry) {
  const auto insert = [&] {
    checkEntry(topology, entry);
    rejectIf(count == table.size(), "more than ", table.size());
    std::uint32_t index = count;
    while (index > 0 && keyOf(topology, entry) < keyOf(topology, table[index - 1]))
      --index;
    rejectIf(index > 0 && table[index - 1] == entry, "given twice");
    std::copy_backward(table.begin() + index, table.begin() + count, table.begin() + count + 1);
    table[index] = entry;
    ++count;
  };
  return ofArgument(insert, what, ' ', textOf(topology, entry));
}

/// The grid with undamaged neighbouring planes joined. They are alike, and every node of one
/// reaches its neighbour in the other, so the joined grid is connected exactly if the grid is.
/// Breadth-first search goes from cell to cell.
class CondensedGrid {
 public:
  explicit CondensedGrid(const Topology& topology) : topology_(topology) {
    for (int axis = 0; axis < topology.dimensions(); ++axis)
      cells_ *= condense(axis);
  }

  std::uint64_t cells() const { return cells_; }

  /// Two live nodes without a way between them, as "(0, 0) and (1, 2)"; empty if all are connected.
  /// Precondition: the cells are few enough, and one is alive.
  std::string nodesApart() {
    state_.assign(cells_, 0);
    for (const Coordinates& node : topology_.deadNodes())
      state_[cellOf(node)] |= kDead;
    for (const DeadLink& link : topology_.deadLinks())
      state_[cellOf(link.from)] |= 1u << link.axis;
    const auto isUnseen = [](std::uint16_t state) { return !(state & (kDead | kSeen)); };
    const auto unseen = [&] {
      return static_cast<std::uint64_t>(std::ranges::find_if(state_, isUnseen) - state_.begin());
    };
    const std::uint64_t first = unseen();
    std::vector<std::uint64_t> queue;
    visit(first, queue);
    for (std::size_t i = 0; i < queue.size(); ++i)
      visitNeighbours(queue[i], queue);
    return unseen() == cells_ ? "" : firstNode(first) + " and " + firstNode(unseen());
  }

 private:
  // Bits 0 to 6 of a cell: its link up along that axis is dead.
  static constexpr std::uint16_t kDead = 1u << 7, kSeen = 1u << 8;

  /// Groups the coordinates of one axis; returns the number of groups.
  std::uint64_t condense(int axis) {
    const std::uint32_t size = topology_.axes[axis].size;
    std::set<std::uint32_t> special;
    for (const Coordinates& node : topology_.deadNodes())
      special.insert(static_cast<std::uint32_t>(node[axis]));
    for (const DeadLink& link : topology_.deadLinks()) {
      const auto at = static_cast<std::uint32_t>(link.from[axis]);
      special.insert(at);
      if (link.axis == static_cast<std::uint32_t>(axis)) special.insert((at + 1) % size);
    }
    std::vector<std::uint32_t>& starts = starts_[axis];
    std::uint32_t next = 0;  // first coordinate without a group
    for (const std::uint32_t at : special) {
      if (next < at) starts.push_back(next);
      starts.push_back(at);
      next = at + 1;
    }
    if (next < size) starts.push_back(next);
    return starts.size();
  }

  std::uint64_t cellOf(const Coordinates& at) const {
    std::uint64_t cell = 0;
    for (int axis = topology_.dimensions(); axis-- > 0;) {
      const auto group = std::ranges::upper_bound(starts_[axis], std::uint32_t(at[axis]));
      cell = cell * starts_[axis].size() + (group - starts_[axis].begin() - 1);
    }
    return cell;
  }

  std::string firstNode(std::uint64_t cell) const {
    Coordinates at{};
    for (int axis = 0; axis < topology_.dimensions(); ++axis) {
      at[axis] = static_cast<std::int32_t>(starts_[axis][cell % starts_[axis].size()]);
      cell /= starts_[axis].size();
    }
    return nodeText(topology_, at);
  }

  void visitNeighbours(std::uint64_t cell, std::vector<std::uint64_t>& queue) {
    std::uint64_t stride = 1;
    for (int axis = 0; axis < topology_.dimensions(); ++axis) {
      const std::uint64_t count = starts_[axis].size();
      const std::uint64_t group = cell / stride % count;
      const bool ring = topology_.axes[axis].isRing();
      if (group + 1 < count || ring) {
        const std::uint64_t up = cell + (group + 1) % count * stride - group * stride;
        if (!(state_[cell] >> axis & 1)) visit(up, queue);
      }
      if (group > 0 || ring) {
        const std::uint64_t down = cell + (group + count - 1) % count * stride - group * stride;
        if (!(state_[down] >> axis & 1)) visit(down, queue);
      }
      stride *= count;
    }
  }

  void visit(std::uint64_t cell, std::vector<std::uint64_t>& queue) {
    if (state_[cell] & (kDead | kSeen)) return;
    state_[cell] |= kSeen;
    queue.push_back(cell);
  }

  const Topology& topology_;
  std::array<std::vector<std::uint32_t>, kMaxDimensions> starts_;  // of each axis's groups
  std::uint64_t cells_ = 1;
  std::vector<std::uint16_t> state_;
};

/// Checks a table of `what`s in their `order`.
template <typename Entry, std::size_t kMost>
void validateTable(const Topology& topology, const char* what, const char* order,
                   const std::array<Entry, kMost>& table, std::uint32_t count) {
  rejectIf(count > kMost, "has ", count, ' ', what, "s, at most ", kMost);
  for (std::uint32_t i = 0; i < kMost; ++i) {
    if (i >= count) {
      rejectIf(table[i] != Entry{}, what, ' ', i, " is unused but not blank");
      continue;
    }
    within([&] { checkEntry(topology, table[i]); }, what, ' ', i);
    if (i > 0 && keyOf(topology, table[i - 1]) >= keyOf(topology, table[i]))
      reject(what, "s must be in ", order, ", each once: ", textOf(topology, table[i]), " is not");
  }
}

/// Reads "1,2,3", one number per network dimension.
Coordinates readNode(const Topology& topology, std::string_view text) {
  Coordinates node{};
  const int dimensions = topology.dimensions();
  const char* at = text.data();
  const char* end = text.data() + text.size();
  for (int i = 0; i < dimensions; ++i) {
    const auto [stop, error] = std::from_chars(at, end, node[i]);
    const bool last = i + 1 == dimensions;
    rejectIf(error != std::errc() || (last ? stop != end : stop == end || *stop != ','),
             "expected ", dimensions, " coordinates, as in ",
             std::string_view("0,0,0,0,0,0,0").substr(0, std::size_t(2 * dimensions - 1)));
    at = stop + 1;
  }
  checkEntry(topology, node);
  return node;
}

}  // namespace

std::uint64_t Topology::ranks() const {
  const std::uint64_t cores = hasCores() ? axes[axis_count - 1].size : 1;
  return sites() - cores * dead_node_count;
}

std::int32_t Topology::rankOf(const Coordinates& at) const {
  const std::int32_t site = siteOf(at);
  if (dead_node_count == 0) return site;
  return isDead(at) ? -1 : static_cast<std::int32_t>(site - deadSitesBelow(*this, site));
}

Coordinates Topology::coordinatesOf(std::int32_t rank) const {
  std::int64_t site = rank;
  if (dead_node_count > 0) {
    // The first live site with `rank` live ones before it.
    for (std::int64_t next; (next = rank + deadSitesBelow(*this, site + 1)) != site;)
      site = next;
  }
  return coordinatesOfSite(static_cast<std::int32_t>(site));
}

bool Topology::isDead(const Coordinates& at) const {
  const auto count = static_cast<std::size_t>(dimensions());
  return std::ranges::any_of(deadNodes(), [&](const Coordinates& node) {
    return std::equal(node.begin(), node.begin() + count, at.begin());
  });
}

bool Topology::hasLink(const Coordinates& from, std::uint32_t axis, int sign,
                       Coordinates& to) const {
  const Axis& line = axes[axis];
  const auto size = static_cast<std::int32_t>(line.size);
  if (line.kind == AxisKind::kCore || size == 1) return false;
  to = from;
  to[axis] += sign;
  if (to[axis] < 0 || to[axis] >= size) {
    if (line.kind == AxisKind::kMesh) return false;
    to[axis] = to[axis] < 0 ? size - 1 : 0;
  }
  if (isDead(from) || isDead(to)) return false;
  DeadLink link{sign > 0 ? from : to, axis};
  if (hasCores()) link.from[axis_count - 1] = 0;
  return std::ranges::find(deadLinks(), link) == deadLinks().end();
}

bool Topology::isLine(std::uint32_t axis) const {
  return !axes[axis].wraps() || cutOf(*this, axis).has_value();
}

std::uint32_t Topology::lineStart(std::uint32_t axis) const {
  const std::optional<std::uint32_t> cut = cutOf(*this, axis);
  return cut ? (*cut + 1) % axes[axis].size : 0;
}

bool Topology::isBroken() const {
  if (dead_node_count > 0) return true;
  for (std::uint32_t axis = 0; axis < axis_count; ++axis) {
    if (hasDeadLink(*this, axis) && !cutOf(*this, axis)) return true;
  }
  return false;
}

bool Topology::hasDetours() const {
  return std::ranges::any_of(axes, [](const Axis& axis) { return axis.detours != 0; });
}

bool Topology::addDetours() {
  for (std::uint32_t axis = 0; axis < axis_count; ++axis) {
    if (cutOf(*this, axis)) axes[axis].detours = 1;
  }
  return hasDetours();
}

double Topology::capacity(std::uint32_t axis) const {
  return axes[axis].capacity() / (cutOf(*this, axis) ? 2 : 1);
}

Status Topology::addDeadLink(const DeadLink& link) {
  return insertOrdered(*this, "dead link", dead_link_table, dead_link_count, link);
}

Status Topology::addDeadNode(const Coordinates& node) {
  return insertOrdered(*this, "dead node", dead_node_table, dead_node_count, node);
}

std::string nodeText(const Topology& topology, const Coordinates& node) {
  std::string text = "(";
  for (int i = 0; i < topology.dimensions(); ++i)
    text += (i > 0 ? ", " : "") + std::to_string(node[i]);
  return text + ")";
}

std::string linkText(const Topology& topology, const DeadLink& link) {
  const bool known = link.axis < topology.axis_count;
  return nodeText(topology, link.from) + (known ? topology.axes[link.axis].name : '?');
}

void validateDamage(const Topology& topology) {
  validateTable(topology, "dead link", "rank order, then by axis", topology.dead_link_table,
                topology.dead_link_count);
  validateTable(topology, "dead node", "rank order", topology.dead_node_table,
                topology.dead_node_count);
  if (!topology.isDamaged()) return;
  rejectIf(topology.ranks() == 0, "every node is dead");
  CondensedGrid grid(topology);
  rejectIf(grid.cells() > kMaxCells,
           "the damage lies too far apart to find out whether the torus is connected");
  if (const std::string apart = grid.nodesApart(); !apart.empty())
    reject("the damage disconnects ", apart);
}

StatusOr<DeadLink> parseDeadLink(const Topology& topology, std::string_view text) {
  DeadLink link;
  const auto read = [&] {
    const std::size_t colon = text.find(':');
    rejectIf(colon == std::string_view::npos || colon + 2 != text.size(),
             "expected coordinates, ':' and an axis, as in 0,0,1:Z");
    link.axis = topology.axisNamed(text.back());
    rejectIf(link.axis == topology.axis_count, "no axis '", text.back(), "'");
    link.from = readNode(topology, text.substr(0, colon));
    checkEntry(topology, link);
  };
  if (Status status = ofArgument(read, "dead link '", text, "'"); !status.ok()) return status;
  return link;
}

StatusOr<Coordinates> parseDeadNode(const Topology& topology, std::string_view text) {
  Coordinates node{};
  const auto read = [&] { node = readNode(topology, text); };
  if (Status status = ofArgument(read, "dead node '", text, "'"); !status.ok()) return status;
  return node;
}

}  // namespace torc
