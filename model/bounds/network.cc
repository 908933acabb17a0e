// Computes networks and their cuts.
#include "model/bounds/network.h"

#include <algorithm>
#include <map>

#include <llvm/ADT/STLExtras.h>

namespace torc::model {
namespace {

/// With damage, sub-tori of one S are all examined up to this number.
constexpr double kFewPositions = 4096;

/// The sub-torus spanned by `spanned` that contains a node: its coordinates along the others.
Coordinates outside(std::uint32_t spanned, Coordinates at) {
  for (std::size_t i = 0; i < at.size(); ++i) {
    if (spanned >> i & 1) at[i] = 0;
  }
  return at;
}

}  // namespace

Network::Network(const Machine& machine) {
  for (std::uint32_t i = 0; i < machine.dimensions.size(); ++i) {
    const MachineDimension& of = machine.dimensions[i];
    const bool ring = of.torus && (of.size > 2 || of.cables() > 1);
    if (of.size == 1) continue;
    dimensions_.push_back({i, of.size, ring, machine.linkBandwidth(i)});
    nodes_ *= of.size;
  }
  addDamage(machine);
  if (machine.ports > 0) ports_ = machine.ports;
  twisted_ = machine.twisted;
}

void Network::addDamage(const Machine& machine) {
  auto kept = [&](const Coordinates& at) {
    Coordinates result{};
    for (std::size_t i = 0; i < dimensions_.size(); ++i)
      result[i] = at[dimensions_[i].axis];
    return result;
  };
  for (const DeadLink& link : machine.dead_links) {
    std::uint32_t dimension = 0;
    while (dimensions_[dimension].axis != link.axis)
      ++dimension;
    dead_links_.push_back({kept(link.from), dimension});
  }
  for (const Coordinates& node : machine.dead_nodes) {
    dead_nodes_.push_back(kept(node));
    for (std::uint32_t i = 0; i < dimensions_.size(); ++i) {
      for (int sign : {+1, -1}) {
        Coordinates neighbour = dead_nodes_.back();
        if (step(neighbour, i, sign)) dead_links_.push_back(linkFrom(dead_nodes_.back(), i, sign));
      }
    }
  }
  llvm::sort(dead_links_);
  dead_links_.erase(std::unique(dead_links_.begin(), dead_links_.end()), dead_links_.end());
}

bool Network::step(Coordinates& at, std::uint32_t dimension, int sign) const {
  const NetworkDimension& of = dimensions_[dimension];
  const auto size = static_cast<std::int32_t>(of.size);
  const std::int32_t to = at[dimension] + sign;
  if (!of.ring && (to < 0 || to >= size)) return false;
  at[dimension] = (to + size) % size;
  return true;
}

NetworkLink Network::linkFrom(const Coordinates& at, std::uint32_t dimension, int sign) const {
  NetworkLink link{at, dimension};
  if (sign < 0) step(link.lower, dimension, sign);
  return link;
}

bool Network::isDead(const Coordinates& node) const {
  return llvm::is_contained(dead_nodes_, node);
}

bool Network::isDead(const NetworkLink& link) const {
  return std::binary_search(dead_links_.begin(), dead_links_.end(), link);
}

double Network::liveLinks(std::uint32_t dimension) const {
  const NetworkDimension& of = dimensions_[dimension];
  const auto dead = llvm::count_if(
      dead_links_, [&](const NetworkLink& link) { return link.dimension == dimension; });
  return nodes_ / of.size * (of.ring ? of.size : of.size - 1.0) - static_cast<double>(dead);
}

double Network::sizeOf(std::uint32_t spanned) const {
  double size = 1;
  for (std::size_t i = 0; i < dimensions_.size(); ++i) {
    if (spanned >> i & 1) size *= dimensions_[i].size;
  }
  return size;
}

Coordinates Network::middle() const {
  Coordinates at{};
  for (std::size_t i = 0; i < dimensions_.size(); ++i)
    at[i] = static_cast<std::int32_t>(dimensions_[i].size / 2);
  return at;
}

double Network::portBandwidth(std::uint32_t spanned, const Coordinates& at) const {
  std::vector<double> fastest;
  for (std::size_t i = 0; i < dimensions_.size(); ++i) {
    if (spanned >> i & 1) continue;
    fastest.insert(fastest.end(), static_cast<std::size_t>(dimensions_[i].linksAt(at[i])),
                   dimensions_[i].bandwidth);
  }
  llvm::sort(fastest, std::greater<>());
  double sum = 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(ports_, fastest.size()); ++i)
    sum += fastest[i];
  return sum;
}

