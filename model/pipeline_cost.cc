// Predicted time by number of chunks.
#include "model/pipeline_cost.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "schedules/partition.h"

namespace torc {
PipelineCost::PipelineCost(const ScheduleView& schedule, const Machine& machine, double bytes)
    : streams_(static_cast<std::uint32_t>(schedule.streams.size())) {
  const Topology& topology = schedule.topology;
  const VectorShares shares(schedule);
  const double reduce_time =
      std::max(machine.gamma, machine.memory_bandwidth > 0 ? 3 / machine.memory_bandwidth : 0.0);
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, Chain> chains;
  std::set<std::tuple<const Chain*, std::uint32_t>> counted;
  std::vector<bool> reduced(std::size_t{1} << 16);  // phases that reduce
  for (const Operation& operation : schedule.operations) {
    if (operation.b.present()) reduced[operation.phase] = true;
  }
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
    Chain& chain = chains[{operation.phase, operation.stream, link}];
    // On a line the node at the end and the others send the same blocks by operations of their own.
    if (!counted.emplace(&chain, region.box).second) continue;
    chain.phase = operation.phase;
    chain.stream = operation.stream;
    chain.link = link;
    chain.messages += 1;
    // All messages of a ring's phase are of one size; of others, the mean.
    const double beta = line.kind == AxisKind::kCore
                            ? (machine.memory_bandwidth > 0 ? 2 / machine.memory_bandwidth : 0.0)
                            : 1 / machine.linkBandwidth(axis);
    const double seconds = size * beta + (reduced[operation.phase] ? reduce : 0);
    chain.per_vector += (seconds - chain.per_vector) / chain.messages;
    chain.start_up = machine.alpha + 2 * machine.overhead + machine.latency +
                     (line.kind == AxisKind::kCore ? 0.0 : machine.dimensions[axis].latency);
  }
  for (const auto& [key, chain] : chains)
    chains_.push_back(chain);
}

double PipelineCost::seconds(std::uint32_t chunks) const {
  const double k = chunks;
  std::array<double, 2 * kMaxAxes> link_free{};
  std::vector<double> done(std::size_t{chunks} * streams_);  // by chunk and stream
  double end = compute_;
  for (std::size_t begin = 0, phase_end; begin < chains_.size(); begin = phase_end) {
    for (phase_end = begin; phase_end < chains_.size(); ++phase_end) {
      if (chains_[phase_end].phase != chains_[begin].phase) break;
    }
    for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
      for (std::size_t i = begin; i < phase_end;) {
        // On a line a stream has a chain each way at the same time.
        const std::uint32_t stream = chains_[i].stream;
        double& before = done[std::size_t{chunk} * streams_ + stream];
        double after = before;
        for (; i < phase_end && chains_[i].stream == stream; ++i) {
          const Chain& chain = chains_[i];
          const double start = std::max(before, link_free[chain.link]);
          const double seconds = chain.messages * (chain.per_vector / k + chain.start_up);
          link_free[chain.link] = start + seconds;
          after = std::max(after, start + seconds);
        }
        before = after;
        end = std::max(end, after);
      }
    }
  }
  return end;
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
