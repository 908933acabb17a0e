#include "model/packets/packet_simulator.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <llvm/Support/Format.h>
#include <llvm/Support/raw_ostream.h>

#include "ir/make_error.h"
#include "ir/peer_loops/peer_loops.h"
#include "ir/segments/segments.h"
#include "model/packets/packet_sizes.h"
#include "model/packets/program_traffic.h"
#include "model/simulator/simulation_graph.h"
#include "schedules/loops/unroll.h"
#include "schedules/root.h"

namespace torc::model {
namespace {

constexpr double kGiB = 1 << 30;
constexpr double kSteadyFrom = 0.3, kSteadyTo = 0.7;
// Packets to forward that wait at a node; a few hundred if nodes keep up.
constexpr double kWaiting = 1000;

/// Refuses a run that needs more memory than allowed.
llvm::Error checkMemory(double bytes, std::uint64_t nodes, const PacketOptions& options) {
  if (bytes <= options.most_memory) return llvm::Error::success();
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format(
      "packets: %.3g GiB for %llu nodes, and %.3g GiB are allowed", bytes / kGiB,
      static_cast<unsigned long long>(nodes), options.most_memory / kGiB);
  return makeError(text);
}

double steadyRate(const PacketSamples& samples, double tick_s) {
  const auto all = static_cast<double>(samples.delivered);
  double sum = 0, begin = 0, end = 0, at_begin = -1, at_end = 0;
  for (const PacketSample& sample : samples.all) {
    sum += static_cast<double>(sample.delivered);
    const auto time = static_cast<double>(sample.end);
    if (at_begin < 0 && sum >= kSteadyFrom * all) {
      begin = time;
      at_begin = sum;
    }
    if (sum <= kSteadyTo * all) {
      end = time;
      at_end = sum;
    }
  }
  return end > begin ? (at_end - at_begin) / ((end - begin) * tick_s) : 0;
}

llvm::Expected<PacketResult> runTraffic(PacketNetwork& network, Traffic& traffic,
                                        const PacketOptions& options) {
  if (llvm::Error error = network.run(traffic, options.most_s, options.progress)) return error;
  PacketResult result;
  result.makespan_s = static_cast<double>(network.now()) * network.secondsPerTick();
  result.steady_rate = steadyRate(network.samples(), network.secondsPerTick());
  result.nodes = network.nodes();
  result.packets = network.packets();
  result.packet_hops = network.packetHops();
  result.most_held = traffic.mostHeld();
  result.tick_s = network.secondsPerTick();
  result.samples = network.samples();
  return result;
}

/// Hops from a node to all others on shortest paths.
double hopsToAll(const Topology& topology) {
  const double nodes = static_cast<double>(topology.sites());
  double hops = 0;
  for (int i = 0; i < topology.dimensions(); ++i) {
    const Axis& axis = topology.axes[static_cast<std::size_t>(i)];
    const double size = axis.size;
    hops += nodes *
            (axis.isRing() ? std::floor(size * size / 4) / size : (size * size - 1) / (3 * size));
  }
  return hops;
}

}  // namespace

llvm::Expected<PacketResult> simulateAlltoall(const Topology& topology, const Machine& machine,
                                              const AlltoallOptions& alltoall,
                                              const PacketOptions& options) {
  const PacketParameters& p = options.parameters;
  if (llvm::Error error = checkPacketParameters(p)) return error;
  const double nodes = static_cast<double>(topology.sites());
  const bool combines = alltoall.strategy == AlltoallStrategy::kVirtualMesh;
  const bool sends_on = alltoall.strategy == AlltoallStrategy::kTwoPhase;
  const PacketSizes sizes(p, alltoall.bytes, p.software_header, p.smallest);
  // The smallest frequent packets; tables of the traffic.
  const double usual =
      combines ? p.packet : std::min(sizes.chunks(0), sizes.chunks(sizes.count() - 1)) * p.chunk;
  const double of_node = sends_on ? 64 + kWaiting * sizeof(Packet) : combines ? 64 : 32;
  const double bytes = PacketNetwork::memoryBytes(topology, p, usual) + nodes * of_node;
  double packets = static_cast<double>(sizes.count());
  if (alltoall.most_packets > 0 && nodes > 1)
    packets = std::min(packets, alltoall.most_packets / (nodes - 1));
  const double hops = combines ? 0 : nodes * hopsToAll(topology) * packets;
  if (llvm::Error error = checkMemory(bytes, topology.sites(), options)) return error;
  if (options.announce) options.announce(bytes, hops);
  llvm::Expected<PacketNetwork> network = PacketNetwork::make(topology, machine, p);
  if (!network) return network.takeError();
  return runTraffic(*network, *alltoallTraffic(*network, alltoall), options);
}

llvm::Expected<PacketResult> simulateProgram(const ScheduleView& schedule, const Machine& machine,
                                             const ProgramOptions& program,
                                             const PacketOptions& options) {
  if (!schedule.loops.empty()) {
    return simulateProgram(unrollLoops(schedule).schedule.view(), machine, program, options);
  }
  const PacketParameters& p = options.parameters;
  if (llvm::Error error = checkPacketParameters(p)) return error;
  if (ir::hasPeerLoops(schedule)) {
    // Each rank's list of messages is as long as there are ranks.
    const auto nodes = static_cast<std::uint32_t>(schedule.topology.sites());
    const double tasks = ir::unrolledOperations(schedule) * nodes * schedule.segments;
    if (llvm::Error error = checkTaskCount(schedule, nodes, tasks)) return error;
  }
  const double of_network = PacketNetwork::memoryBytes(schedule.topology, p, p.packet);
  if (llvm::Error error = checkMemory(of_network, schedule.topology.sites(), options)) return error;
  llvm::Expected<PacketNetwork> network = PacketNetwork::make(schedule.topology, machine, p);
  if (!network) return network.takeError();
  std::optional<Schedule> unrolled;
  if (schedule.segments > 1) {
    const double tasks = executions(schedule, ir::NodeClasses(schedule, true)) * schedule.segments;
    if (llvm::Error error = checkTaskCount(schedule, network->nodes(), tasks)) return error;
    unrolled = ir::unrollSegments(schedule, schedule.segments);
  }
  const RootedSchedule rooted(unrolled ? unrolled->view() : schedule, 0);
  llvm::Expected<SimulationGraph> graph = graphOfRanks(
      rooted.view(), machine, static_cast<std::uint64_t>(program.bytes / program.element_bytes),
      program.element_bytes, /*has_links=*/false);
  if (!graph) return graph.takeError();
  const double tasks = static_cast<double>(graph->tasks.size());
  const double bytes = of_network + tasks * (sizeof(Task) + sizeof(MessageRoute));
  double hops = 0;
  for (const Task& task : graph->tasks) {
    if (task.kind != TaskKind::kSend) continue;
    double way = 0;
    for (const std::int32_t distance : graph->routes[task.route].way)
      way += std::abs(distance);
    hops += way * static_cast<double>(PacketSizes(p, task.bytes, p.header, p.chunk).count());
  }
  if (llvm::Error error = checkMemory(bytes, network->nodes(), options)) return error;
  if (options.announce) options.announce(bytes, hops);
  return runTraffic(*network, *programTraffic(*network, *graph, machine), options);
}

double alltoallPeakSeconds(const Topology& topology, const Machine& machine,
                           const PacketParameters& parameters, double bytes) {
  const double wire =
      (parameters.packet + parameters.wire) / (parameters.packet - parameters.header);
  double most = 0;
  for (std::size_t i = 0; i < machine.dimensions.size(); ++i)
    most = std::max(most, pairsOnLink(topology.axes[i]) / machine.dimensions[i].bandwidth);
  return static_cast<double>(topology.sites()) * most * bytes * wire;
}

}  // namespace torc::model
