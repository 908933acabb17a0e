// Traffic from a test's script: the packets of each node, in order.
#ifndef TORC_TESTS_MODEL_PACKETS_SCRIPTED_TRAFFIC_H_
#define TORC_TESTS_MODEL_PACKETS_SCRIPTED_TRAFFIC_H_

#include <cstdint>
#include <string>
#include <vector>

#include "model/packets/network.h"
#include "model/packets/traffic.h"

namespace torc::model {

struct ScriptedPacket {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint32_t chunks = 8;
  bool deterministic = false;
  std::uint64_t not_before = 0;
};

struct ScriptedArrival {
  std::uint32_t packet = 0;  // its place in the script
  std::uint32_t node = 0;
  std::uint64_t time = 0;  // time at which the processor has received it
};

class ScriptedTraffic : public Traffic {
 public:
  ScriptedTraffic(const PacketNetwork& network, std::vector<ScriptedPacket> script)
      : network_(network), script_(std::move(script)), next_(network.nodes()) {
    by_node_.resize(network.nodes());
    for (std::uint32_t i = 0; i < script_.size(); ++i)
      by_node_[script_[i].from].push_back(i);
  }

  bool next(std::uint32_t node, std::uint32_t, Outgoing& outgoing) override {
    if (next_[node] == by_node_[node].size()) return false;
    const std::uint32_t index = by_node_[node][next_[node]++];
    const ScriptedPacket& it = script_[index];
    outgoing = Outgoing();
    outgoing.packet.chunks = static_cast<std::uint8_t>(it.chunks);
    outgoing.packet.payload = static_cast<std::uint16_t>(it.chunks);
    outgoing.packet.tag = index;
    outgoing.packet.deterministic = it.deterministic;
    outgoing.not_before = it.not_before;
    outgoing.ticks = network_.sendTicks(it.chunks);
    network_.setHops(node, it.to, index, outgoing.packet);
    return true;
  }
  void received(PacketNetwork& network, std::uint32_t node, const Packet& packet) override {
    network.deliver(packet.payload);
    arrivals.push_back({packet.tag, node, network.now()});
  }
  std::string unfinished() const override {
    return arrivals.size() == script_.size() ? "" : "packets of the script are missing";
  }

  std::vector<ScriptedArrival> arrivals;

 private:
  const PacketNetwork& network_;
  const std::vector<ScriptedPacket> script_;
  std::vector<std::size_t> next_;
  std::vector<std::vector<std::uint32_t>> by_node_;
};

}  // namespace torc::model

#endif  // TORC_TESTS_MODEL_PACKETS_SCRIPTED_TRAFFIC_H_
