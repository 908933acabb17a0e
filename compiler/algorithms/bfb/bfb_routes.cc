// Computes the fractions of reflection classes, and rounds them to parts of blocks.
#include "compiler/algorithms/bfb/bfb_routes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <tuple>

#include <llvm/ADT/STLExtras.h>

#include "ir/make_error.h"

namespace torc::compiler {
namespace {

constexpr double kTolerance = 1e-7;  // of fractions

/// Offsets that are mirror images of each other.
struct ReflectionClass {
  Coordinates distance{};                   // |x_i|
  double offsets = 1;                       // their number
  std::array<double, kMaxAxes> fraction{};  // f_i
};

llvm::Error refuse(const llvm::Twine& why) {
  return makeError("bfb: " + why);
}

llvm::Error checkTopology(const Topology& topology) {
  if (topology.isDamaged()) return refuse("the torus is damaged");
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    const Axis& axis = topology.axes[i];
    if (axis.size == 1) continue;
    if (axis.kind == AxisKind::kCore) return refuse("cores are not supported");
    if (!axis.wraps())
      return refuse(llvm::Twine(axis.name) + " is a line: mesh axes are not supported");
  }
  if (topology.ranks() > kMaxBfbNodes) {
    return refuse(topology.shape() + " has " + llvm::Twine(topology.ranks()) + " nodes, at most " +
                  llvm::Twine(kMaxBfbNodes));
  }
  return llvm::Error::success();
}

bool isHalfway(const Topology& topology, std::uint32_t axis, std::int32_t distance) {
  return 2 * static_cast<std::uint32_t>(std::abs(distance)) == topology.axes[axis].size;
}

class Router {
 public:
  explicit Router(const Topology& topology) : topology_(topology) {
    for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
      const Axis& it = topology.axes[axis];
      link_of_[axis] = {kNoLink, kNoLink};
      if (it.size == 1) continue;
      link_of_[axis][0] = addLink(axis, 1);
      // Both directions round a line of two nodes use one cable.
      link_of_[axis][1] = it.isRing() ? addLink(axis, -1) : link_of_[axis][0];
    }
    collectClasses();
  }

  BfbRoutes run(std::uint32_t most_parts) {
    for (std::vector<ReflectionClass>& classes : classes_)
      solve(classes);
    // Not every torus needs the largest number, and a small number of parts may be too coarse.
    BfbRoutes best;
    for (const std::uint32_t parts : {1u, 2u, 3u, 4u, 6u, 8u, 12u, 24u, kMostBfbParts}) {
      if (parts > most_parts) break;
      BfbRoutes routes = round(parts);
      if (parts > 1 && routes.load > best.load - kTolerance) continue;
      best = std::move(routes);
      if (best.load <= kRoundingGoal * divided_load_) break;
    }
    return best;
  }

 private:
  static constexpr std::uint32_t kNoLink = ~0u;

  /// Loads of links in one step, over their capacities, in parts.
  struct Loads {
    std::vector<double> all;      // by link
    std::vector<double> of_part;  // by part and link

    double& of(std::uint32_t part, std::uint32_t link) { return of_part[part * all.size() + link]; }
  };

  std::uint32_t addLink(std::uint32_t axis, int sign) {
    links_.push_back({axis, sign});
    // A line of two has half of a ring's capacity on one link; a ring has its capacity on two.
    const double links = topology_.axes[axis].isRing() ? 1 : 2;
    capacity_.push_back(topology_.axes[axis].capacity() * links);
    return static_cast<std::uint32_t>(links_.size() - 1);
  }

  /// All reflection classes, by their distance.
  void collectClasses() {
    Coordinates at{};
    while (true) {
      ReflectionClass one;
      one.distance = at;
      std::size_t distance = 0;
      for (std::uint32_t i = 0; i < topology_.axis_count; ++i) {
        distance += static_cast<std::size_t>(at[i]);
        if (at[i] > 0 && !isHalfway(topology_, i, at[i])) one.offsets *= 2;
      }
      if (distance > 0) {
        if (classes_.size() < distance) classes_.resize(distance);
        classes_[distance - 1].push_back(one);
      }
      std::uint32_t axis = 0;
      while (
          axis<topology_.axis_count&& static_cast<std::uint32_t>(++at[axis])> topology_.axes[axis]
              .size /
          2) {
        at[axis++] = 0;
      }
      if (axis == topology_.axis_count) return;
    }
  }

