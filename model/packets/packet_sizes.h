// Division of a message into packets.
#ifndef TORC_MODEL_PACKETS_PACKET_SIZES_H_
#define TORC_MODEL_PACKETS_PACKET_SIZES_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "model/machines/packet_parameters.h"

namespace torc::model {

/// A message of `bytes` whose first packet has `first_header` bytes that are not payload, the
/// others `header`.
class PacketSizes {
 public:
  PacketSizes(const PacketParameters& parameters, double bytes, double first_header,
              double smallest)
      : chunk_(parameters.chunk),
        header_(parameters.header),
        first_header_(first_header),
        smallest_(smallest),
        bytes_(bytes),
        first_(std::min(bytes, parameters.packet - first_header)),
        full_(parameters.packet - parameters.header),
        count_(1 + static_cast<std::uint64_t>(std::ceil((bytes - first_) / full_))) {}

  std::uint64_t count() const { return count_; }
  /// Payload of packet `index`, bytes.
  std::uint32_t payload(std::uint64_t index) const {
    if (index == 0) return static_cast<std::uint32_t>(first_);
    const double before = first_ + full_ * static_cast<double>(index - 1);
    return static_cast<std::uint32_t>(std::min(full_, bytes_ - before));
  }
  std::uint8_t chunks(std::uint64_t index) const {
    const double bytes = payload(index) + (index == 0 ? first_header_ : header_);
    return static_cast<std::uint8_t>(std::ceil(std::max(bytes, smallest_) / chunk_));
  }

 private:
  double chunk_, header_, first_header_, smallest_, bytes_, first_, full_;
  std::uint64_t count_;
};

}  // namespace torc::model

#endif  // TORC_MODEL_PACKETS_PACKET_SIZES_H_
