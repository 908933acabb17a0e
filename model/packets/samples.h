// Samples: the use of links and queues of a packet network, in slices of time that grow so that
// their number is bounded.
#ifndef TORC_MODEL_PACKETS_SAMPLES_H_
#define TORC_MODEL_PACKETS_SAMPLES_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "schedules/topology/topology.h"

namespace torc::model {

/// One slice of time.
struct PacketSample {
  std::uint64_t end = 0;                                 // ticks
  std::uint64_t delivered = 0;                           // payload bytes
  std::array<std::uint64_t, 2 * kMaxDimensions> busy{};  // ticks of all links of a direction
  /// Chunks in the buffers of all nodes at the end, by dimension and channel; packets with reserved
  /// room count.
  std::array<std::array<std::uint64_t, 3>, kMaxDimensions> queued{};
  std::uint64_t injection = 0;  // and in injection FIFOs

  /// Adds deliveries and busy times of another slice.
  void addCounts(const PacketSample& other) {
    delivered += other.delivered;
    for (std::size_t d = 0; d < busy.size(); ++d)
      busy[d] += other.busy[d];
  }
};

struct PacketSamples {
  static constexpr std::size_t kMost = 512;

  std::uint64_t slice = 1 << 12;  // ticks
  std::vector<PacketSample> all;
  std::uint64_t delivered = 0;                           // since the beginning
  std::array<std::uint64_t, 2 * kMaxDimensions> busy{};  // likewise

  /// The next slice without its queues: the changes since the last one. It ends at `now`, in ticks,
  /// or earlier, after `slice` ticks.
  PacketSample sinceLast(std::uint64_t now) const {
    PacketSample before;
    for (const PacketSample& it : all)
      before.addCounts(it);
    const std::uint64_t begin = all.empty() ? 0 : all.back().end;
    PacketSample sample;
    sample.end = std::clamp(now, begin, begin + slice);
    sample.delivered = delivered - before.delivered;
    for (std::size_t d = 0; d < busy.size(); ++d)
      sample.busy[d] = busy[d] - before.busy[d];
    return sample;
  }

  /// Merges pairs of slices.
  void halve() {
    std::size_t kept = 0;
    for (std::size_t i = 1; i < all.size(); i += 2) {
      PacketSample joined = all[i];
      joined.addCounts(all[i - 1]);
      all[kept++] = joined;
    }
    all.resize(kept);
    slice *= 2;
  }
};

}  // namespace torc::model

#endif  // TORC_MODEL_PACKETS_SAMPLES_H_