  /// Computes the fractions of one step. Moves classes from an axis to one with less loaded links
  /// as long as possible. Then no other fractions have a smaller maximum load, for all axes that
  /// share a class with the busiest axis are equally busy.
  void solve(std::vector<ReflectionClass>& classes) {
    std::array<double, kMaxAxes> load{};
    const auto move = [&](ReflectionClass& one, std::uint32_t axis, double fraction) {
      one.fraction[axis] += fraction;
      load[axis] += fraction * one.offsets * loadOf(axis);
    };
    for (ReflectionClass& one : classes) {
      const auto* const from = llvm::find_if(one.distance, [](auto hops) { return hops > 0; });
      move(one, static_cast<std::uint32_t>(from - one.distance.begin()), 1);
    }
    while (moveBest(classes, load, move)) {
    }
    for (ReflectionClass& one : classes) {
      for (double& value : one.fraction)
        value = value < kTolerance ? 0 : value > 1 - kTolerance ? 1 : value;
    }
    divided_load_ += *llvm::max_element(load);
  }

  /// Balances the pair of axes with the largest difference of loads by moving one class. Prefers a
  /// class with shares on both axes already, so that few classes are divided. Returns false if all
  /// are balanced.
  template <typename Loads, typename Move>
  bool moveBest(std::vector<ReflectionClass>& classes, const Loads& load, Move move) const {
    double most = kTolerance * kTolerance * *llvm::max_element(load);
    std::tuple<ReflectionClass*, std::uint32_t, std::uint32_t> best{};
    for (ReflectionClass& one : classes) {
      for (std::uint32_t from = 0; from < topology_.axis_count; ++from) {
        for (std::uint32_t to = 0; to < topology_.axis_count; ++to) {
          if (one.fraction[from] <= 0 || one.distance[to] == 0) continue;
          const double gain = load[from] - load[to];
          if (gain < most || (gain == most && one.fraction[to] == 0)) continue;
          most = gain;
          best = {&one, from, to};
        }
      }
    }
    const auto [one, from, to] = best;
    if (one == nullptr) return false;
    const double even = most / (loadOf(from) + loadOf(to)) / one->offsets;
    const double moved = std::min(one->fraction[from], even);
    move(*one, from, -moved);
    move(*one, to, moved);
    return true;
  }

  /// Load that one offset along an axis adds to a link, over its capacity.
  double loadOf(std::uint32_t axis) const {
    return 1 / (linksOf(axis) * capacity_[link_of_[axis][0]]);
  }

  double linksOf(std::uint32_t axis) const { return topology_.axes[axis].isRing() ? 2 : 1; }

  /// Rounds the fractions of all offsets to whole parts.
  BfbRoutes round(std::uint32_t parts) const {
    BfbRoutes routes;
    routes.parts = parts;
    routes.links = links_;
    routes.divided_load = divided_load_;
    for (const std::vector<ReflectionClass>& classes : classes_) {
      std::vector<BfbRoute>& step = routes.steps.emplace_back();
      Loads loads{std::vector<double>(links_.size(), 0),
                  std::vector<double>(std::size_t{parts} * links_.size(), 0)};
      // Classes without a choice come first.
      for (const bool free : {false, true}) {
        for (const ReflectionClass& one : classes) {
          if (hasChoice(one) == free) addOffsets(one, parts, loads, step);
        }
      }
      routes.load += *std::max_element(loads.all.begin(), loads.all.end()) / parts;
    }
    return routes;
  }

