// Predicted time by number of chunks.
#include "model/pipeline_cost.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "schedules/partition.h"

namespace torc {
PipelineCost::PipelineCost(const ScheduleView& schedule, const Machine& machine, double bytes,
                           std::uint32_t in_flight)
    : in_flight_(in_flight) {
  const Topology& topology = schedule.topology;
  const VectorShares shares(schedule);
  const double reduce_time =
      std::max(machine.gamma, machine.memory_bandwidth > 0 ? 3 / machine.memory_bandwidth : 0.0);
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, Chain> chains;
  std::set<std::tuple<const Chain*, std::uint32_t>> counted;
  for (const Operation& operation : schedule.operations) {
    const Region& region = sends(operation.kind) ? operation.a : operation.dst;
    const double size = bytes * shares.of(region, {});
    const double reduce = size * reduce_time;
    const bool reduces =
        operation.kind == OperationKind::kReduce || operation.kind == OperationKind::kRecvReduce;
    if (reduces) compute_ += reduce / machine.cores;
    if (!sends(operation.kind)) continue;
    const Shift& shift = schedule.shifts[operation.peer];
    std::uint32_t axis = 0;
    while (shift[axis] == 0)
      ++axis;
    const Axis& line = topology.axes[axis];
    const bool one_cable = line.kind == AxisKind::kMesh && line.size == 2;
    const std::uint32_t link = 2 * axis + (shift[axis] < 0 && !one_cable ? 1 : 0);
    Chain& chain = chains[{operation.stream, operation.phase, link}];
    // On a line the node at the end and the others send the same blocks by operations of their own.
    if (!counted.emplace(&chain, region.box).second) continue;
    chain.stream = operation.stream;
    chain.link = link;
    chain.messages += 1;
    // All messages of a ring's phase are of one size; of others, the mean.
    const double beta = line.kind == AxisKind::kCore
                            ? (machine.memory_bandwidth > 0 ? 2 / machine.memory_bandwidth : 0.0)
                            : 1 / machine.linkBandwidth(axis);
    chain.transfer += (size * beta - chain.transfer) / chain.messages;
    if (traits(schedule.collective).reduces) {
      chain.reduce += (reduce - chain.reduce) / chain.messages;
    }
    chain.start_up = machine.alpha + 2 * machine.overhead + machine.latency +
                     (line.kind == AxisKind::kCore ? 0.0 : machine.dimensions[axis].latency);
  }
  for (const auto& [key, chain] : chains)
    chains_.push_back(chain);
}

double PipelineCost::seconds(std::uint32_t chunks) const {
  const double k = chunks;
  const double overlapped = std::min(in_flight_, chunks);
  std::array<double, 2 * kMaxAxes> busy{};
  for (const Chain& chain : chains_) {
    const double transfer = chain.transfer / k;
    const double whole = transfer + chain.reduce / k + chain.start_up;
    busy[chain.link] += k * chain.messages * std::max(transfer, whole / overlapped);
  }
  const auto busiest =
      static_cast<std::uint32_t>(std::max_element(busy.begin(), busy.end()) - busy.begin());
  double ends = 0, stream_ends = 0;
  for (std::size_t i = 0; i < chains_.size(); ++i) {
    const Chain& chain = chains_[i];
    if (i == 0 || chain.stream != chains_[i - 1].stream) stream_ends = 0;
    if (chain.link != busiest) {
      stream_ends += chain.messages * ((chain.transfer + chain.reduce) / k + chain.start_up);
    }
    ends = std::max(ends, stream_ends);
  }
  return std::max(busy[busiest], compute_) + ends;
}

std::uint32_t PipelineCost::bestChunks(std::uint32_t most) const {
  double best = seconds(1);
  for (std::uint32_t chunks = 2; chunks <= most; chunks *= 2)
    best = std::min(best, seconds(chunks));
  std::uint32_t chunks = 1;
  while (seconds(chunks) > 1.002 * best)
    chunks *= 2;
  return chunks;
}

}  // namespace torc
