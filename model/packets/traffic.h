// Traffic: the packets that the processors of a torus send, and the handling of received packets.
#ifndef TORC_MODEL_PACKETS_TRAFFIC_H_
#define TORC_MODEL_PACKETS_TRAFFIC_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "schedules/topology/topology.h"

namespace torc::model {

inline constexpr std::uint32_t kNoPacket = 0xffffffffu;

/// Destination and size of a packet.
struct PacketHead {
  std::int8_t hops[kMaxDimensions] = {};  // remaining hops along each dimension, with their sign
  std::uint8_t chunks = 0;                // its size
};

/// Fields that routers do not use.
struct Cargo {
  std::uint32_t source = 0;   // node
  std::uint32_t tag = 0;      // for use by the traffic
  std::uint16_t payload = 0;  // bytes
  std::uint8_t input = 0;     // last direction of arrival; before that, its injection FIFO
};

/// A packet as seen by traffic.
struct Packet : PacketHead, Cargo {
  bool deterministic = false;      // on the bubble channel only; until it is sent
  std::uint32_t next = kNoPacket;  // in a queue of the traffic
};
static_assert(sizeof(Packet) == 24);

/// Entries of a table, as a linked queue.
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

/// A packet for a processor to send.
struct Outgoing {
  Packet packet;                 // hops, chunks, payload, tag, deterministic
  std::uint32_t ticks = 0;       // of the processor for it
  std::uint64_t not_before = 0;  // time
};

/// Packets wait in injection FIFOs of their class only: no class blocks another. Classes with
/// different directions have separate FIFOs anyway if there is one for each direction.
inline constexpr std::uint32_t kMaxPacketClasses = 8;

class PacketNetwork;

class Traffic {
 public:
  virtual ~Traffic() = default;

  /// Called before the first event.
  virtual void start(PacketNetwork& /*network*/) {}
  virtual std::uint32_t classes() const { return 1; }
  virtual bool classesGoInDifferentDirections() const { return false; }
  /// The next packet of a class that `node` can send now; false: none until PacketNetwork::wake.
  virtual bool next(std::uint32_t node, std::uint32_t packet_class, Outgoing& outgoing) = 0;
  /// Whether nextWork may ever return work.
  virtual bool works() const { return false; }
  /// Work of the processor without a packet: its ticks, and a tag. It precedes packets.
  virtual bool nextWork(std::uint32_t /*node*/, std::uint32_t& /*ticks*/, std::uint32_t& /*tag*/) {
    return false;
  }
  /// The work is complete.
  virtual void worked(PacketNetwork& /*network*/, std::uint32_t /*tag*/) {}
  /// Additional ticks of the processor to receive this packet.
  virtual std::uint32_t furtherReceiveTicks(const Packet& /*packet*/) const { return 0; }
  /// The packet has been received.
  virtual void received(PacketNetwork& network, std::uint32_t node, const Packet& packet) = 0;
  /// Called at a time passed to PacketNetwork::callAt.
  virtual void called(PacketNetwork& /*network*/, std::uint32_t /*what*/) {}
  /// The most packets that a node held for forwarding.
  virtual std::uint64_t mostHeld() const { return 0; }
  /// The missing data when there are no more events; empty: none.
  virtual std::string unfinished() const = 0;
};

}  // namespace torc::model

#endif  // TORC_MODEL_PACKETS_TRAFFIC_H_