  bool hasChoice(const ReflectionClass& one) const {
    for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
      if (one.fraction[axis] == 0) continue;
      return one.fraction[axis] < 1 || isHalfway(topology_, axis, one.distance[axis]);
    }
    return false;
  }

  /// Adds routes for the offsets of a class: all mirror images of its distance.
  void addOffsets(const ReflectionClass& one, std::uint32_t parts, Loads& loads,
                  std::vector<BfbRoute>& step) const {
    Coordinates offset = one.distance;
    while (true) {
      step.push_back(route(one, offset, parts, loads));
      std::uint32_t axis = 0;
      for (; axis < topology_.axis_count; ++axis) {
        if (offset[axis] == 0 || isHalfway(topology_, axis, offset[axis])) continue;
        offset[axis] = -offset[axis];
        if (offset[axis] < 0) break;
      }
      if (axis == topology_.axis_count) return;
    }
  }

  BfbRoute route(const ReflectionClass& one, const Coordinates& offset, std::uint32_t parts,
                 Loads& loads) const {
    std::vector<double>& load = loads.all;
    std::vector<std::uint32_t> count(links_.size(), 0);
    llvm::SmallVector<std::uint32_t, 2 * kMaxAxes> choice;
    std::uint32_t left = parts;
    for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
      if (one.fraction[axis] == 0) continue;
      llvm::SmallVector<std::uint32_t, 2> links;
      const bool halfway = isHalfway(topology_, axis, offset[axis]);
      if (offset[axis] > 0 || halfway) links.push_back(link_of_[axis][0]);
      if (offset[axis] < 0 || (halfway && link_of_[axis][1] != link_of_[axis][0])) {
        links.push_back(link_of_[axis][1]);
      }
      for (const std::uint32_t link : links) {
        const double share = one.fraction[axis] * parts / static_cast<double>(links.size());
        const auto whole = static_cast<std::uint32_t>(std::floor(share + kTolerance));
        count[link] += whole;
        load[link] += whole / capacity_[link];
        left -= whole;
        choice.push_back(link);
      }
    }
    for (; left > 0; --left) {
      const std::uint32_t link =
          *std::min_element(choice.begin(), choice.end(), [&](std::uint32_t a, std::uint32_t b) {
            return load[a] + 1 / capacity_[a] < load[b] + 1 / capacity_[b];
          });
      ++count[link];
      load[link] += 1 / capacity_[link];
    }
    BfbRoute route;
    route.offset = offset;
    route.shares = place(count, parts, loads);
    return route;
  }

  /// Assigns parts to links, `count[link]` in a row; the first part follows the last. Starts at the
  /// part that keeps the links of each part most evenly loaded.
  llvm::SmallVector<BfbShare, 4> place(llvm::ArrayRef<std::uint32_t> count, std::uint32_t parts,
                                       Loads& loads) const {
    llvm::SmallVector<std::uint32_t, 48> link_of;  // by place in the row
    for (std::uint32_t link = 0; link < links_.size(); ++link)
      link_of.append(count[link], link);
    std::uint32_t best = 0;
    if (link_of.front() != link_of.back()) {
      double least = 0;
      for (std::uint32_t turn = 0; turn < parts; ++turn) {
        double sum = 0;
        for (std::uint32_t i = 0; i < parts; ++i)
          sum += loads.of((i + turn) % parts, link_of[i]) / capacity_[link_of[i]];
        if (turn > 0 && sum >= least - kTolerance) continue;
        least = sum;
        best = turn;
      }
    }
    llvm::SmallVector<BfbShare, 4> shares;
    for (std::uint32_t part = 0; part < parts; ++part) {
      const std::uint32_t link = link_of[(part + parts - best) % parts];
      loads.of(part, link) += 1 / capacity_[link];
      if (shares.empty() || shares.back().link != link) shares.push_back({link, part, 0});
      ++shares.back().count;
    }
    return shares;
  }

  const Topology& topology_;
  std::vector<BfbLink> links_;
  std::vector<double> capacity_;  // by link
  std::array<std::array<std::uint32_t, 2>, kMaxAxes> link_of_{};
  std::vector<std::vector<ReflectionClass>> classes_;  // by distance - 1
  double divided_load_ = 0;
};

}  // namespace

llvm::Expected<BfbRoutes> bfbRoutes(const Topology& topology, std::uint32_t most_parts) {
  if (llvm::Error error = checkTopology(topology)) return error;
  return Router(topology).run(std::max(1u, most_parts));
}

}  // namespace torc::compiler
