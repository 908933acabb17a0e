// The numbers of a machine, each stated once: its key in JSON, its member and its range. Reader and
// writer visit these lists.
#ifndef TORC_MODEL_MACHINES_MACHINE_FIELDS_H_
#define TORC_MODEL_MACHINES_MACHINE_FIELDS_H_

#include <cstdint>
#include <limits>
#include <string_view>
#include <tuple>

#include "model/machines/machine.h"

namespace torc::model {

inline constexpr std::uint32_t kMaxNodes = std::numeric_limits<std::int32_t>::max();
inline constexpr double kMaxBandwidth = 1e18;  // bytes/s
inline constexpr double kMaxSeconds = 1000;    // of a start-up or a hop

template <typename Record, typename Member>
struct MachineField {
  std::string_view key;
  Member Record::*member;
  double lowest = 0, highest = 0;  // both included
  std::string_view unit{};         // of floating-point numbers
  bool optional = true;
  bool written = true;  // also where it is 0
};
// clang before 17 deduces none for an aggregate.
template <typename Record, typename Member>
MachineField(std::string_view, Member Record::*, double = 0, double = 0, std::string_view = {},
             bool = true, bool = true) -> MachineField<Record, Member>;

inline constexpr auto kDimensionFields = std::tuple{
    MachineField{"size", &MachineDimension::size, 1, kMaxNodes, "", false},
    MachineField{"kind", &MachineDimension::torus},
    MachineField{"bandwidth", &MachineDimension::bandwidth, 1, kMaxBandwidth, "bytes/s", false},
    MachineField{"latency", &MachineDimension::latency, 0, kMaxSeconds, "seconds"},
    MachineField{"width", &MachineDimension::width, 1, 64, "", true, false}};

inline constexpr auto kPacketFields =
    std::tuple{MachineField{"payload", &MachinePacket::payload, 1, 1e9, "bytes", false},
               MachineField{"header", &MachinePacket::header, 0, 1e9, "bytes"},
               MachineField{"acknowledgement", &MachinePacket::acknowledgement, 0, 1e9, "bytes"}};

inline constexpr auto kMachineFields = std::tuple{
    MachineField{"cores", &Machine::cores, 1, 1 << 20},
    MachineField{"ports", &Machine::ports, 1, 2 * kMaxDimensions, "", true, false},
    MachineField{"alpha", &Machine::alpha, 0, kMaxSeconds, "seconds", true, false},
    MachineField{"overhead", &Machine::overhead, 0, kMaxSeconds, "seconds", true, false},
    MachineField{"latency", &Machine::latency, 0, kMaxSeconds, "seconds", true, false},
    MachineField{"message_gap", &Machine::message_gap, 0, kMaxSeconds, "seconds", true, false},
    MachineField{"envelope", &Machine::envelope, 0, 1e9, "bytes", true, false},
    MachineField{"injection", &Machine::injection, 0, kMaxBandwidth, "bytes/s", true, false},
    MachineField{"gap", &Machine::gap, 0, 1, "seconds per byte", true, false},
    MachineField{"gamma", &Machine::gamma, 0, 1, "seconds per byte", true, false},
    MachineField{"eager", &Machine::eager, 0, 1e12, "bytes", true, false},
    MachineField{"buffered", &Machine::buffered, 0, 1e12, "bytes", true, false},
    MachineField{"memory_bandwidth", &Machine::memory_bandwidth, 0, kMaxBandwidth, "bytes/s", true,
                 false}};

}  // namespace torc::model

#endif  // TORC_MODEL_MACHINES_MACHINE_FIELDS_H_
