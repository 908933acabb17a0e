// Computes guards as boxes of nodes, and the cells between them.
#include "ir/verifier/domains.h"

#include <algorithm>
#include <span>

namespace torc::ir {
namespace {

/// Adds the places where the range of an axis, relative to `from`, begins or ends within `length`
/// coordinates.
void addCuts(const Range& range, const Range& cell, std::uint32_t size,
             llvm::SmallVectorImpl<std::uint32_t>& cuts) {
  const std::uint32_t begin = wrap(std::int64_t{range.start} - cell.start, size);
  const std::uint32_t end = wrap(std::int64_t{range.start} + range.length - cell.start, size);
  if (range.length == size) return;
  if (begin > 0 && begin < cell.length) cuts.push_back(begin);
  if (end > 0 && end < cell.length) cuts.push_back(end);
}

struct Cell {
  Ranges nodes{};
  std::vector<Doing> list;  // entries whose boxes cover some of the nodes
};

}  // namespace

void addJoined(const Ranges& box, const Topology& topology, RangesList& boxes) {
  addJoined(box, topology.axis_count, boxes, [&](std::uint32_t axis, Range& a, const Range& b) {
    return join(a, b, topology.axes[axis].size);
  });
}

Domains::Domains(const ScheduleView& schedule, bool per_rank)
    : schedule_(schedule), dropped_(schedule) {
  const Topology& topology = schedule.topology;
  whole_ = {allNodes(topology)};
  for (const Coordinates& dead : topology.deadNodes())
    whole_ = subtract(whole_, nodeWithCores(topology, dead), topology);
  const std::span<const Operation> operations = schedule.operations;
  const bool of_single_nodes =
      operations.size() >= topology.ranks() &&
      std::ranges::all_of(operations, [&](const auto& one) {
        return one.guard != kNone && volume(schedule.guardRanges(one.guard), topology) == 1;
      });
  apart_ = per_rank || of_single_nodes;
  live_ = cut(whole_);
}

RangesList Domains::cut(RangesList boxes) const {
  const Topology& topology = schedule_.topology;
  for (std::uint32_t axis = 0; apart_ && axis < topology.axis_count; ++axis) {
    RangesList nodes;
    for (Ranges box : boxes) {
      const Range range = box[axis];
      for (std::uint32_t k = 0; k < range.length; ++k) {
        box[axis] = {wrap(std::int64_t{range.start} + k, topology.axes[axis].size), 1};
        nodes.push_back(box);
      }
    }
    boxes = std::move(nodes);
  }
  return boxes;
}

const RangesList& Domains::of(const Operation& operation) {
  const std::span<const Ranges> dropped = dropped_.of(operation);
  if (operation.guard == kNone && dropped.empty()) return live_;
  const std::tuple key(operation.guard, dropped.empty() ? kNone : operation.peer,
                       !dropped.empty() && receives(operation.kind));
  const auto [entry, is_new] = of_.try_emplace(key);
  if (!is_new) return entry->second;
  const Topology& topology = schedule_.topology;
  Ranges admitted = allNodes(topology);
  for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
    const Interval& guard = schedule_.guardBox(operation.guard)[axis];
    const std::uint32_t size = topology.axes[axis].size;
    const Range at_origin = resolve(guard, 0, size);
    if (guard.kind == IntervalKind::kAbsolute) {
      admitted[axis] = at_origin;
    } else if (!contains(at_origin, 0, size)) {
      return entry->second;  // relative to the node: it admits every node, or none
    }
  }
  RangesList boxes = intersect(whole_, admitted, topology);
  for (const Ranges& nodes : dropped)
    boxes = subtract(boxes, nodes, topology);
  entry->second = cut(std::move(boxes));
  return entry->second;
}

std::uint64_t forEachCell(
    const Topology& topology, std::vector<Doing> list, ProofWork& work,
    llvm::function_ref<void(const Ranges& cell, llvm::ArrayRef<std::uint32_t> doing)> visit) {
  std::vector<Cell> open;
  if (!list.empty()) open.push_back({allNodes(topology), std::move(list)});
  std::uint64_t cells = 0;
  llvm::SmallVector<std::uint32_t, 64> cuts;
  std::vector<std::uint32_t> doing;
  while (!open.empty() && !work.tooMuch()) {
    const Cell cell = std::move(open.back());
    open.pop_back();
    work.done += cell.list.size() * topology.axis_count;
    cuts.clear();
    std::uint32_t axis = 0;
    for (; axis < topology.axis_count; ++axis) {
      for (const Doing& one : cell.list)
        addCuts(one.nodes[axis], cell.nodes[axis], topology.axes[axis].size, cuts);
      if (!cuts.empty()) break;
    }
    if (axis == topology.axis_count) {
      doing.clear();
      for (const Doing& one : cell.list)
        doing.push_back(one.what);
      std::sort(doing.begin(), doing.end());
      visit(cell.nodes, doing);
      ++cells;
      continue;
    }
    // Splits at the median of the places where a range begins or ends.
    std::nth_element(cuts.begin(), cuts.begin() + cuts.size() / 2, cuts.end());
    const std::uint32_t cut = cuts[cuts.size() / 2];
    const Range whole = cell.nodes[axis];
    const Range halves[] = {
        {wrap(std::int64_t{whole.start} + cut, topology.axes[axis].size), whole.length - cut},
        {whole.start, cut}};
    for (const Range& half : halves) {  // the lower half first
      Cell part{cell.nodes, {}};
      part.nodes[axis] = half;
      for (const Doing& one : cell.list) {
        if (overlaps(one.nodes, part.nodes, topology)) part.list.push_back(one);
      }
      if (!part.list.empty()) open.push_back(std::move(part));
    }
  }
  return cells;
}

}  // namespace torc::ir
