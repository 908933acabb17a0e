// Simulates the links of a fat tree, packet by packet.
#include "studies/cluster/fat_tree.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

namespace torc::studies {

FatTree::FatTree(const Cluster& cluster, std::uint32_t nodes, Events& events)
    : nodes_(nodes),
      leaf_nodes_(cluster.leaf_nodes),
      uplinks_(cluster.uplinks),
      buffer_(cluster.switch_buffer),
      events_(events),
      place_(nodes) {
  std::iota(place_.begin(), place_.end(), 0u);
  if (cluster.placement != 0) {
    std::mt19937_64 random(cluster.placement);
    for (std::uint32_t left = nodes; left > 1; --left)
      std::swap(place_[left - 1], place_[random() % left]);
  }
  const std::size_t leaves = (nodes + leaf_nodes_ - 1) / leaf_nodes_;
  links_.resize(std::size_t{3} * nodes_ + 2 * leaves * uplinks_);
}

std::uint32_t FatTree::next(std::uint32_t link, const Packet& packet) const {
  if (link < nodes_) return out(packet.from);
  const std::uint32_t first_up = 3 * nodes_;
  const auto first_down = first_up + (static_cast<std::uint32_t>(links_.size()) - first_up) / 2;
  const std::uint32_t port = place_[packet.to] % leaf_nodes_ % uplinks_;
  if (link < first_up) {  // out of a node
    if (leafOf(packet.from) == leafOf(packet.to)) return in(packet.to);
    return first_up + leafOf(packet.from) * uplinks_ + port;
  }
  return link < first_down ? first_down + leafOf(packet.to) * uplinks_ + port : in(packet.to);
}

void FatTree::send(double now, std::uint32_t message, std::uint32_t from, std::uint32_t to,
                   double packets, double bytes, double seconds, double ready) {
  std::deque<std::uint32_t>& waiting = links_[from].arrived;
  const bool was_empty = waiting.empty();
  const double last_s = seconds / packets, first = std::min(now + last_s, ready);
  for (double i = 0; i < packets; ++i) {
    // Packets arrive at the NIC evenly.
    const double end = i + 1 == packets ? ready : first + (ready - first) * i / packets;
    const Packet packet{message,           from, to, i == 0, i + 1 == packets, bytes / packets,
                        seconds / packets, end};
    if (unused_.empty()) {
      waiting.push_back(static_cast<std::uint32_t>(packets_.size()));
      packets_.push_back(packet);
    } else {
      waiting.push_back(unused_.back());
      unused_.pop_back();
      packets_[waiting.back()] = packet;
    }
  }
  if (was_empty) ask(now, from);
}

/// The first packet behind `link` requests its next link.
void FatTree::ask(double now, std::uint32_t link) {
  const std::uint32_t wanted = next(link, packets_[links_[link].arrived.front()]);
  links_[wanted].askers.push_back(link);
  carry(now, wanted);
}

/// A link takes the next packet, if it is free and its far end has room.
void FatTree::carry(double now, std::uint32_t number) {
  Link& link = links_[number];
  if (link.is_busy || link.askers.empty()) return;
  const std::uint32_t before = link.askers.front();
  const std::uint32_t index = links_[before].arrived.front();
  Packet& packet = packets_[index];
  const bool is_in = number == in(packet.to);
  if (!is_in && link.buffered > 0 && link.buffered + packet.bytes > buffer_) return;
  link.askers.pop_front();
  links_[before].arrived.pop_front();
  link.is_busy = true;
  link.packet = index;
  link.before = before;
  packet.end = std::max(now + packet.seconds, packet.end);
  events_.freeAt(packet.end, number);
  if (is_in) {
    if (packet.is_first) events_.reached(packet.message);
    if (packet.is_last) events_.ends(packet.message, packet.end);
  } else {
    link.buffered += packet.bytes;
    link.arrived.push_back(index);
  }
  if (!links_[before].arrived.empty()) ask(now, before);
  if (!is_in && link.arrived.size() == 1) ask(now, number);
}

void FatTree::linkIsFree(double now, std::uint32_t number) {
  Link& link = links_[number];
  const std::uint32_t index = link.packet, before = link.before;
  const Packet packet = packets_[index];
  link.is_busy = false;
  if (number == in(packet.to)) unused_.push_back(index);
  if (before >= nodes_) {
    links_[before].buffered -= packet.bytes;
    carry(now, before);
  } else if (packet.is_last) {
    events_.left(packet.message);
  }
  carry(now, number);
}

}  // namespace torc::studies
