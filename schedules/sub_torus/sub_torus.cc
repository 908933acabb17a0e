// Recognises boxes in three steps: the smallest box around the members, then the test that they
// fill it, then their order. Each step reads every member a few times and stores a few bytes for it
// at most.
#include "schedules/sub_torus/sub_torus.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "schedules/box.h"
#include "schedules/topology/damage.h"
#include "support/message.h"

namespace torc {
namespace {

Status bad(const std::string& text) {
  return {StatusCode::kInvalidArgument, text};
}
Status unsupported(const std::string& text) {
  return {StatusCode::kUnsupported, text};
}

/// A set of numbers below a limit.
class NumberSet {
 public:
  explicit NumberSet(std::uint64_t limit) : words_((limit + 63) / 64) {}

  /// False if it was there already.
  bool insert(std::uint64_t number) {
    std::uint64_t& word = words_[number / 64];
    const std::uint64_t bit = std::uint64_t{1} << (number % 64);
    return (std::exchange(word, word | bit) & bit) == 0;
  }
  bool contains(std::uint64_t number) const {
    return (words_[number / 64] >> (number % 64) & 1) != 0;
  }

 private:
  std::vector<std::uint64_t> words_;
};

std::string boxText(const Topology& partition, const SubTorus& box) {
  return message("the box ", extentsText(partition, box.extents), " from ",
                 coordinatesText(partition, box.start));
}

/// The position of number `number` in a box: the first axis is fastest.
Coordinates positionOfNumber(const Extents& extents, std::uint64_t number) {
  Coordinates position{};
  for (int i = 0; i < kMaxAxes && extents[i] > 0; ++i) {
    position[i] = static_cast<std::int32_t>(number % extents[i]);
    number /= extents[i];
  }
  return position;
}

/// Work on one set of members.
class Recognition {
 public:
  Recognition(const Topology& partition, std::span<const std::int32_t> sites)
      : partition_(partition), sites_(sites) {}

  StatusOr<SubTorus> run() {
    if (Status status = checkMembers(); !status.ok()) return status;
    // All nodes: the whole partition, if no two members coincide.
    if (isAll()) {
      box_.extents = wholeExtents(partition_);
    } else {
      enclose();
    }
    if (Status status = checkFilled(); !status.ok()) return status;
    rotate();
    if (!findOrder()) fillTable();
    return std::move(box_);
  }

 private:
  /// Whether there are as many members as nodes.
  bool isAll() const { return sites_.size() == partition_.ranks(); }
  Coordinates at(std::size_t member) const { return partition_.coordinatesOfSite(sites_[member]); }

  /// The position of coordinates inside the box.
  Coordinates positionAt(const Coordinates& at) const {
    return partition_.moved(at, opposite(box_.start));
  }
  Coordinates atPosition(const Coordinates& position) const {
    return partition_.moved(box_.start, position);
  }
  std::uint64_t numberOf(const Coordinates& position) const {
    std::uint64_t number = 0;
    for (std::uint32_t i = partition_.axis_count; i-- > 0;)
      number = number * box_.extents[i] + static_cast<std::uint64_t>(position[i]);
    return number;
  }

  Status checkMembers() {
    if (sites_.empty()) return bad("there are no ranks to recognise");
    for (std::size_t i = 0; i < sites_.size(); ++i) {
      if (sites_[i] < 0 || static_cast<std::uint64_t>(sites_[i]) >= partition_.sites()) {
        return bad(message("rank ", i, " lies outside the torus ", partition_.shape()));
      }
      if (partition_.dead_node_count > 0 && partition_.isDead(at(i))) {
        return bad(
            message("rank ", i, " lies at the dead node ", coordinatesText(partition_, at(i))));
      }
    }
    return {};
  }

  /// Lets a box that wraps along a whole axis begin at member 0: ranks that start elsewhere on a
  /// ring may still be in order.
  void rotate() {
    if (isAll() && partition_.isDamaged()) return;
    const Coordinates first = at(0);
    for (std::uint32_t i = 0; i < partition_.axis_count; ++i) {
      const Axis& axis = partition_.axes[i];
      if (box_.extents[i] == axis.size && axis.kind != AxisKind::kMesh) box_.start[i] = first[i];
    }
  }

