// Routers, by hand: one packet, the bubble rule, turns, tokens.
#include <map>

#include <gtest/gtest.h>
#include <llvm/Support/Error.h>

#include "model/machines/machine.h"
#include "model/packets/network.h"
#include "model/packets/parameters.h"
#include "tests/model/packets/scripted_traffic.h"

namespace torc {
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

}  // namespace
}  // namespace torc
