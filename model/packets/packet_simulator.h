// Packet simulator: the time of an all-to-all, or a schedule, on a torus with routers and
// processors described by parameters, packet by packet (model/packets/network.h).
#ifndef TORC_MODEL_PACKETS_PACKET_SIMULATOR_H_
#define TORC_MODEL_PACKETS_PACKET_SIMULATOR_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <string>

#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>

#include "model/machines/machine.h"
#include "model/machines/packet_parameters.h"
#include "model/packets/alltoall_traffic.h"
#include "model/packets/samples.h"
#include "schedules/schedule.h"

namespace torc::model {

struct PacketOptions {
  PacketParameters parameters;
  double most_memory = 8.0 * (1 << 30);  // bytes; runs that need more are refused
  double most_s = std::numeric_limits<double>::infinity();  // a longer run ends then
  /// Called once, before the allocation: needed bytes, and packet hops to come (0: not known).
  std::function<void(double bytes, double hops)> announce;
  /// Called periodically with the packet hops so far.
  std::function<void(double hops)> progress;
};

struct PacketResult {
  double makespan_s = 0;
  /// Payload bytes/s of the whole torus between 30 and 70 % of the arrivals.
  double steady_rate = 0;
  std::uint64_t nodes = 0;
  std::uint64_t packets = 0;
  std::uint64_t packet_hops = 0;
  std::uint64_t most_held = 0;  // most packets that a node held for forwarding
  double tick_s = 0;            // of the samples
  PacketSamples samples;
};

/// `topology` belongs to the machine. Errors: parameters unfit for a router, an unsupported shape,
/// too much memory, a deadlock.
llvm::Expected<PacketResult> simulateAlltoall(const Topology& topology, const Machine& machine,
                                              const AlltoallOptions& alltoall,
                                              const PacketOptions& options);

struct ProgramOptions {
  double bytes = 0;          // of the whole vector
  double element_bytes = 4;  // messages are whole elements
};

/// `schedule` has passed `validate`, and the machine has its shape. Errors: as above, and those of
/// the link simulator for schedules.
llvm::Expected<PacketResult> simulateProgram(const ScheduleView& schedule, const Machine& machine,
                                             const ProgramOptions& program,
                                             const PacketOptions& options);

/// An SVG with a row for the links of each direction (share of busy time), for each kind of queue
/// (fill level, averaged over nodes), and for arrivals; columns are time.
std::string heatSvg(const Topology& topology, const PacketParameters& parameters,
                    const PacketResult& result, llvm::StringRef title);

/// Seconds that all-to-alls of `bytes` a pair need on the bisection: Kumar and Heidelberger's
/// equation 2 with the exact load of the busiest link, at the payload rate of full packets.
double alltoallPeakSeconds(const Topology& topology, const Machine& machine,
                           const PacketParameters& parameters, double bytes);

}  // namespace torc::model

#endif  // TORC_MODEL_PACKETS_PACKET_SIMULATOR_H_