Cut Network::wholeCut(std::uint32_t spanned, const Coordinates& at) const {
  Cut cut{spanned, sizeOf(spanned)};
  for (std::size_t i = 0; i < dimensions_.size(); ++i) {
    if (spanned >> i & 1) continue;
    cut.bandwidth += cut.nodes * dimensions_[i].linksAt(at[i]) * dimensions_[i].bandwidth;
  }
  cut.port_bandwidth = cut.nodes * portBandwidth(spanned, at);
  return cut;
}

Cut Network::cutThrough(std::uint32_t spanned, const Coordinates& at) const {
  Cut cut = wholeCut(spanned, at);
  const Coordinates here = outside(spanned, at);
  auto inside = [&](const Coordinates& node) { return outside(spanned, node) == here; };
  for (const Coordinates& node : dead_nodes_)
    cut.nodes -= inside(node);
  for (const NetworkLink& link : dead_links_) {
    if (spanned >> link.dimension & 1) continue;
    Coordinates upper = link.lower;
    step(upper, link.dimension, +1);
    if (inside(link.lower) || inside(upper)) {
      cut.bandwidth -= dimensions_[link.dimension].bandwidth;
    }
  }
  cut.port_bandwidth = cut.nodes * portBandwidth(spanned, at);
  return cut;
}

Cut Network::widestCut(std::uint32_t spanned) const {
  return wholeCut(spanned, middle());
}

std::vector<Coordinates> Network::positions(std::uint32_t spanned) const {
  if (!damaged()) return {Coordinates{}};
  std::vector<Coordinates> found;
  std::vector<std::uint32_t> free;  // dimensions outside S
  double count = 1;
  for (std::uint32_t i = 0; i < dimensions_.size(); ++i) {
    if (spanned >> i & 1) continue;
    free.push_back(i);
    count *= dimensions_[i].size;
  }
  if (count <= kFewPositions) {
    for (std::uint64_t index = 0; index < static_cast<std::uint64_t>(count); ++index) {
      std::uint64_t rest = index;
      Coordinates& at = found.emplace_back();
      for (std::uint32_t i : free) {
        at[i] = static_cast<std::int32_t>(rest % dimensions_[i].size);
        rest /= dimensions_[i].size;
      }
    }
    return found;
  }
  for (const Coordinates& node : dead_nodes_)
    found.push_back(outside(spanned, node));
  for (const NetworkLink& link : dead_links_) {
    Coordinates upper = link.lower;
    step(upper, link.dimension, +1);
    found.push_back(outside(spanned, link.lower));
    found.push_back(outside(spanned, upper));
  }
  // Corners of the lines; on the rings, places without damage if possible.
  Coordinates clear{};
  for (std::uint32_t i : free) {
    if (!dimensions_[i].ring) continue;
    std::vector<std::int32_t> named;
    for (const Coordinates& at : found)
      named.push_back(at[i]);
    const auto size = static_cast<std::int32_t>(dimensions_[i].size);
    while (clear[i] + 1 < size && llvm::is_contained(named, clear[i]))
      ++clear[i];
  }
  for (std::uint32_t corner = 0; corner < 1u << free.size(); ++corner) {
    Coordinates at = clear;
    bool valid = true;
    for (std::size_t i = 0; i < free.size(); ++i) {
      if (!(corner >> i & 1)) continue;
      valid = valid && !dimensions_[free[i]].ring;
      at[free[i]] = static_cast<std::int32_t>(dimensions_[free[i]].size) - 1;
    }
    if (valid) found.push_back(at);
  }
  llvm::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

void Network::forEachCut(const std::function<void(const Cut&)>& visit) const {
  for (std::uint32_t spanned = 0; spanned < endOfSpanned(); ++spanned) {
    for (const Coordinates& at : positions(spanned)) {
      const Cut cut = cutThrough(spanned, at);
      if (cut.nodes > 0 && cut.nodes < liveNodes()) visit(cut);
    }
  }
}

void Network::forEachSplit(const std::function<void(const Split&)>& visit) const {
  for (std::uint32_t spanned = 0; spanned < endOfSpanned(); ++spanned) {
    Split split{spanned, nodes_ / sizeOf(spanned)};
    // Parts without a live node.
    std::map<Coordinates, double> dead;  // nodes, by part
    for (const Coordinates& node : dead_nodes_)
      ++dead[outside(spanned, node)];
    for (const auto& [part, nodes] : dead)
      split.parts -= nodes == sizeOf(spanned);
    for (std::uint32_t i = 0; i < dimensions_.size(); ++i) {
      if (!(spanned >> i & 1)) split.bandwidth += liveLinks(i) * dimensions_[i].bandwidth;
    }
    split.port_bandwidth = liveNodes() * portBandwidth(spanned, middle());
    if (split.parts > 1) visit(split);
  }
}

}  // namespace torc::model
