// Packet network: simulates routers of a torus or mesh, their FIFOs, and the processors that serve
// them.
//
// Every node has, for each direction of arriving packets, three virtual channels, each a FIFO: two
// dynamic ones and the bubble channel; and injection FIFOs. The packet at the head of each FIFO
// requests links:
//  - An adaptive packet takes, among the directions that bring it nearer, the free link with the
//    most tokens on one of its dynamic channels; a blocked packet takes the first of them that has
//    room. If no dynamic channel of the link has room, and the link is in the first dimension with
//    hops left, it may take the bubble channel.
//  - A deterministic packet takes the bubble channel of that link only.
//  - On the bubble channel of a ring a packet that goes straight on needs room for itself; a packet
//    that enters needs room for itself and a bubble or, if adaptive, `escape` bytes. So no ring
//    ever fills up.
//  - A free link takes, of the packets in the network that wait for it, that of the longest queue,
//    round-robin among equals; if there is none, a packet to be injected, round-robin. Of every
//    `inject_every` packets one is injected before those in the network.
//  - Virtual cut-through: a packet moves on as soon as its first chunk has arrived and all of it
//    has room downstream. Its tokens return when its last byte has left.
//  - At its destination it goes into the reception FIFO of its direction.
//  - A processor receives and sends packets alternately, one at a time.
//
// All numbers are integers: times in ticks, sizes in chunks. Simultaneous events are processed in
// the order of their causes: runs are reproducible everywhere.
#ifndef TORC_MODEL_PACKETS_NETWORK_H_
#define TORC_MODEL_PACKETS_NETWORK_H_

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <llvm/Support/Error.h>

#include "model/machines/machine.h"
#include "model/machines/packet_parameters.h"
#include "model/packets/event_wheel.h"
#include "model/packets/samples.h"
#include "model/packets/site.h"
#include "model/packets/traffic.h"
#include "schedules/topology/topology.h"

namespace torc::model {

class PacketNetwork {
 public:
  /// Parameters must satisfy checkPacketParameters; the topology has no damage and no cores.
  /// Errors: a shape beyond the limits of packets.
  static llvm::Expected<PacketNetwork> make(const Topology& topology, const Machine& machine,
                                            const PacketParameters& parameters);
  /// Memory in bytes of a network of `nodes` with packets of `packet_bytes`.
  static double memoryBytes(const Topology& topology, const PacketParameters& parameters,
                            double packet_bytes);

  /// Runs until there are no more events, or beyond `most_s`. Errors: a deadlock, with the waiting
  /// node and queue; lost packets or tokens. `progress` gets the packet hops every few million
  /// events.
  llvm::Error run(Traffic& traffic, double most_s = std::numeric_limits<double>::infinity(),
                  const std::function<void(double hops)>& progress = nullptr);

  /// For traffic: `node` may have new packets to send.
  void wake(std::uint32_t node) { wakeAt(node, now()); }
  /// For traffic: calls `called(what)` at a present or later time.
  void callAt(std::uint64_t time, std::uint32_t what) { schedule(time - now(), kCall, what, 0); }
  /// For traffic: counts payload at its final destination.
  void deliver(std::uint64_t bytes) { samples_.delivered += bytes; }

  std::uint64_t now() const { return events_.now(); }
  std::uint64_t packetHops() const { return packet_hops_; }
  std::uint64_t packets() const { return packet_count_; }
  std::uint32_t nodes() const { return nodes_; }
  const Topology& topology() const { return topology_; }
  const PacketParameters& parameters() const { return parameters_; }
  const PacketSamples& samples() const { return samples_; }

  double secondsPerTick() const { return tick_s_; }
  std::uint32_t ticks(double ns) const;
  std::uint32_t chunksOf(double bytes) const;
  /// Ticks of a packet on a link of a dimension.
  std::uint32_t wireTicks(std::uint32_t dimension, std::uint32_t chunks) const {
    return wire_ticks_[dimension * 256 + chunks];
  }
  /// Ticks of a processor to send it.
  std::uint32_t sendTicks(std::uint32_t chunks) const { return send_ticks_[chunks]; }

