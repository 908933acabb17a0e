// Names and part numbering of a schedule.
#include "schedules/schedule.h"

#include <algorithm>

namespace torc {

std::string_view name(OperationKind kind) {
  static constexpr std::string_view kNames[kOperationKindCount] = {
      "send", "recv", "recv_reduce", "reduce", "copy", "notify", "await"};
  return kNames[static_cast<int>(kind)];
}

std::string_view name(Buffer buffer) {
  static constexpr std::string_view kNames[] = {"none", "in", "out", "scratch"};
  return kNames[static_cast<int>(buffer)];
}

std::uint32_t ScheduleView::partCount() const {
  std::uint32_t parts = 0;
  for (const Color& color : colors)
    parts += color.directions * color.chunks;
  return parts;
}

PartIndex ScheduleView::partIndex(std::uint32_t part) const {
  PartIndex index;
  for (const Color& color : colors) {
    const std::uint32_t parts = color.directions * color.chunks;
    if (part < parts) {
      index.direction = part / color.chunks;
      index.chunk = part % color.chunks;
      break;
    }
    part -= parts;
    ++index.color;
  }
  return index;
}

ScheduleView Schedule::view() const {
  return {collective, flags,  topology, name,   producer,   colors,     streams,
          boxes,      pieces, shifts,   frames, slot_count, operations, dependences};
}

bool operator==(const ScheduleView& a, const ScheduleView& b) {
  return a.collective == b.collective && a.flags == b.flags && a.topology == b.topology &&
         a.name == b.name && a.producer == b.producer && a.slot_count == b.slot_count &&
         std::ranges::equal(a.colors, b.colors) && std::ranges::equal(a.streams, b.streams) &&
         std::ranges::equal(a.boxes, b.boxes) && std::ranges::equal(a.pieces, b.pieces) &&
         std::ranges::equal(a.shifts, b.shifts) && std::ranges::equal(a.frames, b.frames) &&
         std::ranges::equal(a.operations, b.operations) &&
         std::ranges::equal(a.dependences, b.dependences);
}

}  // namespace torc
