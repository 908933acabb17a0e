// Names and part numbering of a schedule.
#include "schedules/schedule.h"

#include <algorithm>
#include <random>
#include <utility>

#include "schedules/fields.h"

namespace torc {

std::string_view name(OperationKind kind) {
  return kOperationKindNames[static_cast<int>(kind)];
}

std::string_view name(Buffer buffer) {
  return kBufferNames[static_cast<int>(buffer)];
}

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

std::uint32_t ScheduleView::partCount() const {
  std::uint32_t parts = 0;
  for (const Color& color : colors)
    parts += color.directions * color.chunks;
  return parts;
}

bool ScheduleView::sumsWhole() const {
  if (partCount() != 1 || segments != 1) return false;
  if (rowOf(collective).layout == Layout::kBlockMajor) return true;
  const auto isWhole = [&](const Region& region) {
    const PieceList list = piecesOf(region);
    return std::ranges::all_of(list, [&](const Piece& piece) {
      return std::ranges::all_of(boxes[piece.box].axes, [](const Interval& interval) {
        return interval.kind == IntervalKind::kAll;
      });
    });
  };
  return std::ranges::all_of(operations, [&](const Operation& operation) {
    const bool sums = regionsOf(operation.kind).b;
    return !sums || (isWhole(operation.dst) && isWhole(operation.a) && isWhole(operation.b));
  });
}

std::uint64_t ScheduleView::vectorBlocks() const {
  const CollectiveRow& row = rowOf(collective);
  if (row.isOfNeighbours()) return 1;
  return row.layout == Layout::kBlockMajor ? topology.ranks() : topology.sites();
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

BlockRanges ScheduleView::blocksOf(std::uint32_t box, const Coordinates& at,
                                   const Coordinates& peer) const {
  BlockRanges ranges{};
  const std::uint32_t axes = topology.axis_count;
  const auto resolveEnd = [&](const Box& nodes, std::uint32_t first) {
    for (std::uint32_t axis = 0; axis < axes; ++axis) {
      const std::int32_t from = isPeerRelative(nodes[axis].kind) ? peer[axis] : at[axis];
      ranges[first + axis] = resolve(nodes[axis], from, topology.axes[axis].size);
    }
  };
  if (hasPairs()) {
    resolveEnd(boxes[pairs[box].source], 0);
    resolveEnd(boxes[pairs[box].destination], axes);
  } else {
    resolveEnd(boxes[box], 0);
  }
  return ranges;
}

std::uint32_t Schedule::dependence(std::uint32_t operation, const Iterations& on) {
  const auto found = std::ranges::find(iterations, on);
  const auto index = static_cast<std::uint32_t>(found - iterations.begin());
  if (found == iterations.end()) iterations.push_back(on);
  return dependenceOn(operation, index + 1);
}

ScheduleView Schedule::view() const {
  return {{collective, flags,    topology, links,  name,       producer,   colors,
           streams,    boxes,    pairs,    pieces, shifts,     peer_loops, frames,
           slot_count, segments, window,   loops,  iterations, operations, dependences}};
}

Schedule headerOf(const ScheduleView& schedule) {
  Schedule header;
  header.collective = schedule.collective;
  header.flags = schedule.flags;
  header.topology = schedule.topology;
  header.links.assign(schedule.links.begin(), schedule.links.end());
  header.name = std::string(schedule.name);
  header.producer = std::string(schedule.producer);
  header.segments = schedule.segments;
  header.window = schedule.window;
  header.colors.assign(schedule.colors.begin(), schedule.colors.end());
  return header;
}

bool operator==(const ScheduleView& a, const ScheduleView& b) {
  bool equal = a.collective == b.collective && a.flags == b.flags && a.topology == b.topology &&
               std::ranges::equal(a.links, b.links) && a.name == b.name &&
               a.producer == b.producer && a.slot_count == b.slot_count &&
               a.segments == b.segments && a.window == b.window;
  forEachTable([&](std::string_view, const auto& of_a,
                   const auto& of_b) { equal = equal && std::ranges::equal(of_a, of_b); },
               a, b);
  return equal;
}

}  // namespace torc
