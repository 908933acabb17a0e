// Random traffic on random shapes drains: no deadlock, no lost packet, all tokens returned; and
// runs are reproducible.
#include <gtest/gtest.h>
#include <llvm/Support/Error.h>
#include <rapidcheck/gtest.h>

#include "model/machines/machine.h"
#include "model/packets/alltoall_traffic.h"
#include "model/packets/network.h"
#include "model/packets/packet_simulator.h"
#include "tests/draw.h"
#include "tests/model/packets/scripted_traffic.h"

namespace torc::model {
namespace {

std::string drawShape(std::uint32_t most_dimensions) {
  std::string shape;
  const std::uint32_t dimensions = draw(1, most_dimensions);
  for (std::uint32_t i = 0; i < dimensions; ++i) {
    shape += (i > 0 ? "x" : "") + std::to_string(draw(1, dimensions > 3 ? 3 : 6)) +
             (draw(0, 2) == 0 ? "m" : "");
  }
  return shape;
}

/// Buffers as small as they may be, or as large as Blue Gene/L's.
PacketParameters drawParameters() {
  PacketParameters parameters;
  const std::uint32_t packets = draw(2, 4);
  parameters.channel = packets * 256.0;
  parameters.bubble = draw(1, packets - 1) * 256.0;
  parameters.escape = draw(1, packets - 1) * 256.0;
  parameters.reception = draw(1, 4) * 256.0;
  parameters.injection = draw(1, 4) * 256.0;
  parameters.injection_fifos = draw(2, 6);
  parameters.crossbar = draw(1, 3);
  parameters.receive = draw(0, 2) * 400;
  return parameters;
}

struct Torus {
  Machine machine;
  Topology topology;
};

Torus torusOf(const std::string& shape) {
  Torus torus;
  torus.machine = llvm::cantFail(partitionOf(llvm::cantFail(findMachine("bgl")), shape));
  torus.topology = llvm::cantFail(topologyOf(torus.machine));
  return torus;
}

RC_GTEST_PROP(DrainTest, RandomTrafficArrives, ()) {
  const Torus torus = torusOf(drawShape(5));
  const PacketParameters parameters = drawParameters();
  const auto nodes = static_cast<std::uint32_t>(torus.topology.sites());
  std::vector<ScriptedPacket> script;
  // Some nodes are more popular than others.
  const std::uint32_t packets = nodes > 1 ? draw(1, 600) : 0, popular = draw(0, nodes - 1);
  for (std::uint32_t i = 0; i < packets; ++i) {
    ScriptedPacket packet;
    packet.from = draw(0, nodes - 1);
    packet.to = draw(0, 3) == 0 ? popular : draw(0, nodes - 1);
    if (packet.to == packet.from) packet.to = (packet.to + 1) % nodes;
    packet.chunks = draw(1, 8);
    packet.deterministic = draw(0, 1) == 1;
    script.push_back(packet);
  }
  PacketNetwork network =
      llvm::cantFail(PacketNetwork::make(torus.topology, torus.machine, parameters));
  ScriptedTraffic traffic(network, script);
  const std::string error = llvm::toString(network.run(traffic));
  RC_ASSERT(error.empty());
  RC_ASSERT(traffic.arrivals.size() == script.size());
  std::vector<bool> seen(script.size());
  for (const ScriptedArrival& arrival : traffic.arrivals) {
    RC_ASSERT(!seen[arrival.packet]);
    seen[arrival.packet] = true;
    RC_ASSERT(arrival.node == script[arrival.packet].to);
  }
}

RC_GTEST_PROP(DrainTest, AlltoallsAreTheSameEveryTime, ()) {
  const Torus torus = torusOf(drawShape(4));
  AlltoallOptions alltoall;
  const auto last = static_cast<std::uint32_t>(AlltoallStrategy::kVirtualMesh);
  alltoall.strategy = static_cast<AlltoallStrategy>(draw(0, last));
  alltoall.bytes = draw(1, 900);
  alltoall.seed = draw(0, 1000);
  alltoall.linear = draw(0, static_cast<std::uint32_t>(torus.topology.dimensions()) - 1);
  PacketOptions options;
  options.parameters = drawParameters();
  options.parameters.burst = draw(1, 2);
  const auto run = [&] {
    llvm::Expected<PacketResult> result =
        simulateAlltoall(torus.topology, torus.machine, alltoall, options);
    if (!result) RC_FAIL(llvm::toString(result.takeError()));
    return std::move(*result);
  };
  const PacketResult first = run(), second = run();
  RC_ASSERT(first.makespan_s == second.makespan_s);
  RC_ASSERT(first.packet_hops == second.packet_hops);
  const double nodes = static_cast<double>(torus.topology.sites());
  if (alltoall.strategy == AlltoallStrategy::kVirtualMesh) return;
  RC_ASSERT(static_cast<double>(first.samples.delivered) == nodes * (nodes - 1) * alltoall.bytes);
  RC_ASSERT(first.makespan_s >= 0.999 * alltoallPeakSeconds(torus.topology, torus.machine,
                                                            options.parameters, alltoall.bytes));
}

}  // namespace
}  // namespace torc::model
