// FatTree: the two levels of switches of a cluster, and the messages waiting for their links.
//
// A leaf switch joins `leaf_nodes` nodes with `uplinks` switches of the second level. The route of
// a message depends only on its destination, as in the tables of InfiniBand's switches: it uses the
// second-level switch with the number of the destination's port on its leaf, modulo `uplinks`. A
// link carries one packet after another, and its far end has a FIFO buffer of `switch_buffer`
// bytes: its first packet requests the next link, later ones wait for it (head-of-line blocking),
// and a full buffer stops the link before it. A packet moves on while its end is still arriving
// (cut-through).
//
// "Multistage Switches are not Crossbars: Effects of Static Routing in High-Performance Networks"
// (Hoefler, Schneider and Lumsdaine, Cluster 2008) measured the cost of this.
#ifndef TORC_STUDIES_CLUSTER_FAT_TREE_H_
#define TORC_STUDIES_CLUSTER_FAT_TREE_H_

#include <cstdint>
#include <deque>
#include <vector>

#include "studies/cluster/cluster.h"

namespace torc::studies {

class FatTree {
 public:
  /// Callbacks to the surrounding simulation.
  class Events {
   public:
    virtual ~Events() = default;
    /// Calls `linkIsFree(link)` at a present or later time.
    virtual void freeAt(double time, std::uint32_t link) = 0;
    /// The last byte of a message has left the node of its sender.
    virtual void left(std::uint32_t message) = 0;
    /// The first byte of a message has arrived at its receiver's node.
    virtual void reached(std::uint32_t message) = 0;
    /// Its last byte will arrive at `end`.
    virtual void ends(std::uint32_t message, double end) = 0;
  };

  FatTree(const Cluster& cluster, std::uint32_t nodes, Events& events);

  /// A message of `packets` packets, of `bytes` on the wire that keep a link busy for `seconds`.
  /// Its end is at the node's NIC at `ready`.
  void send(double now, std::uint32_t message, std::uint32_t from, std::uint32_t to, double packets,
            double bytes, double seconds, double ready);
  void linkIsFree(double now, std::uint32_t link);

 private:
  /// Links are numbered: queues in the NICs of nodes (no link, but a FIFO like its far end), links
  /// out of nodes, links into nodes, up from leaves, down to leaves.
  struct Link {
    bool is_busy = false;
    std::uint32_t packet = 0, before = 0;  // the current one, and its previous link
    std::deque<std::uint32_t> arrived;     // at the far end
    double buffered = 0;                   // links whose first packet waits for this one
    std::deque<std::uint32_t> askers;      // links whose first packet wants this one
  };
  struct Packet {
    std::uint32_t message = 0, from = 0, to = 0;
    bool is_first = false, is_last = false;
    double bytes = 0, seconds = 0;
    double end = 0;  // arrival of its last byte at the place of its first
  };

  std::uint32_t out(std::uint32_t node) const { return nodes_ + node; }
  std::uint32_t in(std::uint32_t node) const { return 2 * nodes_ + node; }
  std::uint32_t leafOf(std::uint32_t node) const { return place_[node] / leaf_nodes_; }
  std::uint32_t next(std::uint32_t link, const Packet& packet) const;
  void ask(double now, std::uint32_t link);
  void carry(double now, std::uint32_t link);

  const std::uint32_t nodes_, leaf_nodes_, uplinks_;
  const double buffer_;
  Events& events_;
  std::vector<std::uint32_t> place_;  // by node: its port
  std::vector<Link> links_;
  std::vector<Packet> packets_;  // a pool
  std::vector<std::uint32_t> unused_;
};

}  // namespace torc::studies

#endif  // TORC_STUDIES_CLUSTER_FAT_TREE_H_
