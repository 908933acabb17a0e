// The measurements of one rank of a job: plain data, gathered by rank 0.
#ifndef TORC_RUNTIME_RUN_CALIBRATION_NODE_MEASUREMENT_H_
#define TORC_RUNTIME_RUN_CALIBRATION_NODE_MEASUREMENT_H_

#include <array>
#include <cstddef>
#include <limits>

#include "schedules/topology/topology.h"

namespace torc::runtime {

inline constexpr std::size_t kSmallMessage = 8;  // bytes

/// Seconds of a measurement with a short and with a long message: the difference depends on bytes
/// alone.
struct TimesOfTwo {
  double short_s = 0, long_s = 0;
};

/// The link up from a node along one axis, measured by its low end. 0: not measured.
struct LinkMeasurement {
  double small_s = 0;    // a small message there and one back
  TimesOfTwo up, down;   // a message along the link or against it, with a small one in the other
                         // direction
  TimesOfTwo both;       // one message in each direction at the same time
  double distant_s = 0;  // a small message to the farthest node of the axis and back; at coordinate
                         // 0 of axes with a node more than one hop away
};

/// 0: not measured, by this rank or at all.
struct NodeMeasurement {
  std::array<LinkMeasurement, kMaxDimensions> links{};
  TimesOfTwo all;        // one message in each direction on all links of the node at the same time
  double send_s = 0;     // time of a core for sending a small message
  double receive_s = 0;  // time for receiving one that has arrived
  // Up to this size, sends complete before their receive is posted, and their data arrive before
  // that. Infinite: not measured.
  double at_once_bytes = std::numeric_limits<double>::infinity();
  double ahead_bytes = std::numeric_limits<double>::infinity();
  double reduce_s = 0;      // per byte, from the cache
  double memory_alone = 0;  // bytes/s of one rank of a host
  double memory_share = 0;  // bytes/s of this rank while all ranks use the memory
};

/// Sizes of messages, in bytes; the same on all ranks.
struct MeasuredSizes {
  double shorter = 0, longer = 0;          // of one link
  double all_shorter = 0, all_longer = 0;  // of each link, when all links of a node are used
};

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_RUN_CALIBRATION_NODE_MEASUREMENT_H_
