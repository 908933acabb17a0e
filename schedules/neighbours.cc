// Neighbours: ways, places, and the validation of their schedules.
#include "schedules/neighbours.h"

#include "schedules/faults/reject.h"
#include "support/message.h"

namespace torc {

std::uint32_t neighbourPlace(const Topology& topology, const Way& way) {
  std::uint32_t slower = 0;  // axes that vary more slowly with the rank
  while (topology.order[topology.axis_count - 1 - slower] != way.axis)
    ++slower;
  return 2 * slower + (way.sign > 0 ? 1 : 0);
}

bool hasNeighbour(const Topology& topology, const Coordinates& at, const Way& way) {
  const Axis& axis = topology.axes[way.axis];
  if (axis.kind != AxisKind::kMesh) return true;
  const std::int32_t there = at[way.axis] + way.sign;
  return there >= 0 && there < static_cast<std::int32_t>(axis.size);
}

bool nodesWithNeighbour(const Topology& topology, const Way& way, Interval& along) {
  const Axis& axis = topology.axes[way.axis];
  along = Interval::all();
  if (axis.kind != AxisKind::kMesh) return true;
  if (axis.size == 1) return false;
  along = Interval::absolute(way.sign > 0 ? 0 : 1, axis.size - 1);
  return true;
}

void validateNeighbours(const ScheduleView& schedule) {
  const Topology& topology = schedule.topology;
  const std::string_view collective = rowOf(schedule.collective).name;
  rejectIf(topology.hasCores(), "a ", collective,
           " is of ranks in a grid: it has no axis of cores");
  rejectIf(topology.isDamaged(), "a ", collective, " is of a whole grid: nothing is dead");
  rejectIf(schedule.segments > 1, "a ", collective, " has one segment, not ", schedule.segments);
  rejectIf(!schedule.frames.empty(), "a ", collective, " has no scratch");
  rejectIf(schedule.colors.size() != topology.axis_count, "a ", collective,
           " has one color for each of ", topology.axis_count, " axes, not ",
           schedule.colors.size());
  for (std::size_t i = 0; i < schedule.colors.size(); ++i) {
    const Color& color = schedule.colors[i];
    if (color.weight == 1 && color.directions == 2 && color.chunks == 1) continue;
    reject("a ", collective,
           " has colors of weight 1 in two directions and one chunk, not as color ", i);
  }
}

}  // namespace torc
