// FatTree: the switches of a cluster in two levels, and the messages that wait for their links.
//
// A leaf switch joins `leaf_nodes` nodes with `uplinks` switches of the second level. The way of a
// message depends on its destination alone, as the tables of InfiniBand's switches say it: by the
// second-level switch whose number is that of the destination's port on its leaf, modulo `uplinks`.
// A link carries one packet after another, and its far end has a buffer of `switch_buffer` bytes
// that is a FIFO: its first packet asks for the next link, those behind wait for it (head-of-line
// blocking), and a full buffer stops the link before it. A packet goes on while its end is still
// coming (cut-through).
//
// "Multistage Switches are not Crossbars: Effects of Static Routing in High-Performance Networks"
// (Hoefler, Schneider and Lumsdaine, Cluster 2008) measured what this costs.
#ifndef TORC_STUDIES_CLUSTER_FAT_TREE_H_
#define TORC_STUDIES_CLUSTER_FAT_TREE_H_

#include <cstdint>
#include <deque>
#include <vector>

#include "studies/cluster/cluster.h"

namespace torc::studies {

class FatTree {
 public:
  /// What the tree asks of the simulation around it.
  class Events {
   public:
    virtual ~Events() = default;
    /// Calls `linkIsFree(link)` at a time that is not past.
    virtual void freeAt(double time, std::uint32_t link) = 0;
    /// The last byte of a message has left the node of its sender.
    virtual void left(std::uint32_t message) = 0;
    /// A message has begun to come in at its receiver's node.
    virtual void reached(std::uint32_t message) = 0;
    /// Its last byte will be there at `end`.
    virtual void ends(std::uint32_t message, double end) = 0;
  };

  FatTree(const Cluster& cluster, std::uint32_t nodes, Events& events);

  /// A message of so many packets, of `bytes` on the wire that keep a link busy for `seconds`. Its
  /// end is at the node's NIC at `ready`.
  void send(double now, std::uint32_t message, std::uint32_t from, std::uint32_t to, double packets,
            double bytes, double seconds, double ready);
  void linkIsFree(double now, std::uint32_t link);

 private:
  /// Links are numbered: what waits in the NICs of nodes (no link, but a FIFO like its far end),
  /// those out of nodes, those into nodes, up from leaves, down to leaves.
  struct Link {
    bool is_busy = false;
    std::uint32_t packet = 0, before = 0;  // that it carries, and the link that brought it
    std::deque<std::uint32_t> arrived;     // at the far end
    double buffered = 0;                   // bytes there
    std::deque<std::uint32_t> askers;      // links whose first packet wants this one
  };
  struct Packet {
    std::uint32_t message = 0, from = 0, to = 0;
    bool is_first = false, is_last = false;
    double bytes = 0, seconds = 0;
    double end = 0;  // when its last byte is where its first is
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