  /// The coordinates of members along `axis`, ascending, each once.
  std::vector<std::int32_t> coordinatesAlong(std::uint32_t axis) const {
    std::uint64_t stride = 1;
    for (std::uint32_t i = 0; partition_.order[i] != axis; ++i)
      stride *= partition_.axes[partition_.order[i]].size;
    const std::uint32_t size = partition_.axes[axis].size;
    const auto coordinate = [&](std::int32_t site) {
      return static_cast<std::int32_t>(static_cast<std::uint64_t>(site) / stride % size);
    };
    std::vector<std::int32_t> found;
    if (size > 64 * sites_.size()) {  // a set would be larger than the list of members
      for (const std::int32_t site : sites_)
        found.push_back(coordinate(site));
      std::ranges::sort(found);
      found.erase(std::unique(found.begin(), found.end()), found.end());
      return found;
    }
    NumberSet seen(size);
    for (const std::int32_t site : sites_)
      seen.insert(static_cast<std::uint64_t>(coordinate(site)));
    for (std::uint32_t i = 0; i < size; ++i) {
      if (seen.contains(i)) found.push_back(static_cast<std::int32_t>(i));
    }
    return found;
  }

  /// The smallest box around the members: along an axis that wraps it is the complement of the
  /// widest gap.
  void enclose() {
    for (std::uint32_t i = 0; i < partition_.axis_count; ++i) {
      const std::vector<std::int32_t> found = coordinatesAlong(i);
      std::int32_t start = found.front(), last = found.back();
      const auto size = static_cast<std::int32_t>(partition_.axes[i].size);
      if (partition_.axes[i].kind != AxisKind::kMesh) {
        std::int32_t gap = size - last + start;
        for (std::size_t j = 1; j < found.size(); ++j) {
          if (found[j] - found[j - 1] <= gap) continue;
          gap = found[j] - found[j - 1];
          start = found[j];
          last = found[j - 1];
        }
      }
      box_.start[i] = start;
      box_.extents[i] = wrap(std::int64_t{last} - start, partition_.axes[i].size) + 1;
    }
  }

  Status checkFilled() {
    const std::uint64_t members = sites_.size(), positions = box_.positions();
    // The first `members` + 1 positions suffice: one of them is free if any is. The whole partition
    // has more positions: those of dead nodes.
    const std::uint64_t looked_at = isAll() ? positions : std::min(positions, members + 1);
    NumberSet taken(looked_at);
    for (std::size_t i = 0; i < members; ++i) {
      const std::uint64_t number = numberOf(positionAt(at(i)));
      if (number < looked_at && !taken.insert(number)) return twoAtOnePlace(i);
    }
    if (isAll()) return {};
    if (positions == members) return checkDamage();
    for (std::uint64_t number = 0; number < looked_at; ++number) {
      if (taken.contains(number)) continue;
      const Coordinates missing = atPosition(positionOfNumber(box_.extents, number));
      return unsupported(message(members, " ranks do not fill ", boxText(partition_, box_), ": ",
                                 coordinatesText(partition_, missing),
                                 partition_.isDead(missing) ? " is a dead node" : " is missing"));
    }
    return {};  // not reached: fewer members than positions leave one free
  }

  Status twoAtOnePlace(std::size_t second) const {
    const auto first = std::ranges::find(sites_, sites_[second]) - sites_.begin();
    return bad(message("ranks ", first, " and ", second, " both lie at ",
                       coordinatesText(partition_, at(second))));
  }

  /// Schedules of a sub-torus require one without damage.
  Status checkDamage() const {
    for (const DeadLink& link : partition_.deadLinks()) {
      Coordinates up{};
      up[link.axis] = 1;
      const Coordinates to = partition_.moved(link.from, up);
      // A link from the last position is inside only if the box spans the axis.
      const std::int32_t step = positionAt(link.from)[link.axis];
      const std::uint32_t extent = box_.extents[link.axis];
      const bool inside = extent == partition_.axes[link.axis].size ||
                          static_cast<std::uint32_t>(step) + 1 < extent;
      if (inside && containsNode(link.from) && containsNode(to)) {
        return unsupported(message(boxText(partition_, box_), " contains the dead link ",
                                   linkText(partition_, link)));
      }
    }
    return {};
  }

  /// Whether the box has a core of the node at `at`.
  bool containsNode(const Coordinates& at) const {
    const Coordinates position = positionAt(at);
    for (int i = 0; i < partition_.dimensions(); ++i) {
      if (static_cast<std::uint32_t>(position[i]) >= box_.extents[i]) return false;
    }
    return true;
  }

  bool liesAt(std::size_t member, const Coordinates& position) const {
    return partition_.siteOf(atPosition(position)) == sites_[member];
  }
  bool isDeadPosition(const Coordinates& position) const {
    return partition_.dead_node_count > 0 && partition_.isDead(atPosition(position));
  }

