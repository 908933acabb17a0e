// Members in the order of some axes keep their numbers: the schedule uses that order. Others get a
// table.
#include "schedules/sub_torus/sub_torus_ranks.h"

#include <algorithm>

namespace torc {

SubTorusRanks ranksInSubTorus(const SubTorus& box, const Topology& shape,
                              const SubTorusAxes& axes) {
  SubTorusRanks ranks;
  ranks.order = shape.order;
  if (box.ordered) {
    const auto end = axes.begin() + shape.axis_count;
    for (std::uint32_t i = 0; i < box.order_count; ++i) {
      ranks.order[i] =
          static_cast<std::uint8_t>(std::find(axes.begin(), end, box.order[i]) - axes.begin());
    }
    return ranks;
  }
  ranks.table.reserve(box.table.size());
  for (std::size_t member = 0; member < box.table.size(); ++member) {
    const Coordinates position = box.positionOf(member);
    Coordinates at{};
    for (std::uint32_t i = 0; i < shape.axis_count; ++i)
      at[i] = position[axes[i]];
    ranks.table.push_back(shape.rankOf(at));
  }
  return ranks;
}

}  // namespace torc
