// Samples: what links and queues of a packet network did, in slices of time that grow so that
// there are never too many.
#ifndef TORC_MODEL_PACKETS_SAMPLES_H_
#define TORC_MODEL_PACKETS_SAMPLES_H_

#include <array>
#include <cstdint>
#include <vector>

#include "schedules/topology/topology.h"

namespace torc::model {

/// One slice of time.
struct PacketSample {
  std::uint64_t end = 0;                                 // ticks
  std::uint64_t delivered = 0;                           // payload bytes
  std::array<std::uint64_t, 2 * kMaxDimensions> busy{};  // ticks of all links of a direction
  /// Chunks in the buffers of all nodes at the end, by dimension and channel; those of packets
  /// that the buffer is reserved for count.
  std::array<std::array<std::uint64_t, 3>, kMaxDimensions> queued{};
  std::uint64_t injection = 0;  // and in injection FIFOs
};

struct PacketSamples {
  static constexpr std::size_t kMost = 512;

  std::uint64_t slice = 1 << 12;  // ticks
  std::vector<PacketSample> all;
  std::uint64_t delivered = 0;                           // since the beginning
  std::array<std::uint64_t, 2 * kMaxDimensions> busy{};  // likewise

  /// Makes one slice of every two.
  void halve() {
    std::size_t kept = 0;
    for (std::size_t i = 1; i < all.size(); i += 2) {
      PacketSample joined = all[i];
      joined.delivered += all[i - 1].delivered;
      for (std::size_t d = 0; d < joined.busy.size(); ++d)
        joined.busy[d] += all[i - 1].busy[d];
      all[kept++] = joined;
    }
    all.resize(kept);
    slice *= 2;
  }
};

}  // namespace torc::model

#endif  // TORC_MODEL_PACKETS_SAMPLES_H_
