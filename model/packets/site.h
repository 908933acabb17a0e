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
// Queues of a node are numbered: those of a direction of arrival from 4 times the direction on,
// then injection FIFOs. Each is a bit of a word.
inline constexpr std::uint32_t kQueuesOfDirection = 4;  // of which there are three
inline constexpr std::uint32_t kFirstInjection = kQueuesOfDirection * kMaxDirections;
inline constexpr std::uint32_t kMaxInjectionFifos = 64 - kFirstInjection;
inline constexpr std::uint64_t kAllChannels = (std::uint64_t{1} << kFirstInjection) - 1;

/// The lowest bit of `bits`, which are not 0: this spares a test.
inline std::uint32_t lowestBit(std::uint64_t bits) {
  return static_cast<std::uint32_t>(__builtin_ctzll(bits));
}

/// A dimension and a sign, of remaining hops.
inline constexpr std::uint32_t directionOf(std::uint32_t dimension, int hops) {
  return 2 * dimension + (hops < 0 ? 1 : 0);
}

inline constexpr std::uint32_t queueOf(std::uint32_t direction, std::uint32_t channel) {
  return direction * kQueuesOfDirection + channel;
}

inline constexpr std::uint64_t queuesOf(std::uint32_t direction) {
  return std::uint64_t{7} << queueOf(direction, 0);
}

/// A packet in flight. It is in the next queue from its start on a link.
struct MovingPacket : PacketHead {
  std::uint32_t next = kNoPacket;  // in its queue
  // The time at which its first chunk is in its queue, without the upper half: after a wait of 2^32
  // ticks a packet may leave up to a hop late.
  std::uint32_t arrives = 0;
  std::uint16_t directions = 0;  // directions of its hops, a bit each
  bool deterministic = false;
};
static_assert(sizeof(MovingPacket) == 20);

/// A FIFO of packets: of a virtual channel, or for injection.
struct PacketQueue {
  std::uint32_t head = kNoPacket;
  std::uint32_t tail = kNoPacket;
  std::uint16_t chunks = 0;  // of all its packets
  std::uint8_t is_busy = 0;  // with a packet that is leaving
  // Request of the packet at the head, once made.
  std::uint8_t head_chunks = 0;
  std::uint16_t head_directions = 0;
  bool is_deterministic = false;
};
static_assert(sizeof(PacketQueue) == 16);

/// A link that leaves a node, and the packets that wait for it. Returning tokens are events only if
/// a packet waits for a free link: otherwise they are counted on the next use.
struct alignas(64) OutputLink {
  static constexpr std::uint32_t kMostReturning = 4;

  std::uint64_t wanted = 0;  // queues whose heads may take its dynamic channels
  std::int16_t tokens[kPacketChannels] = {};
  std::uint8_t is_free = 1;
  std::uint8_t turn = 0;      // the queue with priority
  std::uint64_t escapes = 0;  // queues whose heads may take its bubble channel
  std::uint32_t neighbour = kNoPacket;
  std::uint8_t since_injection = 0;             // packets since the last injection before others
  std::uint8_t returning = 0;                   // returning tokens, in the order of time:
  std::uint16_t returned[kMostReturning] = {};  // chunks << 2 | channel
  std::uint32_t due[kMostReturning] = {};       // time, without its upper half

  std::uint64_t waiting() const { return wanted | escapes; }
};

/// The end of a link: virtual channels, input of the crossbar, reception FIFO.
struct alignas(64) InputPort {
  PacketQueue channels[kPacketChannels];
  std::uint32_t upstream = 0;  // the node at the link's other end
  std::int16_t room = 0;       // chunks of the reception FIFO
  std::uint8_t is_busy = 0;    // the reception FIFO is receiving a packet
  std::uint8_t leaving = 0;    // packets in the crossbar
  std::uint8_t waiting = 0;    // channels whose heads wait for the reception FIFO
};
static_assert(sizeof(InputPort) == 64);

enum class PacketJob : std::uint8_t { kSend, kReceive, kWork };

/// The data of a node are adjacent: with thousands of nodes no cache holds all.
struct Site {
  OutputLink outputs[kMaxDirections];
  InputPort inputs[kMaxDirections];
  PacketQueue injection[kMaxInjectionFifos];
  std::int16_t injection_room[kMaxInjectionFifos] = {};  // chunks
  std::uint64_t held = 0;         // queues of inputs at their limit of leaving packets
  EntryQueue received;            // packets for the processor
  std::uint32_t job = kNoPacket;  // the processor's current packet, or the tag
  PacketJob job_kind = PacketJob::kSend;
  bool is_busy = false;        // the processor
  bool receives_next = false;  // whether a receive is next
  std::uint8_t next_class = 0;
  std::uint8_t has_outgoing = 0;  // classes with a pending packet from the traffic
  std::uint64_t wakes_at = 0;     // the earliest pending wake

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
// Sites at a distance of a power of two would share few cache lines.
static_assert(sizeof(Site) / 64 % 2 == 1);

}  // namespace torc::model

#endif  // TORC_MODEL_PACKETS_SITE_H_
