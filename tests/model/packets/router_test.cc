// Routers, by hand: one packet, the bubble rule, arbitration, tokens.
#include <cstdlib>
#include <map>

#include <gtest/gtest.h>
#include <llvm/Support/Error.h>

#include "model/machines/machine.h"
#include "model/machines/packet_parameters.h"
#include "model/packets/network.h"
#include "tests/model/packets/scripted_traffic.h"

namespace torc::model {
namespace {

// Blue Gene/L in cycles of 700 MHz, which are the ticks.
constexpr std::uint64_t kHop = 70;         // 100 ns
constexpr std::uint64_t kWire = 1088;      // 272 bytes at 4 cycles each
constexpr std::uint64_t kProcessor = 272;  // a packet of 256 bytes, either way

PacketNetwork networkOf(const char* shape, const PacketParameters& parameters = {}) {
  const Machine machine = llvm::cantFail(partitionOf(llvm::cantFail(findMachine("bgl")), shape));
  return llvm::cantFail(
      PacketNetwork::make(llvm::cantFail(topologyOf(machine)), machine, parameters));
}

std::string errorOf(PacketNetwork& network, Traffic& traffic) {
  return llvm::toString(network.run(traffic));
}

/// When each packet of the script has been taken up, by its place in it.
std::map<std::uint32_t, std::uint64_t> timesOf(const char* shape,
                                               std::vector<ScriptedPacket> script) {
  PacketNetwork network = networkOf(shape);
  ScriptedTraffic traffic(network, std::move(script));
  EXPECT_EQ(errorOf(network, traffic), "");
  std::map<std::uint32_t, std::uint64_t> times;
  for (const ScriptedArrival& arrival : traffic.arrivals)
    times[arrival.packet] = arrival.time;
  return times;
}

TEST(RouterTest, OnePacketCutsThrough) {
  for (const bool deterministic : {false, true}) {
    for (std::uint32_t hops = 1; hops <= 4; ++hops) {
      const auto times = timesOf("8", {{0, hops, 8, deterministic}});
      EXPECT_EQ(times.at(0), kProcessor + hops * kHop + kWire + kProcessor) << hops;
    }
  }
  // The way round is the shorter one; dimensions add up.
  EXPECT_EQ(timesOf("8", {{0, 7, 8}}).at(0), 2 * kProcessor + kHop + kWire);
  EXPECT_EQ(timesOf("8m", {{0, 7, 8}}).at(0), 2 * kProcessor + 7 * kHop + kWire);
  EXPECT_EQ(timesOf("4x4x4", {{0, 63, 8}}).at(0), 2 * kProcessor + 3 * kHop + kWire);
}

TEST(RouterTest, ASmallPacketTakesItsBytes) {
  // 64 bytes: 80 on the wire.
  const auto times = timesOf("8", {{0, 1, 2}});
  const std::uint64_t processor = 131;  // 84 cycles and 64 times 0.734
  EXPECT_EQ(times.at(0), processor + kHop + 320 + processor);
}

TEST(RouterTest, TwoPacketsShareALink) {
  // The second one waits for the first one's last byte.
  const auto times = timesOf("8m", {{0, 2, 8}, {1, 2, 8}});
  // That of node 1 leaves at once, that of node 0 arrives there in the meantime.
  EXPECT_EQ(times.at(1), kProcessor + kHop + kWire + kProcessor);
  EXPECT_EQ(times.at(0), kProcessor + kWire + kHop + kWire + kProcessor);
}

TEST(RouterTest, ABubbleStaysFreeInARing) {
  // Buffers of two packets: the second one enters the ring when the first one's tokens are back,
  // 49 ticks (70 ns) after its last byte has left node 1; on a line when the link is free.
  PacketParameters parameters;
  parameters.channel = 512;
  parameters.escape = 256;
  const std::vector<ScriptedPacket> script = {{0, 2, 8, true}, {0, 2, 8, true}};
  const std::uint64_t way = 2 * kHop + kWire + kProcessor;
  for (const bool is_ring : {true, false}) {
    PacketNetwork network = networkOf(is_ring ? "8" : "8m", parameters);
    ScriptedTraffic traffic(network, script);
    ASSERT_EQ(errorOf(network, traffic), "");
    ASSERT_EQ(traffic.arrivals.size(), 2u);
    const std::uint64_t leaves = is_ring ? kProcessor + kHop + kWire + 49 : kProcessor + kWire;
    EXPECT_EQ(traffic.arrivals[1].time, leaves + way);
  }
}

TEST(RouterTest, SmallPacketsTakeABubbleSlotOfTheLargest) {
  // As before with packets of 32 bytes: room that is in pieces would be none for a large one.
  PacketParameters parameters;
  parameters.channel = 512;
  parameters.escape = 256;
  PacketNetwork network = networkOf("8", parameters);
  ScriptedTraffic traffic(network, {{0, 2, 1, true}, {0, 2, 1, true}});
  ASSERT_EQ(errorOf(network, traffic), "");
  const std::uint64_t processor = 107, wire = 192;  // 84 + 32 x 0.734 cycles; 48 bytes
  EXPECT_EQ(traffic.arrivals[0].time, processor + 2 * kHop + wire + processor);
  EXPECT_EQ(traffic.arrivals[1].time, processor + kHop + wire + 49 + 2 * kHop + wire + processor);
}

TEST(RouterTest, BuffersHoldWhatTokensAllow) {
  // Nodes 0, 1, 2 on a line, and node 2 takes a millisecond for a packet. While it is at the first
  // one, three packets are in each channel of nodes 1 and 2 and in the injection FIFO of node 0;
  // behind it none are lost.
  PacketParameters parameters;
  parameters.channel = 768;
  parameters.injection = 768;
  parameters.reception = 256;
  parameters.receive = 1e6;
  for (const bool deterministic : {false, true}) {
    PacketNetwork network = networkOf("3m", parameters);
    class Counted : public ScriptedTraffic {
     public:
      using ScriptedTraffic::ScriptedTraffic;
      void called(PacketNetwork& network, std::uint32_t) override { sent = network.packets(); }
      std::uint64_t sent = 0;
    } traffic(network, std::vector<ScriptedPacket>(40, {0, 2, 8, deterministic}));
    network.callAt(network.ticks(0.9e6), 0);
    ASSERT_EQ(errorOf(network, traffic), "");
    EXPECT_EQ(traffic.sent, 1u + 2 * 3 * (deterministic ? 1 : 3) + 3);
    EXPECT_EQ(traffic.arrivals.size(), 40u);
  }
}

TEST(RouterTest, InputsTakeTurns) {
  // Packets from X and packets from Y all leave node (1, 1, 0) along Z.
  const std::uint32_t from_x = 0 + 2 * 1, from_y = 1 + 2 * 0, to = 1 + 2 * 1 + 4 * 1;
  std::vector<ScriptedPacket> script;
  for (int i = 0; i < 60; ++i) {
    script.push_back({from_x, to, 8, true});
    script.push_back({from_y, to, 8, true});
  }
  PacketNetwork network = networkOf("2mx2mx2m");
  ScriptedTraffic traffic(network, script);
  ASSERT_EQ(errorOf(network, traffic), "");
  int ahead = 0;
  for (const ScriptedArrival& arrival : traffic.arrivals) {
    ahead += script[arrival.packet].from == from_x ? 1 : -1;
    EXPECT_LE(std::abs(ahead), 4);
  }
  // One link carried all of them without a pause.
  EXPECT_EQ(network.now(), kProcessor + 2 * kHop + 120 * kWire + kProcessor);
}

TEST(RouterTest, ADeadlockNamesItsQueue) {
  // Not of packets, which do not: of traffic that never sends.
  PacketNetwork network = networkOf("4");
  class Silent : public ScriptedTraffic {
   public:
    using ScriptedTraffic::ScriptedTraffic;
    bool next(std::uint32_t, std::uint32_t, Outgoing&) override { return false; }
  } traffic(network, {{0, 1}});
  EXPECT_EQ(errorOf(network, traffic), "deadlock: packets of the script are missing");
}

TEST(RouterTest, ShapesThatAreNotServed) {
  const auto error = [](const char* shape) {
    const Machine machine = llvm::cantFail(partitionOf(llvm::cantFail(findMachine("bgl")), shape));
    llvm::Expected<PacketNetwork> network =
        PacketNetwork::make(llvm::cantFail(topologyOf(machine)), machine, {});
    return network ? "" : llvm::toString(network.takeError());
  };
  EXPECT_EQ(error("4x4+2"), "packets: 4x4+2 has cores: one processor serves a node here");
  EXPECT_EQ(error("4x300"), "packets: axis Y has 300 nodes: ways of more than 127 hops");
  EXPECT_EQ(error("4x129m"), "packets: axis Y has 129 nodes: ways of more than 127 hops");
  EXPECT_EQ(error("4x128m"), "");
  EXPECT_EQ(error("4x255"), "");
}

TEST(RouterTest, HopsThatTakeTooLong) {
  Machine machine = llvm::cantFail(partitionOf(llvm::cantFail(findMachine("bgl")), "4x4"));
  machine.dimensions[1].latency = 5;
  llvm::Expected<PacketNetwork> network =
      PacketNetwork::make(llvm::cantFail(topologyOf(machine)), machine, {});
  ASSERT_FALSE(network);
  EXPECT_EQ(
      llvm::toString(network.takeError()),
      "packets: a hop or its tokens take 5 s, more than the 3.06783 s that links so fast may");
}

}  // namespace
}  // namespace torc::model
