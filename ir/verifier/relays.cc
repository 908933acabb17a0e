#include "ir/verifier/relays.h"

#include <algorithm>
#include <array>
#include <utility>

#include <llvm/ADT/STLExtras.h>

#include "ir/verifier/box_algebra.h"
#include "ir/verifier/roots/root_shifts.h"
#include "schedules/root.h"

namespace torc::ir {

ScheduleView selectOperations(const ScheduleView& schedule, llvm::ArrayRef<char> is_selected,
                              Schedule& tables) {
  // By operation: itself or, if it is not selected, those on which it depends.
  std::vector<std::vector<std::uint32_t>> reached(schedule.operations.size());
  for (std::uint32_t i = 0; i < reached.size(); ++i) {
    Operation& operation = tables.operations.emplace_back(schedule.operations[i]);
    for (const std::uint32_t dependence : schedule.dependencesOf(operation))
      llvm::append_range(reached[i], reached[operationOf(dependence)]);
    llvm::sort(reached[i]);
    reached[i].erase(std::unique(reached[i].begin(), reached[i].end()), reached[i].end());
    operation.first_dependence = static_cast<std::uint32_t>(tables.dependences.size());
    operation.dependence_count = 0;
    if (is_selected[i] != 0) {
      operation.dependence_count = static_cast<std::uint32_t>(reached[i].size());
      llvm::append_range(tables.dependences, std::exchange(reached[i], {i}));
      continue;
    }
    operation.kind = OperationKind::kCopy;
    operation.peer_kind = PeerKind::kShift;
    operation.peer = kNone;
    operation.dst = operation.a = operation.b = {};
  }
  ScheduleView selected = schedule;
  selected.operations = tables.operations;
  selected.dependences = tables.dependences;
  return selected;
}

Relays::Relays(const ScheduleView& schedule, std::uint32_t operations_per_segment)
    : schedule_(schedule), boxes_(schedule.boxes.size()), ways_(schedule) {
  const CollectiveRow& row = rowOf(schedule.collective);
  if (!row.isRooted() || row.reduces() || row.layout != Layout::kBlockMajor) return;
  for (const Operation& operation : schedule.operations) {
    is_way_.push_back(operation.guard != kNone && isRootRelative(schedule.boxes[operation.guard]));
  }
  // The table of dependences has a bit for each two operations.
  if (llvm::all_equal(is_way_) || is_way_.size() > 20'000) return;
  are_apart_ = separate(operations_per_segment);
}

ScheduleView Relays::ways(bool with_all_boxes) const {
  ScheduleView ways = ways_;
  if (!with_all_boxes) ways.boxes = boxes_;
  return ways;
}

bool Relays::separate(std::uint32_t operations_per_segment) {
  const bool is_scatter = rowOf(schedule_.collective).describesOwnOut();
  std::array<std::vector<char>, 2> streams, frames;  // used by trees, by ways
  streams.fill(std::vector<char>(schedule_.streams.size(), 0));
  frames.fill(std::vector<char>(schedule_.frames.size(), 0));
  for (std::uint32_t i = 0; i < schedule_.operations.size(); ++i) {
    const Operation& operation = schedule_.operations[i];
    const bool is_way = is_way_[i] != 0;
    if (operation.hasPeerLoop() || isSignal(operation.kind)) return false;
    if (is_way) boxes_[operation.guard] = schedule_.boxes[operation.guard];
    streams[is_way][operation.stream] = 1;
    for (const Region* region : {&operation.dst, &operation.a, &operation.b}) {
      if (!region->present()) continue;
      for (const Piece& piece : schedule_.piecesOf(*region)) {
        if (is_way) boxes_[piece.box] = schedule_.boxes[piece.box];
      }
      const bool is_scratch = region->buffer == Buffer::kScratch;
      if (is_scratch) frames[is_way][region->frame] = 1;
      if (!is_scratch && (region->buffer == Buffer::kIn) != (is_way == is_scatter)) return false;
    }
    for (const std::uint32_t dependence : schedule_.dependencesOf(operation)) {
      const std::uint32_t other = operationOf(dependence);
      if (other / operations_per_segment == i / operations_per_segment &&
          is_way != (is_way_[other] != 0) && is_way == is_scatter) {
        return false;
      }
    }
  }
  ways_ = selectOperations(schedule_, is_way_, tables_);
  for (std::size_t stream = 0; stream < schedule_.streams.size(); ++stream) {
    if (streams[0][stream] && streams[1][stream]) return false;
  }
  for (std::uint32_t frame = 0; frame < schedule_.frames.size(); ++frame) {
    if (frames[0][frame] && frames[1][frame]) shared_.insert(frame);
  }
  return llvm::none_of(conflictsOf(schedule_, /*in_place=*/true), [&](const auto& pair) {
    const auto& [a, b] = pair;
    return is_way_[a] != is_way_[b] &&
           guardsMeet(schedule_, schedule_.operations[a].guard, schedule_.operations[b].guard);
  });
}

void RelayedFacts::note(std::uint32_t part, const Fact& fact, const FactSetting& setting) {
  if (relays.isShared(fact.frame)) left[{fact.frame, part}].write(fact, setting);
}

void RelayedFacts::bring(const RangesList& nodes, const FactSetting& setting,
                         llvm::function_ref<void(std::uint32_t part, const Fact& fact)> add) const {
  for (const auto& [place, store] : known) {
    for (const Fact& fact : store.all()) {
      FactList some;
      for (const Ranges& box : nodes)
        intersect(fact, {box, allBlocks(setting.axes)}, setting, some);
      for (const Fact& one : some)
        add(place.second, one);
    }
  }
}

bool RelayedFacts::leaveOnly(
    llvm::function_ref<bool(std::uint32_t part, const Fact& fact)> isRight) const {
  return llvm::all_of(left, [&](const auto& entry) {
    return llvm::all_of(entry.second.all(),
                        [&](const Fact& fact) { return isRight(entry.first.second, fact); });
  });
}

bool RelayedFacts::coverKnown(const FactSetting& setting) const {
  return llvm::all_of(known, [&](const auto& entry) {
    const auto same = left.find(entry.first);
    Witness missing;
    return same != left.end() && same->second.covers(entry.second, setting, missing);
  });
}

}  // namespace torc::ir
