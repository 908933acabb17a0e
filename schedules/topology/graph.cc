// Graphs: the check of their links, and routes over switches.
#include "schedules/topology/graph.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "schedules/faults/reject.h"

namespace torc {
namespace {

/// Total of switches kept for all ranks; beyond it routes are searched again.
constexpr std::size_t kMostKept = std::size_t{1} << 22;

std::pair<std::uint32_t, std::uint32_t> endsOf(const GraphLink& link) {
  return {link.from, link.to};
}

void validateLink(const GraphLink& link, std::uint64_t nodes) {
  rejectIf(link.from >= nodes || link.to >= nodes, "node ", std::max(link.from, link.to),
           " does not exist (up to ", nodes - 1, " may)");
  rejectIf(link.from == link.to, "ends where it begins");
  rejectIf(!std::isfinite(link.bandwidth) || link.bandwidth <= 0, "bandwidth ", link.bandwidth,
           " must be over 0");
  rejectIf(!std::isfinite(link.latency) || link.latency < 0 || std::signbit(link.latency),
           "latency ", link.latency, " must be at least 0");
}

void validateLinks(const Topology& topology, std::span<const GraphLink> links) {
  if (links.empty()) return;
  const std::uint64_t ranks = topology.ranks();
  rejectIf(ranks > kMaxGraphRanks, "topology: a graph has at most ", kMaxGraphRanks, " ranks, not ",
           ranks);
  rejectIf(links.size() > kMaxGraphLinks, "topology: a graph has at most ", kMaxGraphLinks,
           " links");
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    const Axis& axis = topology.axes[i];
    rejectIf(axis.kind != AxisKind::kTorus || axis.bandwidth != 1 || axis.latency != 0,
             "topology: a graph's axis ", axis.name,
             " says more than where ranks are, which links say");
  }
  rejectIf(topology.isDamaged(), "topology: what is broken of a graph has no link");
  checkEach("link", links, [&](const GraphLink& link) {
    validateLink(link, ranks + links.size());
    if (&link == links.data()) return;
    const GraphLink& before = *(&link - 1);
    if (endsOf(before) >= endsOf(link))
      reject(linkText(link), " is behind ", linkText(before), ", must ascend");
  });
}

}  // namespace

std::string linkText(const GraphLink& link) {
  return std::to_string(link.from) + "->" + std::to_string(link.to);
}

void sortLinks(std::vector<GraphLink>& links) {
  std::ranges::sort(links, {}, endsOf);
  std::size_t kept = 0;
  for (const GraphLink& link : links) {
    if (kept > 0 && endsOf(links[kept - 1]) == endsOf(link)) {
      links[kept - 1].bandwidth += link.bandwidth;
      links[kept - 1].latency = std::max(links[kept - 1].latency, link.latency);
    } else {
      links[kept++] = link;
    }
  }
  links.resize(kept);
}

Status validateGraph(const Topology& topology, std::span<const GraphLink> links) {
  return statusOf([&] { validateLinks(topology, links); });
}

bool looksAlike(const Topology& topology, std::span<const GraphLink> links) {
  const std::uint64_t ranks = topology.ranks();
  for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
    Coordinates step{};
    step[axis] = 1;
    const auto next = [&](std::uint32_t node) {
      return static_cast<std::uint32_t>(
          topology.neighbour(topology.coordinatesOf(static_cast<std::int32_t>(node)), step));
    };
    for (const GraphLink& link : links) {
      if (link.from >= ranks || link.to >= ranks) return false;
      const GraphLink moved{next(link.from), next(link.to), link.bandwidth, link.latency};
      const auto found = std::ranges::lower_bound(links, endsOf(moved), {}, endsOf);
      if (found == links.end() || *found != moved) return false;
    }
  }
  return true;
}

GraphRoutes::GraphRoutes(std::span<const GraphLink> links, std::uint64_t ranks)
    : links_(links), ranks_(ranks) {
  for (std::uint32_t i = 0; i < links.size(); ++i) {
    if (isSwitch(links[i].from) && !isSwitch(links[i].to)) from_switches_.push_back(i);
  }
  std::ranges::sort(from_switches_, {}, [&](std::uint32_t link) {
    return std::pair(links_[link].to, links_[link].from);
  });
}

std::uint32_t GraphRoutes::firstFrom(std::uint32_t node, std::uint32_t to) const {
  const auto at = std::ranges::lower_bound(links_, std::pair(node, to), {}, endsOf);
  return static_cast<std::uint32_t>(at - links_.begin());
}

/// Breadth first, lowest numbers first: of the shortest routes to a switch it finds the one over
/// the lowest numbers.
const GraphRoutes::Switches& GraphRoutes::switchesFrom(std::uint32_t rank) {
  if (const auto known = reached_.find(rank); known != reached_.end()) return known->second;
  if (kept_ > kMostKept) {
    reached_.clear();
    kept_ = 0;
  }
  Switches& switches = reached_[rank];
  std::uint32_t node = rank;
  for (std::uint32_t done = 0;; ++done) {
    for (std::uint32_t link = firstFrom(node); link < links_.size() && links_[link].from == node;
         ++link) {
      ++work_;
      const std::uint32_t to = links_[link].to;
      const auto place = static_cast<std::uint32_t>(switches.list.size());
      if (!isSwitch(to) || !switches.places.emplace(to, place).second) continue;
      switches.list.push_back({link, node == rank ? place : done - 1});
    }
    if (done == switches.list.size()) break;
    node = links_[switches.list[done].link].to;
  }
  kept_ += switches.list.size();
  return switches;
}

std::vector<std::uint32_t> GraphRoutes::between(std::uint32_t from, std::uint32_t to) {
  ++work_;
  const std::uint32_t direct = firstFrom(from, to);
  if (direct < links_.size() && endsOf(links_[direct]) == std::pair(from, to)) return {direct};
  auto last = std::ranges::lower_bound(from_switches_, to, {},
                                       [&](std::uint32_t link) { return links_[link].to; });
  if (last == from_switches_.end() || links_[*last].to != to) return {};
  const Switches& switches = switchesFrom(from);
  std::uint32_t nearest = 0, last_link = 0;
  bool is_found = false;
  for (; last != from_switches_.end() && links_[*last].to == to; ++last) {
    ++work_;
    const auto place = switches.places.find(links_[*last].from);
    if (place == switches.places.end() || (is_found && place->second >= nearest)) continue;
    is_found = true;
    nearest = place->second;
    last_link = *last;
  }
  if (!is_found) return {};
  std::vector<std::uint32_t> way = {last_link};
  for (std::uint32_t place = nearest;; place = switches.list[place].before) {
    way.push_back(switches.list[place].link);
    if (switches.list[place].before == place) break;
  }
  std::ranges::reverse(way);
  return way;
}

}  // namespace torc