  bool findOrder() {
    box_.order = {};
    std::uint32_t wanted = 0;
    for (std::uint32_t i = 0; i < partition_.axis_count; ++i)
      wanted += box_.extents[i] > 1 ? 1 : 0;
    box_.order_count = wanted;
    const Coordinates origin{};
    if (!isDeadPosition(origin) && !liesAt(0, origin)) return false;
    box_.ordered = extendOrder(0, 1, isDeadPosition(origin) ? 0 : 1);
    if (!box_.ordered) box_.order = {};
    return box_.ordered;
  }

  /// Precondition: the first `count` axes of the order are found, and the first `checked` positions
  /// by them, `live` of them alive, match the members. Searches the other axes.
  bool extendOrder(std::uint32_t count, std::uint64_t checked, std::size_t live) {
    if (count == box_.order_count) return true;
    for (std::uint32_t axis = 0; axis < partition_.axis_count; ++axis) {
      const auto end = box_.order.begin() + count;
      if (box_.extents[axis] < 2 || std::find(box_.order.begin(), end, axis) != end) continue;
      box_.order[count] = static_cast<std::uint8_t>(axis);
      const std::uint64_t next = checked * box_.extents[axis];
      if (const std::optional<std::size_t> members = follow(count + 1, checked, next, live);
          members && extendOrder(count + 1, next, *members)) {
        return true;
      }
    }
    return false;
  }

  /// Whether members from `live` on are at the positions from `begin` to `end` by the first `count`
  /// axes of the order; if so, returns the first member behind them.
  std::optional<std::size_t> follow(std::uint32_t count, std::uint64_t begin, std::uint64_t end,
                                    std::size_t live) const {
    for (std::uint64_t number = begin; number < end; ++number) {
      Coordinates position{};
      std::uint64_t rest = number;
      for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint32_t extent = box_.extents[box_.order[i]];
        position[box_.order[i]] = static_cast<std::int32_t>(rest % extent);
        rest /= extent;
      }
      if (isDeadPosition(position)) continue;
      if (live >= sites_.size() || !liesAt(live, position)) return std::nullopt;
      ++live;
    }
    return live;
  }

  void fillTable() {
    box_.table.reserve(sites_.size());
    for (std::size_t i = 0; i < sites_.size(); ++i)
      box_.table.push_back(static_cast<std::int32_t>(numberOf(positionAt(at(i)))));
  }

  const Topology& partition_;
  const std::span<const std::int32_t> sites_;
  SubTorus box_;
};

}  // namespace

std::uint64_t SubTorus::positions() const {
  std::uint64_t product = 1;
  for (const std::uint32_t extent : extents)
    product *= std::max(extent, 1u);
  return product;
}

Coordinates SubTorus::positionOf(std::size_t member) const {
  return positionOfNumber(extents, static_cast<std::uint64_t>(table[member]));
}

SubTorus wholePartition(const Topology& partition) {
  SubTorus whole;
  whole.extents = wholeExtents(partition);
  whole.ordered = true;
  for (std::uint32_t i = 0; i < partition.axis_count; ++i) {
    if (partition.axes[partition.order[i]].size > 1)
      whole.order[whole.order_count++] = partition.order[i];
  }
  return whole;
}

StatusOr<SubTorus> recogniseSubTorus(const Topology& partition,
                                     std::span<const std::int32_t> sites) {
  return Recognition(partition, sites).run();
}

// Members in the order of some axes keep their numbers: the schedule uses that order. Others get a
// table.
SubTorusRanks ranksInSubTorus(const SubTorus& box, const Topology& shape,
                              const SubTorusAxes& axes) {
  SubTorusRanks ranks;
  ranks.order = shape.order;
  if (box.ordered) {
    const auto end = axes.begin() + shape.axis_count;
    for (std::uint32_t i = 0; i < box.order_count; ++i) {
      ranks.order[i] =
          static_cast<std::uint8_t>(std::find(axes.begin(), end, box.order[i]) - axes.begin());
    }
    return ranks;
  }
  ranks.table.reserve(box.table.size());
  for (std::size_t member = 0; member < box.table.size(); ++member) {
    ranks.table.push_back(shape.rankOf(turned(box.positionOf(member), shape, axes)));
  }
  return ranks;
}

std::string extentsText(const Topology& partition, const Extents& extents) {
  std::string text;
  for (std::uint32_t i = 0; i < partition.axis_count; ++i) {
    if (i > 0) text += partition.axes[i].kind == AxisKind::kCore ? '+' : 'x';
    text += std::to_string(extents[i]);
  }
  return text;
}

std::string coordinatesText(const Topology& partition, const Coordinates& at) {
  std::string text = "(";
  for (std::uint32_t i = 0; i < partition.axis_count; ++i)
    text += (i > 0 ? ", " : "") + std::to_string(at[i]);
  return text + ")";
}

}  // namespace torc
