// Unrolls segments.
#include "ir/segments/segments.h"

#include <algorithm>
#include <limits>

#include <llvm/ADT/SmallVector.h>

#include "ir/schedule_builder.h"

namespace torc::ir {
namespace {

/// `list` in one segment, of the vector's `segments`.
llvm::SmallVector<Piece, 4> piecesIn(const PieceList& list, std::uint32_t segment,
                                     std::uint32_t segments) {
  llvm::SmallVector<Piece, 4> pieces;
  for (const Piece& piece : list)
    pieces.push_back({piece.part * segments + segment, 1, piece.box});
  return pieces;
}

}  // namespace

Schedule unrollSegments(const ScheduleView& schedule, std::uint32_t segments) {
  Schedule header = headerOf(schedule);
  header.segments = header.window = 1;
  for (Color& color : header.colors)
    color.chunks *= segments;
  ScheduleBuilder builder(header);
  builder.schedule().boxes.assign(schedule.boxes.begin(), schedule.boxes.end());
  builder.schedule().pairs.assign(schedule.pairs.begin(), schedule.pairs.end());
  builder.schedule().shifts.assign(schedule.shifts.begin(), schedule.shifts.end());
  builder.schedule().peer_loops.assign(schedule.peer_loops.begin(), schedule.peer_loops.end());
  const auto count = static_cast<std::uint32_t>(schedule.operations.size());
  const auto streams = static_cast<std::uint32_t>(schedule.streams.size());
  const auto frames = static_cast<std::uint32_t>(schedule.frames.size());
  const std::uint32_t phases = count == 0 ? 0 : schedule.operations.back().phase + 1u;
  for (std::uint32_t segment = 0; segment < segments; ++segment) {
    for (const Stream& stream : schedule.streams) {
      const bool any = stream.part == kNone;
      builder.addStream({any ? kNone : stream.part * segments + segment, stream.core});
    }
    for (const Frame& frame : schedule.frames) {
      const std::uint32_t copy = segment % schedule.window;
      builder.addFrame(piecesIn(schedule.piecesOf(frame), segment, segments),
                       copy * schedule.slot_count + frame.slot);
    }
  }
  builder.schedule().slot_count = schedule.slot_count * std::min(schedule.window, segments);
  llvm::SmallVector<std::uint32_t, 16> after;
  for (std::uint32_t segment = 0; segment < segments; ++segment) {
    for (Operation operation : schedule.operations) {
      operation.phase = static_cast<std::uint16_t>(
          std::min<std::uint64_t>(operation.phase + std::uint64_t{segment} * phases,
                                  std::numeric_limits<std::uint16_t>::max()));
      operation.stream += segment * streams;
      builder.setRegions(operation, [&](Region& region) {
        if (region.frame != kNone) region.frame += segment * frames;
        return piecesIn(schedule.piecesOf(region), segment, segments);
      });
      after.clear();
      for (const std::uint32_t dependence : schedule.dependencesOf(operation)) {
        const std::uint32_t before = schedule.segmentsBefore(dependence);
        if (before > segment) continue;
        after.push_back((segment - before) * count + operationOf(dependence));
      }
      builder.addOperation(operation, after);
    }
  }
  return builder.take();
}

std::uint32_t segmentsToProve(const ScheduleView& schedule) {
  return std::min(schedule.segments, schedule.window + 1);
}

std::uint32_t segmentsToSimulate(const ScheduleView& schedule, double fit) {
  if (fit >= schedule.segments) return schedule.segments;
  return std::min(schedule.segments, std::max(2u, static_cast<std::uint32_t>(fit)));
}

}  // namespace torc::ir
