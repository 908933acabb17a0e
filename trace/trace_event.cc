// Rows of events, and texts of places.
#include "trace/trace_event.h"

#include "support/message.h"

namespace torc {

std::uint32_t traceRow(const ScheduleView& schedule, std::uint32_t stream) {
  const std::uint32_t part = schedule.streams[stream].part;
  if (part == kNone) return kAnyPartRow;
  const PartIndex index = schedule.partIndex(part);
  return 2 * index.color + index.direction;
}

std::string traceCoordinates(const Topology& topology, const Coordinates& at) {
  std::string text = "(";
  for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis)
    text += message(axis == 0 ? "" : ", ", at[axis]);
  return text + ") of " + topology.shape();
}

}  // namespace torc
