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
//    enters needs room for itself and a bubble. So no ring ever fills up.
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
#include "model/packets/event_wheel.h"
#include "model/packets/parameters.h"
#include "model/packets/samples.h"
#include "model/packets/traffic.h"
#include "schedules/topology/topology.h"

namespace torc {

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
  void wake(std::uint32_t node);
  /// For traffic: calls `called(what)` at a time that is not past.
  void callAt(std::uint64_t time, std::uint32_t what);
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
  double seconds(std::uint64_t ticks) const { return static_cast<double>(ticks) * tick_s_; }
  std::uint32_t ticks(double ns) const;
  std::uint32_t chunksOf(double bytes) const;
  /// Ticks for which a packet keeps a link of a dimension busy.
  std::uint32_t wireTicks(std::uint32_t dimension, std::uint32_t chunks) const {
    return wire_ticks_[dimension * 256 + chunks];
  }
  /// Ticks for which it keeps a processor busy to send it, and to take it up.
  std::uint32_t sendTicks(std::uint32_t chunks) const { return send_ticks_[chunks]; }
  std::uint32_t receiveTicks(std::uint32_t chunks) const { return receive_ticks_[chunks]; }

  /// The hops of a packet from one node to another; `random` decides where both ways are as long.
  void setHops(std::uint32_t from, std::uint32_t to, std::uint64_t random, Packet& packet) const;
  /// A node's coordinate, and the node with another one.
  std::uint32_t coordinate(std::uint32_t node, std::uint32_t dimension) const {
    return node / stride_[dimension] % size_[dimension];
  }
  std::uint32_t withCoordinate(std::uint32_t node, std::uint32_t dimension,
                               std::uint32_t value) const {
    return node + (value - coordinate(node, dimension)) * stride_[dimension];
  }

 private:
  static constexpr std::uint32_t kChannels = 3;
  static constexpr std::uint32_t kBubble = 2;
  static constexpr std::uint64_t kAllChannels = 7;  // a bit for each

  enum Event : std::uint32_t { kArrive, kLinkFree, kTokens, kDelivered, kProcessor, kWake, kCall };

  /// What routers look at of a packet under way. It is in the next queue from the moment at which
  /// it starts on a link.
  struct Moving {
    std::int8_t hops[kMaxDimensions] = {};
    std::uint8_t chunks = 0;
    std::uint32_t next = kNoPacket;  // in its queue
    // The time at which its first chunk is in its queue, without its upper bits: where a packet has
    // waited for 2^31 ticks, up to a hop more may pass until it leaves.
    std::uint32_t arrives : 31 = 0;
    std::uint32_t deterministic : 1 = 0;
  };
  static_assert(sizeof(Moving) == 16);
  /// And the rest.
  struct Cargo {
    std::uint32_t source = 0;
    std::uint32_t tag = 0;
    std::uint16_t payload = 0;
    std::uint8_t input = 0;  // direction in which it arrived last; before that, its injection FIFO
  };

  /// A FIFO of packets: of a virtual channel, or for injection.
  struct Queue {
    std::uint32_t head = kNoPacket;
    std::uint32_t tail = kNoPacket;
    std::uint16_t chunks = 0;   // of all its packets
    std::uint16_t is_busy = 0;  // with a packet on its way out
  };

  /// A link that leaves a node, and the packets that wait for it. Tokens on their way back are
  /// events only where a packet waits for a link that is free: otherwise they are counted when
  /// somebody looks.
  struct alignas(64) Output {
    static constexpr std::uint32_t kMostReturning = 4;

    std::uint64_t wanted = 0;   // queues whose heads may take its dynamic channels
    std::uint64_t escapes = 0;  // and its bubble channel
    std::int16_t tokens[kChannels] = {};
    std::uint8_t is_free = 1;
    std::uint8_t turn = 0;                        // the queue that comes first
    std::uint8_t since_injection = 0;             // packets since one was injected before others
    std::uint8_t returning = 0;                   // tokens on their way, in the order of time:
    std::uint16_t returned[kMostReturning] = {};  // chunks << 2 | channel
    std::uint32_t due[kMostReturning] = {};       // time, without its upper half
    std::uint32_t neighbour = kNoPacket;
  };
  /// The reception FIFO of a direction, and the input of the crossbar.
  struct Input {
    std::int16_t room = 0;       // chunks of the reception FIFO
    std::uint8_t is_busy = 0;    // the reception FIFO, with a packet that comes in
    std::uint8_t leaving = 0;    // packets on their way through the crossbar
    std::uint8_t waiting = 0;    // channels whose heads wait for the reception FIFO
    std::uint32_t upstream = 0;  // the link that leads here
  };
  enum class Job : std::uint8_t { kSend, kReceive, kWork };
  struct Node {
    std::uint64_t held = 0;              // queues of inputs from which as many leave as can
    std::uint32_t received = kNoPacket;  // packets for the processor, in order
    std::uint32_t received_tail = kNoPacket;
    std::uint32_t job = kNoPacket;  // the packet that the processor works on, or the tag
    Job job_kind = Job::kSend;
    bool is_busy = false;        // the processor
    bool receives_next = false;  // whose turn it is
    std::uint8_t next_class = 0;
    std::array<bool, kMaxPacketClasses> has_outgoing{};
    std::uint64_t wakes_at = 0;  // the earliest wake that is under way
  };

