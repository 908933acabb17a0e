// What numbers of a machine may be, in whichever format they come.
#ifndef TORC_MODEL_MACHINES_MACHINE_RANGES_H_
#define TORC_MODEL_MACHINES_MACHINE_RANGES_H_

#include <cstdint>
#include <limits>

namespace torc::model {

inline constexpr std::uint32_t kMaxNodes = std::numeric_limits<std::int32_t>::max();
inline constexpr double kMinBandwidth = 1;     // bytes/s
inline constexpr double kMaxBandwidth = 1e18;  // bytes/s
inline constexpr double kMaxSeconds = 1000;    // of a start-up or a hop

}  // namespace torc::model

#endif  // TORC_MODEL_MACHINES_MACHINE_RANGES_H_
