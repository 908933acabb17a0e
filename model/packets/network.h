// Packet network: routers of a torus or mesh, their FIFOs, and the processors that serve them.
//
// Every node has for each direction in which packets arrive three virtual channels, each a FIFO:
// two dynamic ones and the bubble channel; and injection FIFOs. The packet at the head of each of
// these asks for links:
//  - A packet that may choose takes, among the directions that bring it nearer, the free link with
//    the most tokens on one of its dynamic channels; a packet waits for the first of them that has
//    room. Where no dynamic channel of the link has room, and the link is that of its first
//    dimension that has hops left, it may take the bubble channel.
//  - A packet that may not choose takes the bubble channel of that link alone.
//  - On the bubble channel of a ring a packet that goes straight on needs room for itself; one that
//    enters needs room for itself and a bubble, or, if it may choose, what `escape` says. So no
//    ring ever fills up.
//  - A link that becomes free takes, of the packets in the network that wait for it, that of the
//    longest queue, of equals the next in turn; where there is none, one that is to be injected, in
//    turn. Of every `inject_every` packets one is injected before those in the network.
//  - Virtual cut-through: a packet goes on as soon as its first chunk is there, once all of it has
//    room downstream. Its tokens go back when its last byte has left.
//  - At its destination it goes into the reception FIFO of its direction.
//  - A processor takes up a packet and sends one in turn, one at a time.
//
// All is integers: times in ticks, sizes in chunks. Events at the same time happen in the order in
// which they were caused: a run is the same everywhere.
#ifndef TORC_MODEL_PACKETS_NETWORK_H_
#define TORC_MODEL_PACKETS_NETWORK_H_

#include <array>
#include <cstdint>
#include <functional>
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
  /// Parameters that checkPacketParameters accepts; the topology is neither damaged nor has it
  /// cores. Errors: a shape that packets cannot count.
  static llvm::Expected<PacketNetwork> make(const Topology& topology, const Machine& machine,
                                            const PacketParameters& parameters);
  /// Bytes that a network of `nodes` takes when its packets are of `packet_bytes`.
  static double memoryBytes(const Topology& topology, const PacketParameters& parameters,
                            double packet_bytes);

  /// Runs until nothing happens any more. Errors: a deadlock, with the node and queue that wait;
  /// packets or tokens lost. `progress` is called every few million events.
  llvm::Error run(Traffic& traffic, const std::function<void()>& progress = nullptr);

  /// For traffic: `node` may have something to send again.
  void wake(std::uint32_t node) { wakeAt(node, now()); }
  /// For traffic: calls `called(what)` at a time that is not past.
  void callAt(std::uint64_t time, std::uint32_t what) { schedule(time - now(), kCall, what, 0); }
  /// For traffic: counts payload that is where it belongs.
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
  /// Ticks for which a packet keeps a link of a dimension busy.
  std::uint32_t wireTicks(std::uint32_t dimension, std::uint32_t chunks) const {
    return wire_ticks_[dimension * 256 + chunks];
  }
  /// Ticks for which it keeps a processor busy to send it.
  std::uint32_t sendTicks(std::uint32_t chunks) const { return send_ticks_[chunks]; }

  /// The hops of a packet from one node to another; `random` decides where both ways are as long.
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
  /// All of a packet, as traffic knows it.
  Packet packetOf(std::uint32_t index) const { return {moving_[index], cargo_[index]}; }
  bool append(PacketQueue& fifo, std::uint32_t packet, std::uint32_t chunks);
  static void removeHead(PacketQueue& fifo, std::uint32_t next, std::uint32_t chunks);

  // Routing (network_routing.cc).
  void arrived(std::uint32_t node, std::uint32_t queue, std::uint32_t packet);
  void offerNext(std::uint32_t node, std::uint32_t queue);
  void offer(std::uint32_t node, std::uint32_t queue);
  int channelFor(const OutputLink& output, std::uint32_t direction, std::uint32_t queue,
                 const PacketQueue& fifo) const;
  /// Chunks that must stay free where the packet at the head enters a ring of the bubble channel.
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
  std::int32_t slot_chunks_ = 0;     // what a packet takes of a bubble channel: the largest's size
  std::uint32_t crossbar_ = 0;
  std::uint32_t inject_every_ = 0;
  std::vector<std::uint32_t> wire_ticks_, send_ticks_, receive_ticks_;

  std::vector<Site> site_;            // by node
  std::vector<Outgoing> outgoing_;    // by node and class: taken from the traffic, not sent
  std::vector<MovingPacket> moving_;  // packets under way
  std::vector<Cargo> cargo_;          // and what they carry
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

// What every hop does is inline.

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

/// The packet at the head is on its way out.
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

/// Takes up the tokens that are back.
inline void PacketNetwork::countReturned(OutputLink& output) {
  if (output.returning == 0) return;
  const auto now = static_cast<std::uint32_t>(events_.now());
  std::uint8_t back = 0;
  // What is not due soon is long past.
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