  /// The hops of a packet from one node to another; `random` decides if both ways are equally long.
  void setHops(std::uint32_t from, std::uint32_t to, std::uint64_t random, Packet& packet) const;
  /// A node's coordinate, and the node with another one.
  std::uint32_t coordinate(std::uint32_t node, std::uint32_t dimension) const {
    return place_[node] >> 8 * dimension & 0xff;
  }
  std::uint32_t withCoordinate(std::uint32_t node, std::uint32_t dimension,
                               std::uint32_t value) const {
    return node + (value - coordinate(node, dimension)) * stride_[dimension];
  }

 private:
  enum Event : std::uint32_t { kArrive, kLinkFree, kTokens, kDelivered, kProcessor, kWake, kCall };

  PacketNetwork(const Topology& topology, const Machine& machine,
                const PacketParameters& parameters);

  void schedule(std::uint64_t delay, Event kind, std::uint32_t place, std::uint32_t detail) {
    events_.add(events_.now() + delay, {place, detail << 3 | kind});
  }
  // Places of events.
  static std::uint32_t linkPlace(std::uint32_t node, std::uint32_t direction) {
    return node << 4 | direction;
  }
  static std::uint32_t queuePlace(std::uint32_t node, std::uint32_t queue) {
    return node << 6 | queue;
  }
  void handle(const PacketEvent& event);

  // Packets.
  std::uint32_t allocate(const Packet& packet);
  /// A packet with all its fields.
  Packet packetOf(std::uint32_t index) const { return {moving_[index], cargo_[index]}; }
  bool append(PacketQueue& fifo, std::uint32_t packet, std::uint32_t chunks);
  static void removeHead(PacketQueue& fifo, std::uint32_t next, std::uint32_t chunks);

  // Routing (network_routing.cc).
  void arrived(std::uint32_t node, std::uint32_t queue, std::uint32_t packet);
  void offerNext(std::uint32_t node, std::uint32_t queue);
  void offer(std::uint32_t node, std::uint32_t queue);
  int channelFor(const OutputLink& output, std::uint32_t direction, std::uint32_t queue,
                 const PacketQueue& fifo) const;
  /// Chunks that must stay free if the packet at the head enters a ring of the bubble channel.
  std::int32_t entryChunks(const PacketQueue& fifo) const {
    return fifo.is_deterministic ? bubble_chunks_ : escape_chunks_;
  }
  std::uint64_t roomFor(const Site& site, std::uint32_t direction) const;
  void arbitrate(std::uint32_t node, std::uint32_t direction);
  void grant(std::uint32_t node, std::uint32_t direction, std::uint32_t queue,
             std::uint32_t channel);
  void becameFree(std::uint32_t node, std::uint32_t direction, std::uint32_t detail);
  void tryReception(std::uint32_t node, std::uint32_t queue);
  void delivered(std::uint32_t node, std::uint32_t queue, std::uint32_t packet);
  void returnTokens(const InputPort& input, std::uint32_t queue, std::uint32_t chunks);
  void addTokens(OutputLink& output, std::uint32_t returned);
  void countReturned(OutputLink& output);
  void awaitReturned(std::uint32_t node, std::uint32_t direction);

  // Processors (network_processor.cc).
  void serve(std::uint32_t node);
  bool startWork(std::uint32_t node);
  bool startReceive(std::uint32_t node);
  bool startSend(std::uint32_t node);
  std::uint32_t longestWay(const Packet& packet) const;
  void shareFifos(const Traffic& traffic);
  void finishJob(std::uint32_t node);
  void wakeAt(std::uint32_t node, std::uint64_t time);

  llvm::Error check() const;
  void sample();

  Topology topology_;
  PacketParameters parameters_;
  std::uint32_t dimensions_ = 0;
  std::uint32_t directions_ = 0;  // 2 for each dimension: up, down
  std::uint32_t nodes_ = 0;
  std::uint32_t fifos_ = 0;  // injection FIFOs of a node
  std::array<std::uint32_t, kMaxDimensions> size_{}, stride_{};
  std::array<bool, kMaxDimensions> is_ring_{};
  std::vector<std::uint64_t> place_;  // by node: a byte for each coordinate
  std::array<std::uint32_t, kMaxDimensions> hop_ticks_{};
  double tick_s_ = 1;
  std::uint32_t token_ticks_ = 0, most_hop_ticks_ = 0;
  std::int32_t channel_chunks_ = 0, bubble_chunks_ = 0, escape_chunks_ = 0, injection_chunks_ = 0,
               reception_chunks_ = 0;
  std::int32_t least_chunks_ = 255;  // of all packets so far
  std::int32_t slot_chunks_ = 0;     // space of a packet in a bubble channel: the largest's size
  std::uint32_t crossbar_ = 0;
  std::uint32_t inject_every_ = 0;
  std::vector<std::uint32_t> wire_ticks_, send_ticks_, receive_ticks_;

