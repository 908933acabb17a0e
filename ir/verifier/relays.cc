#include "ir/verifier/relays.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include <llvm/ADT/STLExtras.h>

#include "ir/verifier/box_algebra.h"
#include "ir/verifier/roots/root_shifts.h"
#include "schedules/root.h"

namespace torc::ir {
namespace {

/// More operations than in practice: the table of their dependences has a bit for each two.
constexpr std::size_t kMostOperations = 20'000;

}  // namespace

Relays::Relays(const ScheduleView& schedule, std::uint32_t operations_per_segment)
    : schedule_(schedule), boxes_(schedule.boxes.size()) {
  const CollectiveRow& row = rowOf(schedule.collective);
  if (!row.isRooted() || row.reduces() || row.layout != Layout::kBlockMajor) return;
  for (const Operation& operation : schedule.operations) {
    is_way_.push_back(operation.guard != kNone && isRootRelative(schedule.boxes[operation.guard]));
  }
  if (llvm::all_equal(is_way_) || is_way_.size() > kMostOperations) return;
  are_apart_ = separate(operations_per_segment);
}

ScheduleView Relays::ways(bool with_all_boxes) const {
  ScheduleView ways = ways_ ? ways_->view : schedule_;
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
      if (region->buffer == Buffer::kScratch) {
        frames[is_way][region->frame] = 1;
      } else if ((region->buffer == Buffer::kIn) != (is_way == is_scatter)) {
        return false;
      }
    }
    for (const std::uint32_t dependence : schedule_.dependencesOf(operation)) {
      const std::uint32_t other = operationOf(dependence);
      if (other / operations_per_segment == i / operations_per_segment &&
          is_way != (is_way_[other] != 0) && is_way == is_scatter) {
        return false;
      }
    }
  }
  ways_.emplace(schedule_, is_way_);
  const auto ofBoth = [](const auto& used, std::size_t i) { return used[0][i] && used[1][i]; };
  for (std::size_t stream = 0; stream < schedule_.streams.size(); ++stream) {
    if (ofBoth(streams, stream)) return false;
  }
  for (std::uint32_t frame = 0; frame < schedule_.frames.size(); ++frame) {
    if (ofBoth(frames, frame)) shared_.insert(frame);
  }
  return llvm::none_of(conflictsOf(schedule_, /*in_place=*/true), [&](const auto& pair) {
    const auto& [a, b] = pair;
    return is_way_[a] != is_way_[b] &&
           guardsMeet(schedule_, schedule_.operations[a].guard, schedule_.operations[b].guard);
  });
}

}  // namespace torc::ir
