// Graph: the links of a machine that is no torus, each with its bandwidth and latency.
//
// A schedule on a graph numbers its nodes as on a torus, whose axes say where ranks are and no
// more: messages go over the links of the graph alone. Numbers from the ranks' on are switches.
// These send on what comes, and have no rank. So a message goes over one link, or over switches;
// ranks send on what an operation says, as in TACOS, SCCL and ForestColl, and nothing else.
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

/// A directed link, as it stands in memory and in a file.
struct GraphLink {
  std::uint32_t from = 0, to = 0;  // ranks, or switches
  double bandwidth = 1;            // bytes/s; > 0
  double latency = 0;              // seconds; >= 0

  bool operator==(const GraphLink&) const = default;
};
static_assert(sizeof(GraphLink) == 24);

/// Ranks of a graph, at most, and links.
inline constexpr std::uint64_t kMaxGraphRanks = 1u << 20;
inline constexpr std::uint64_t kMaxGraphLinks = 1u << 24;

/// "0->5".
std::string linkText(const GraphLink& link);

/// Sorts links as `validateGraph` wants them; those between the same two nodes become one, of all
/// their bandwidth and the longest latency.
void sortLinks(std::vector<GraphLink>& links);

/// Whether `links`, if there are any, are a graph of the ranks of `topology`, which is valid: by
/// `from`, then by `to`, each once; as many switches as links at most; all axes rings of bandwidth
/// 1 and no latency, and nothing broken.
Status validateGraph(const Topology& topology, std::span<const GraphLink> links);

/// Whether a graph without switches looks the same from every node, in the coordinates of
/// `topology`.
bool looksAlike(const Topology& topology, std::span<const GraphLink> links);

/// The links that messages take between ranks.
class GraphRoutes {
 public:
  /// `links`, which have passed `validateGraph`, must outlive this.
  GraphRoutes(std::span<const GraphLink> links, std::uint64_t ranks);

  /// The links, by number, of a message from one rank to another one: the fewest that lead there
  /// over switches, and of several ways the one over the lowest numbers. None: there is no way.
  std::vector<std::uint32_t> between(std::uint32_t from, std::uint32_t to);

  /// Links that were looked at so far.
  std::uint64_t work() const { return work_; }

 private:
  /// A switch that a rank reaches.
  struct Reached {
    std::uint32_t link = 0;    // that leads to it
    std::uint32_t before = 0;  // the switch before it, by its place in the list; of a first: itself
  };
  struct Switches {
    std::vector<Reached> list;                                // the nearest first
    std::unordered_map<std::uint32_t, std::uint32_t> places;  // in the list, by number
  };

  bool isSwitch(std::uint32_t node) const { return node >= ranks_; }
  /// The first link, by number, from `node` on.
  std::uint32_t firstFrom(std::uint32_t node, std::uint32_t to = 0) const;
  const Switches& switchesFrom(std::uint32_t rank);

  std::span<const GraphLink> links_;
  std::uint64_t ranks_;
  std::vector<std::uint32_t> from_switches_;             // links to ranks, by rank, then by switch
  std::unordered_map<std::uint32_t, Switches> reached_;  // by rank; not of all at a time
  std::size_t kept_ = 0;                                 // switches in it
  std::uint64_t work_ = 0;
};

}  // namespace torc

#endif  // TORC_SCHEDULES_TOPOLOGY_GRAPH_H_
