// Traffic: what the processors of a torus send, and what they do with what arrives.
#ifndef TORC_MODEL_PACKETS_TRAFFIC_H_
#define TORC_MODEL_PACKETS_TRAFFIC_H_

#include <cstdint>
#include <string>

#include "schedules/topology/topology.h"

namespace torc::model {

inline constexpr std::uint32_t kNoPacket = 0xffffffffu;

/// A packet under way.
struct Packet {
  std::int8_t hops[kMaxDimensions] = {};  // that are left along each dimension, with their sign
  std::uint8_t chunks = 0;                // its size
  std::uint32_t next = kNoPacket;         // in its queue
  std::uint32_t source = 0;               // node
  std::uint32_t tag = 0;                  // what the traffic wants to know
  std::uint16_t payload = 0;              // bytes
  std::uint8_t input = 0;                 // direction in which it arrived last
  bool deterministic = false;             // on the bubble channel alone
};
static_assert(sizeof(Packet) == 24);

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

  virtual std::uint32_t classes() const { return 1; }
  virtual bool classesGoInDifferentDirections() const { return false; }
  /// The next packet of a class that `node` can send now; false: none, until PacketNetwork::wake.
  virtual bool next(std::uint32_t node, std::uint32_t packet_class, Outgoing& outgoing) = 0;
  /// Whether nextWork may ever give something.
  virtual bool works() const { return false; }
  /// Work of the processor without a packet: its ticks, and a tag. It comes before packets.
  virtual bool nextWork(std::uint32_t node, std::uint32_t& ticks, std::uint32_t& tag) {
    (void)node;
    (void)ticks;
    (void)tag;
    return false;
  }
  /// It is done.
  virtual void worked(PacketNetwork& network, std::uint32_t tag) {
    (void)network;
    (void)tag;
  }
  /// Ticks for which the processor is busy to take up a packet.
  virtual std::uint32_t receiveTicks(std::uint32_t node, const Packet& packet) = 0;
  /// It has taken it up.
  virtual void received(PacketNetwork& network, std::uint32_t node, const Packet& packet) = 0;
  /// A time that PacketNetwork::callAt was given has come.
  virtual void called(PacketNetwork& network, std::uint32_t what) {
    (void)network;
    (void)what;
  }
  /// The most packets that a node held at a time to send on.
  virtual std::uint64_t mostHeld() const { return 0; }
  /// What is missing when nothing happens any more; empty: nothing.
  virtual std::string unfinished() const = 0;
};

}  // namespace torc::model

#endif  // TORC_MODEL_PACKETS_TRAFFIC_H_
