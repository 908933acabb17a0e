// Lists shifts in order, or shuffled.
#include "schedules/expansion/peers.h"

#include <random>
#include <utility>

namespace torc {

std::vector<Shift> shiftsOf(const PeerLoop& peers, std::int32_t rank, std::uint32_t operation) {
  std::vector<Shift> shifts;
  shifts.reserve(peers.size());
  Shift shift = peers.first;
  for (std::uint32_t axis = 0; axis < kMaxAxes;) {
    if (shift != Shift{}) shifts.push_back(shift);
    for (axis = 0; axis < kMaxAxes; ++axis) {
      if (peers.count[axis] == 0) continue;
      if (++shift[axis] < peers.first[axis] + static_cast<std::int64_t>(peers.count[axis])) break;
      shift[axis] = peers.first[axis];
    }
  }
  if (peers.order == PeerOrder::kFixed) return shifts;
  // The engine is the same everywhere; std::shuffle need not be.
  std::seed_seq seed{static_cast<std::uint32_t>(rank), operation};
  std::mt19937_64 draw(seed);
  for (std::size_t left = shifts.size(); left > 1; --left)
    std::swap(shifts[left - 1], shifts[draw() % left]);
  return shifts;
}

}  // namespace torc