  PacketNetwork(const Topology& topology, const Machine& machine,
                const PacketParameters& parameters);

  static constexpr std::uint32_t kTimeMask = (1u << 31) - 1;

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
  void prefetch(const PacketEvent& event) const;
  void prefetchMore(const PacketEvent& event) const;

  std::uint32_t allocate(const Packet& packet);
  Packet packetOf(std::uint32_t index) const;
  void release(std::uint32_t packet);
  void append(Queue& fifo, std::uint32_t packet);
  void removeHead(Queue& fifo);

  // Routing (network_routing.cc).
  void arrived(std::uint32_t node, std::uint32_t queue, std::uint32_t packet);
  void offerNext(std::uint32_t node, std::uint32_t queue);
  void offer(std::uint32_t node, std::uint32_t queue);
  std::uint32_t longest(std::uint32_t node, std::uint64_t fit, std::uint64_t behind) const;
  std::uint64_t roomFor(std::uint32_t node, std::uint32_t direction) const;
  int channelFor(const Output& output, std::uint32_t direction, std::uint32_t queue,
                 const Moving& packet) const;
  void arbitrate(std::uint32_t node, std::uint32_t direction);
  void grant(std::uint32_t node, std::uint32_t direction, std::uint32_t queue,
             std::uint32_t channel);
  void becameFree(std::uint32_t node, std::uint32_t direction, std::uint32_t queue);
  void tryReception(std::uint32_t node, std::uint32_t queue);
  void delivered(std::uint32_t node, std::uint32_t queue, std::uint32_t packet);
  void returnTokens(std::uint32_t node, std::uint32_t queue, std::uint32_t chunks);
  void addTokens(Output& output, std::uint32_t returned);
  void countReturned(Output& output);
  void awaitReturned(std::uint32_t node, std::uint32_t direction);

  // Processors (network_processor.cc).
  void serve(std::uint32_t node);
  bool startWork(std::uint32_t node);
  bool startReceive(std::uint32_t node);
  bool startSend(std::uint32_t node);
  int injectionFifo(std::uint32_t node, std::uint32_t packet_class, const Packet& packet) const;
  void finishJob(std::uint32_t node);
  void wakeAt(std::uint32_t node, std::uint64_t time);

  llvm::Error check() const;
  void sample();

  Topology topology_;
  PacketParameters parameters_;
  std::uint32_t dimensions_ = 0;
  std::uint32_t directions_ = 0;  // 2 for each dimension: up, down
  std::uint32_t nodes_ = 0;
  std::uint32_t fifos_ = 0;     // injection FIFOs of a node
  std::uint32_t channels_ = 0;  // of a node: three by direction
  std::uint32_t queues_ = 0;    // of a node: channels, then injection FIFOs
  std::array<std::uint32_t, kMaxDimensions> size_{}, stride_{};
  std::array<bool, kMaxDimensions> wraps_{}, is_ring_{};
  std::array<std::uint32_t, kMaxDimensions> hop_ticks_{};
  double tick_s_ = 1;
  std::uint32_t token_ticks_ = 0, most_hop_ticks_ = 0;
  std::int32_t channel_chunks_ = 0, bubble_chunks_ = 0, injection_chunks_ = 0,
               reception_chunks_ = 0;
  std::int32_t least_chunks_ = 255;  // of all packets so far
  std::int32_t slot_chunks_ = 0;     // what a packet takes of a bubble channel: the largest's size
  std::uint32_t crossbar_ = 0;
  std::uint32_t inject_every_ = 0;
  std::vector<std::uint32_t> wire_ticks_, send_ticks_, receive_ticks_;

  std::vector<Queue> queue_;    // by node and queue
  std::vector<Output> output_;  // by node and direction
  std::vector<Input> input_;    // likewise
  std::vector<Node> node_;
  std::vector<std::int16_t> injection_room_;  // chunks by node and FIFO
  std::vector<Outgoing> outgoing_;            // by node and class: taken from the traffic, not sent
  std::vector<Moving> moving_;                // packets under way
  std::vector<Cargo> cargo_;
  std::uint32_t free_packet_ = kNoPacket;

  Traffic* traffic_ = nullptr;
  std::uint32_t classes_ = 1;
  bool works_ = false;
  EventWheel events_;
  std::uint64_t packet_hops_ = 0;
  std::uint64_t packet_count_ = 0;  // injected
  std::uint64_t taken_up_ = 0;
  bool token_fault_ = false;
  PacketSamples samples_;
};

}  // namespace torc

#endif  // TORC_MODEL_PACKETS_NETWORK_H_
