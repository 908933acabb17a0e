// The all-to-alls of the paper: their orders, sizes and maps, and known times.
#include "model/packets/alltoall_traffic.h"

#include <set>

#include <gtest/gtest.h>
#include <llvm/Support/Error.h>

#include "model/machines/machine.h"
#include "model/packets/packet_simulator.h"
#include "model/packets/packet_sizes.h"
#include "model/packets/random.h"

namespace torc::model {
namespace {

PacketResult run(const char* shape, AlltoallStrategy strategy, double bytes,
                 std::uint32_t linear = 0) {
  const Machine machine = llvm::cantFail(partitionOf(llvm::cantFail(findMachine("bgl")), shape));
  AlltoallOptions alltoall;
  alltoall.strategy = strategy;
  alltoall.bytes = bytes;
  alltoall.linear = linear;
  return llvm::cantFail(
      simulateAlltoall(llvm::cantFail(topologyOf(machine)), machine, alltoall, PacketOptions()));
}

TEST(AlltoallTrafficTest, PermutationsHaveEveryNumberOnce) {
  for (const std::uint32_t size : {1u, 2u, 7u, 64u, 511u, 1000u}) {
    const Permutation permutation(size);
    std::set<std::uint32_t> seen;
    for (std::uint32_t i = 0; i < size; ++i)
      seen.insert(permutation.at(i, 42));
    EXPECT_EQ(seen.size(), size);
    EXPECT_LT(*seen.rbegin(), size);
  }
  const Permutation permutation(1000);
  int same = 0;
  for (std::uint32_t i = 0; i < 1000; ++i)
    same += permutation.at(i, 1) == permutation.at(i, 2);
  EXPECT_LT(same, 20);
}

TEST(AlltoallTrafficTest, MessagesBecomePackets) {
  const PacketParameters p;
  const auto sizes = [&](double bytes) {
    return PacketSizes(p, bytes, p.software_header, p.smallest);
  };
  // One byte: 64 bytes. 208 bytes are the most for one packet.
  EXPECT_EQ(sizes(1).count(), 1u);
  EXPECT_EQ(sizes(1).chunks(0), 2);
  EXPECT_EQ(sizes(208).count(), 1u);
  EXPECT_EQ(sizes(208).chunks(0), 8);
  EXPECT_EQ(sizes(209).count(), 2u);
  EXPECT_EQ(sizes(209).payload(1), 1u);
  EXPECT_EQ(sizes(208 + 240 + 17).count(), 3u);
  EXPECT_EQ(sizes(208 + 240 + 17).chunks(2), 2);  // 33 bytes
}

TEST(AlltoallTrafficTest, VirtualMeshesAreThePapers) {
  const auto of = [](const char* shape) { return virtualMesh(*parseTopology(shape)); };
  EXPECT_EQ(of("8x8x8").rows_of, 32u);
  EXPECT_EQ(of("8x8x8").columns_of, 16u);
  const VirtualMesh mesh = of("8x32x16");
  EXPECT_EQ(mesh.rows_of, 128u);
  EXPECT_EQ(mesh.columns_of, 32u);
  EXPECT_EQ(mesh.whole, 0b101u);  // XZ planes
  EXPECT_EQ(mesh.block, 0u);
  EXPECT_EQ(of("7").rows_of * of("7").columns_of, 7u);
}

TEST(AlltoallTrafficTest, PairsOnTheBisection) {
  const auto of = [](const char* shape) { return pairsOnLink(parseTopology(shape)->axes[0]); };
  EXPECT_DOUBLE_EQ(of("32"), 4);
  EXPECT_DOUBLE_EQ(of("8m"), 2);
  EXPECT_DOUBLE_EQ(of("5"), 0.6);  // 6 / 10
}

TEST(AlltoallTrafficTest, ShortMessagesOn512Nodes) {
  // Table 4 has 0.52 and 0.81 ms, which set the processor's costs; figure 6 the virtual mesh twice
  // as fast at 8 bytes, and slower at 64.
  const double direct = run("8x8x8", AlltoallStrategy::kAdaptive, 8).makespan_s;
  EXPECT_NEAR(direct, 0.52e-3, 0.01e-3);
  EXPECT_NEAR(run("8x8x8", AlltoallStrategy::kTwoPhase, 8, 2).makespan_s, 0.81e-3, 0.01e-3);
  EXPECT_LT(2 * run("8x8x8", AlltoallStrategy::kVirtualMesh, 8).makespan_s, direct);
  EXPECT_GT(run("8x8x8", AlltoallStrategy::kVirtualMesh, 64).makespan_s,
            run("8x8x8", AlltoallStrategy::kAdaptive, 64).makespan_s);
}

TEST(AlltoallTrafficTest, CreditsBoundWhatANodeHolds) {
  const Machine machine = llvm::cantFail(partitionOf(llvm::cantFail(findMachine("bgl")), "8x4x4"));
  const auto twoPhase = [&](const char* settings) {
    PacketOptions options;
    llvm::cantFail(applyPacketSettings(settings, options.parameters));
    llvm::cantFail(checkPacketParameters(options.parameters));
    AlltoallOptions alltoall;
    alltoall.strategy = AlltoallStrategy::kTwoPhase;
    alltoall.bytes = 4800;
    return llvm::cantFail(
        simulateAlltoall(llvm::cantFail(topologyOf(machine)), machine, alltoall, options));
  };
  const PacketResult without = twoPhase("");
  const struct {
    const char* settings;
    std::uint64_t every, window;
  } rows[] = {{"credit-every=10,credit-window=10", 10, 10},
              {"credit-every=1,credit-window=3", 1, 3}};
  for (const auto& [settings, every, window] : rows) {
    const PacketResult with = twoPhase(settings);
    EXPECT_LE(with.most_held, 7 * window);
    EXPECT_GT(without.most_held, with.most_held);
    // A node sends on 21 packets for each of 15 others of its plane, of each of 7 on its line.
    const std::uint64_t credits = 128 * 7 * (21 * 15 / every);
    EXPECT_EQ(with.packets, without.packets + credits);
  }
  EXPECT_EQ(toString(checkPacketParameters([] {
              PacketParameters parameters;
              parameters.credit_every = 10;
              return parameters;
            }())),
            "packet setting credit-window: 0 packets deadlock: credit comes for 10");
}

TEST(AlltoallTrafficTest, ParametersHaveSources) {
  EXPECT_EQ(packetParameterRows().size(), sizeof(PacketParameters) / sizeof(double));
  for (const PacketParameterRow& row : packetParameterRows())
    EXPECT_FALSE(row.source.empty()) << row.name;
  EXPECT_EQ(llvm::toString(checkPacketParameters(PacketParameters())), "");
}

}  // namespace
}  // namespace torc::model