  std::vector<Site> site_;            // by node
  std::vector<Outgoing> outgoing_;    // by node and class: taken from the traffic, not sent
  std::vector<MovingPacket> moving_;  // packets in flight
  std::vector<Cargo> cargo_;          // their cargo
  std::uint32_t free_packet_ = kNoPacket;

  Traffic* traffic_ = nullptr;
  std::uint32_t classes_ = 1;
  std::array<std::array<std::uint8_t, kMaxDirections>, kMaxPacketClasses> fifo_of_{};  // by class
  bool works_ = false;
  EventWheel events_;
  std::uint64_t packet_hops_ = 0;
  std::uint64_t packet_count_ = 0;  // injected
  std::uint64_t taken_up_ = 0;
  bool token_fault_ = false;
  PacketSamples samples_;
};

// The functions of every hop are inline.

/// Whether the packet is the first one of the queue.
inline bool PacketNetwork::append(PacketQueue& fifo, std::uint32_t packet, std::uint32_t chunks) {
  moving_[packet].next = kNoPacket;
  const std::uint32_t tail = fifo.tail;
  fifo.tail = packet;
  fifo.chunks = static_cast<std::uint16_t>(fifo.chunks + chunks);
  if (fifo.head != kNoPacket) {
    moving_[tail].next = packet;
    return false;
  }
  fifo.head = packet;
  return true;
}

/// The packet at the head has left.
inline void PacketNetwork::removeHead(PacketQueue& fifo, std::uint32_t next, std::uint32_t chunks) {
  fifo.head = next;
  fifo.chunks = static_cast<std::uint16_t>(fifo.chunks - chunks);
  fifo.is_busy = 1;
}

/// The channel on which the packet at the head of a queue can leave in this direction; -1: none has
/// room.
inline int PacketNetwork::channelFor(const OutputLink& output, std::uint32_t direction,
                                     std::uint32_t queue, const PacketQueue& fifo) const {
  if (!fifo.is_deterministic) {
    const int dynamic = output.tokens[1] > output.tokens[0] ? 1 : 0;
    if (output.tokens[dynamic] >= fifo.head_chunks) return dynamic;
  }
  if ((output.escapes >> queue & 1) == 0) return -1;
  const bool goes_on = queue == queueOf(direction, kBubbleChannel) || !is_ring_[direction / 2];
  const std::int32_t needed = slot_chunks_ + (goes_on ? 0 : entryChunks(fifo));
  return output.tokens[kBubbleChannel] >= needed ? static_cast<int>(kBubbleChannel) : -1;
}

inline void PacketNetwork::addTokens(OutputLink& output, std::uint32_t returned) {
  std::int16_t& tokens = output.tokens[returned & 3];
  tokens = static_cast<std::int16_t>(tokens + (returned >> 2));
  if (tokens > channel_chunks_) token_fault_ = true;
}

/// Takes up the returned tokens.
inline void PacketNetwork::countReturned(OutputLink& output) {
  if (output.returning == 0) return;
  const auto now = static_cast<std::uint32_t>(events_.now());
  std::uint8_t back = 0;
  // A time not in the near future is in the past.
  while (back < output.returning && output.due[back] - now - 1 >= token_ticks_)
    addTokens(output, output.returned[back++]);
  if (back == 0) return;
  output.returning = static_cast<std::uint8_t>(output.returning - back);
  for (std::uint8_t i = 0; i < output.returning; ++i) {
    output.returned[i] = output.returned[i + back];
    output.due[i] = output.due[i + back];
  }
}

}  // namespace torc::model

#endif  // TORC_MODEL_PACKETS_NETWORK_H_
