// Traffic: what the processors of a torus send, and what they do with what arrives.
#ifndef TORC_MODEL_PACKETS_TRAFFIC_H_
#define TORC_MODEL_PACKETS_TRAFFIC_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "schedules/topology/topology.h"

namespace torc::model {

inline constexpr std::uint32_t kNoPacket = 0xffffffffu;

/// Where a packet goes, and how large it is.
struct PacketHead {
  std::int8_t hops[kMaxDimensions] = {};  // that are left along each dimension, with their sign
  std::uint8_t chunks = 0;                // its size
};

/// What routers do not look at.
struct Cargo {
  std::uint32_t source = 0;   // node
  std::uint32_t tag = 0;      // what the traffic wants to know
  std::uint16_t payload = 0;  // bytes
  std::uint8_t input = 0;     // direction in which it arrived last; before that, its injection FIFO
};

/// A packet as traffic knows it.
struct Packet : PacketHead, Cargo {
  bool deterministic = false;      // on the bubble channel alone; until it is sent
  std::uint32_t next = kNoPacket;  // in a queue of the traffic
};
static_assert(sizeof(Packet) == 24);

/// Entries of a table, in order; each knows the next.
struct EntryQueue {
  std::uint32_t first = kNoPacket, last = kNoPacket;

  bool isEmpty() const { return first == kNoPacket; }
  template <typename Entry>
  void push(std::vector<Entry>& table, std::uint32_t entry) {
    table[entry].next = kNoPacket;
    (isEmpty() ? first : table[last].next) = entry;
    last = entry;
  }
  template <typename Entry>
  std::uint32_t pop(const std::vector<Entry>& table) {
    return std::exchange(first, table[first].next);
  }
};

/// A packet that a processor is to send.
struct Outgoing {
  Packet packet;                 // hops, chunks, payload, tag, deterministic
  std::uint32_t ticks = 0;       // for which the processor is busy with it
  std::uint64_t not_before = 0;  // time
};

/// Packets wait in injection FIFOs of their class alone: one class never blocks another. Classes
/// that go in different directions have FIFOs of their own anyway, where there is one for each
/// direction.
inline constexpr std::uint32_t kMaxPacketClasses = 8;

class PacketNetwork;

class Traffic {
 public:
  virtual ~Traffic() = default;

  /// Called before anything happens.
  virtual void start(PacketNetwork& /*network*/) {}
  virtual std::uint32_t classes() const { return 1; }
  virtual bool classesGoInDifferentDirections() const { return false; }
  /// The next packet of a class that `node` can send now; false: none, until PacketNetwork::wake.
  virtual bool next(std::uint32_t node, std::uint32_t packet_class, Outgoing& outgoing) = 0;
  /// Whether nextWork may ever give something.
  virtual bool works() const { return false; }
  /// Work of the processor without a packet: its ticks, and a tag. It comes before packets.
  virtual bool nextWork(std::uint32_t /*node*/, std::uint32_t& /*ticks*/, std::uint32_t& /*tag*/) {
    return false;
  }
  /// It is done.
  virtual void worked(PacketNetwork& /*network*/, std::uint32_t /*tag*/) {}
  /// Ticks for which the processor is busy to take up a packet, besides those of any packet.
  virtual std::uint32_t furtherReceiveTicks(const Packet& /*packet*/) const { return 0; }
  /// It has taken it up.
  virtual void received(PacketNetwork& network, std::uint32_t node, const Packet& packet) = 0;
  /// A time that PacketNetwork::callAt was given has come.
  virtual void called(PacketNetwork& /*network*/, std::uint32_t /*what*/) {}
  /// The most packets that a node held at a time to send on.
  virtual std::uint64_t mostHeld() const { return 0; }
  /// What is missing when nothing happens any more; empty: nothing.
  virtual std::string unfinished() const = 0;
};

}  // namespace torc::model

#endif  // TORC_MODEL_PACKETS_TRAFFIC_H_
