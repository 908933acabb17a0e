// Site: the state of a node of a packet network (its links, FIFOs and processor), and of packets.
#ifndef TORC_MODEL_PACKETS_SITE_H_
#define TORC_MODEL_PACKETS_SITE_H_

#include <cstdint>

#include "model/packets/traffic.h"
#include "schedules/topology/topology.h"

namespace torc::model {

inline constexpr std::uint32_t kPacketChannels = 3;  // virtual channels of a direction
inline constexpr std::uint32_t kBubbleChannel = 2;   // the last one of them
inline constexpr std::uint32_t kMaxDirections = 2 * kMaxDimensions;
// Queues of a node are numbered: those of a direction in which packets arrive from 4 times the
// direction on, then injection FIFOs. Each is a bit of a word.
inline constexpr std::uint32_t kQueuesOfDirection = 4;  // of which there are three
inline constexpr std::uint32_t kFirstInjection = kQueuesOfDirection * kMaxDirections;
inline constexpr std::uint32_t kMaxInjectionFifos = 64 - kFirstInjection;
inline constexpr std::uint64_t kAllChannels = (std::uint64_t{1} << kFirstInjection) - 1;

/// The lowest bit of `bits`, which are not 0: the compiler need not ask whether they are.
inline std::uint32_t lowestBit(std::uint64_t bits) {
  return static_cast<std::uint32_t>(__builtin_ctzll(bits));
}

/// A dimension and a sign; there are hops.
inline constexpr std::uint32_t directionOf(std::uint32_t dimension, int hops) {
  return 2 * dimension + (hops < 0 ? 1 : 0);
}

inline constexpr std::uint32_t queueOf(std::uint32_t direction, std::uint32_t channel) {
  return direction * kQueuesOfDirection + channel;
}

/// The queues of a direction.
inline constexpr std::uint64_t queuesOf(std::uint32_t direction) {
  return std::uint64_t{7} << queueOf(direction, 0);
}

/// A packet under way. It is in the next queue from the moment at which it starts on a link.
struct MovingPacket : PacketHead {
  std::uint32_t next = kNoPacket;  // in its queue
  // The time at which its first chunk is in its queue, without the upper half: where a packet has
  // waited for 2^32 ticks, up to a hop more may pass until it leaves.
  std::uint32_t arrives = 0;
  std::uint16_t directions = 0;  // those of its hops, a bit each
  bool deterministic = false;
};
static_assert(sizeof(MovingPacket) == 20);

/// A FIFO of packets: of a virtual channel, or for injection.
struct PacketQueue {
  std::uint32_t head = kNoPacket;
  std::uint32_t tail = kNoPacket;
  std::uint16_t chunks = 0;  // of all its packets
  std::uint8_t is_busy = 0;  // with a packet on its way out
  // What the packet at the head asks for, once it does.
  std::uint8_t head_chunks = 0;
  std::uint16_t head_directions = 0;
  bool is_deterministic = false;
};
static_assert(sizeof(PacketQueue) == 16);

/// A link that leaves a node, and the packets that wait for it. Tokens on their way back are events
/// only where a packet waits for a link that is free: otherwise they are counted when somebody
/// looks.
struct alignas(64) OutputLink {
  static constexpr std::uint32_t kMostReturning = 4;

  std::uint64_t wanted = 0;  // queues whose heads may take its dynamic channels
  std::int16_t tokens[kPacketChannels] = {};
  std::uint8_t is_free = 1;
  std::uint8_t turn = 0;      // the queue that comes first
  std::uint64_t escapes = 0;  // queues whose heads may take its bubble channel
  std::uint32_t neighbour = kNoPacket;
  std::uint8_t since_injection = 0;             // packets since one was injected before others
  std::uint8_t returning = 0;                   // tokens on their way, in the order of time:
  std::uint16_t returned[kMostReturning] = {};  // chunks << 2 | channel
  std::uint32_t due[kMostReturning] = {};       // time, without its upper half

  std::uint64_t waiting() const { return wanted | escapes; }
};

/// Where packets of a direction arrive: virtual channels, input of the crossbar, reception FIFO.
struct alignas(64) InputPort {
  PacketQueue channels[kPacketChannels];
  std::uint32_t upstream = 0;  // the node whose link leads here
  std::int16_t room = 0;       // chunks of the reception FIFO
  std::uint8_t is_busy = 0;    // the reception FIFO, with a packet that comes in
  std::uint8_t leaving = 0;    // packets on their way through the crossbar
  std::uint8_t waiting = 0;    // channels whose heads wait for the reception FIFO
};
static_assert(sizeof(InputPort) == 64);

enum class PacketJob : std::uint8_t { kSend, kReceive, kWork };

/// What belongs to a node lies together: with thousands of nodes no cache holds all.
struct Site {
  OutputLink outputs[kMaxDirections];
  InputPort inputs[kMaxDirections];
  PacketQueue injection[kMaxInjectionFifos];
  std::int16_t injection_room[kMaxInjectionFifos] = {};  // chunks
  std::uint64_t held = 0;         // queues of inputs from which as many leave as can
  EntryQueue received;            // packets for the processor
  std::uint32_t job = kNoPacket;  // the packet that the processor works on, or the tag
  PacketJob job_kind = PacketJob::kSend;
  bool is_busy = false;        // the processor
  bool receives_next = false;  // whose turn it is
  std::uint8_t next_class = 0;
  std::uint8_t has_outgoing = 0;  // classes whose next packet the traffic has given
  std::uint64_t wakes_at = 0;     // the earliest wake that is under way

  PacketQueue& queue(std::uint32_t number) {
    return number < kFirstInjection
               ? inputs[number / kQueuesOfDirection].channels[number % kQueuesOfDirection]
               : injection[number - kFirstInjection];
  }
  const PacketQueue& queue(std::uint32_t number) const {
    return const_cast<Site*>(this)->queue(number);
  }
};
static_assert(kMaxPacketClasses <= kMaxInjectionFifos);
// Sites whose distance is a power of two would share few lines of a cache.
static_assert(sizeof(Site) / 64 % 2 == 1);

}  // namespace torc::model

#endif  // TORC_MODEL_PACKETS_SITE_H_
