// Graph: the links of a machine that is no torus, each with its bandwidth and latency.
//
// A schedule on a graph numbers its nodes as on a torus, whose axes only name the ranks: messages
// go over the links of the graph alone. Numbers above those of the ranks are switches. Switches
// forward messages, and have no rank. A message goes over one link, or over switches; ranks forward
// data only by operations, as in TACOS, SCCL and ForestColl.
#ifndef TORC_SCHEDULES_TOPOLOGY_GRAPH_H_
#define TORC_SCHEDULES_TOPOLOGY_GRAPH_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "schedules/topology/topology.h"
#include "support/status.h"

namespace torc {

/// A directed link, with the same layout in memory and in a file.
struct GraphLink {
  std::uint32_t from = 0, to = 0;  // ranks, or switches
  double bandwidth = 1;            // bytes/s; > 0
  double latency = 0;              // seconds; >= 0

  bool operator==(const GraphLink&) const = default;
};
static_assert(sizeof(GraphLink) == 24);

/// Most ranks and links of a graph.
inline constexpr std::uint64_t kMaxGraphRanks = 1u << 20;
inline constexpr std::uint64_t kMaxGraphLinks = 1u << 24;

/// "0->5".
std::string linkText(const GraphLink& link);

/// Sorts links into the order of `validateGraph`; parallel links become one with the sum of the
/// bandwidths and the longest latency.
void sortLinks(std::vector<GraphLink>& links);

/// Checks `links`, if there are any, as a graph of the ranks of `topology`, which is valid: sorted
/// by `from`, then `to`, each once; at most as many switches as links; all axes rings of bandwidth
/// 1 without latency or damage.
Status validateGraph(const Topology& topology, std::span<const GraphLink> links);

/// Whether a graph without switches is symmetric: it looks the same from every node in the
/// coordinates of `topology`.
bool looksAlike(const Topology& topology, std::span<const GraphLink> links);

/// The links of messages between ranks.
class GraphRoutes {
 public:
  /// `links`, which have passed `validateGraph`, must outlive this.
  GraphRoutes(std::span<const GraphLink> links, std::uint64_t ranks);

  /// The links, by number, of a message between two ranks: the shortest route over switches, of
  /// several the one over the lowest numbers. Empty: there is no route.
  std::vector<std::uint32_t> between(std::uint32_t from, std::uint32_t to);

  /// Links examined so far.
  std::uint64_t work() const { return work_; }

 private:
  /// A switch reachable from a rank.
  struct Reached {
    std::uint32_t link = 0;    // last link of the route
    std::uint32_t before = 0;  // place of the switch before it; of a first switch: its own
  };
  struct Switches {
    std::vector<Reached> list;                                // the nearest first
    std::unordered_map<std::uint32_t, std::uint32_t> places;  // places in the list, by number
  };

  bool isSwitch(std::uint32_t node) const { return node >= ranks_; }
  /// The first link, by number, from `node` on.
  std::uint32_t firstFrom(std::uint32_t node, std::uint32_t to = 0) const;
  const Switches& switchesFrom(std::uint32_t rank);

  std::span<const GraphLink> links_;
  std::uint64_t ranks_;
  std::vector<std::uint32_t> from_switches_;             // links to ranks, by rank, then by switch
  std::unordered_map<std::uint32_t, Switches> reached_;  // by rank; for some ranks at a time
  std::size_t kept_ = 0;                                 // switches in reached_
  std::uint64_t work_ = 0;
};

}  // namespace torc

#endif  // TORC_SCHEDULES_TOPOLOGY_GRAPH_H_
