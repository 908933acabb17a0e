// Makes a program one for a segment: every part is cut into S of them, and the program is run for
// each (schedules/schedule.h). What pipeline{sends=in-turn} writes out chunk by chunk stands here
// once, so that neither the program nor its proof grows with S: what pipelines along trees need,
// whose start is paid by many short messages.
//
// Segments touch each other's data nowhere. What orders them:
//  - A send waits for the same send of the segment before: else all segments share a link, and end
//    together.
//  - A receive waits for the same receive `window` segments before, so that no more are posted at a
//    time.
//  - Each slot of scratch has `window` copies. What writes into a slot waits for the last that
//    touched this copy of it before, `window` segments ago.
#include "passes/pipelining/segment.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>

#include "passes/analysis/conflicts.h"
#include "passes/analysis/dependences.h"
#include "schedules/validate.h"

namespace torc::passes {
namespace {

class Segment final : public Pass {
 public:
  explicit Segment(const SegmentPass& options)
      : Pass("segment", "runs the program for segments of every part, one behind the other",
             PassLevel::kStep),
        segments_(*this, "segments", "of each part", 1, kMostSegmentsOfPart, options.segments),
        window_(*this, "window", "segments that are received, and have scratch, at a time", 1,
                kMaxSegmentsBefore, options.window) {}

  llvm::Expected<PassResult> run(ir::Program& program) override {
    Schedule& schedule = program.schedule;
    if (*segments_ == 1) return PassResult::kWithoutChange;
    if (mostSegments(schedule.view()) < *segments_) {
      return passError("the program would have more than " + llvm::Twine(kMaxSegmentedOperations) +
                       " operations, frames or pieces in all segments");
    }
    for (const Piece& piece : schedule.pieces) {
      if (piece.parts > 1) return passError("lists of parts in a row cannot be cut into segments");
    }
    schedule.segments = *segments_;
    schedule.window = *window_;
    orderSegments(schedule);
    return PassResult::kWithChange;
  }

 private:
  using OperationList = llvm::SmallVector<std::uint32_t, 4>;

  void orderSegments(Schedule& schedule) const {
    const ScheduleView view = schedule.view();
    std::vector<OperationList> touched(schedule.slot_count);  // by slot
    for (std::uint32_t i = 0; i < view.operations.size(); ++i) {
      const Operation& operation = view.operations[i];
      for (const Region* region : {&operation.dst, &operation.a, &operation.b}) {
        if (region->buffer != Buffer::kScratch) continue;
        auto& of_slot = touched[view.frames[region->frame].slot];
        if (of_slot.empty() || of_slot.back() != i) of_slot.push_back(i);
      }
    }
    std::map<std::pair<std::uint32_t, std::uint32_t>, OperationList> last;  // by slot and guard
    const auto lastOf = [&](std::uint32_t slot, const Operation& writer) -> const OperationList& {
      const auto [entry, is_new] = last.try_emplace({slot, writer.guard});
      if (is_new) {
        llvm::copy_if(touched[slot], std::back_inserter(entry->second), [&](std::uint32_t other) {
          return guardsMeet(view, writer.guard, view.operations[other].guard);
        });
        leaveLast(view, entry->second);
      }
      return entry->second;
    };
    Dependences all(view.operations.size());
    llvm::SmallVector<std::uint32_t, 16> after;
    for (std::uint32_t i = 0; i < view.operations.size(); ++i) {
      const Operation& operation = view.operations[i];
      const auto before = view.dependencesOf(operation);
      after.assign(before.begin(), before.end());
      if (sends(operation.kind)) after.push_back(dependenceOn(i, 1));
      if (receives(operation.kind)) after.push_back(dependenceOn(i, *window_));
      const bool stages = operation.kind == OperationKind::kRecvReduce;
      for (const Region* region : {&operation.dst, stages ? &operation.b : &operation.dst}) {
        if (region->buffer != Buffer::kScratch) continue;
        for (const std::uint32_t other : lastOf(view.frames[region->frame].slot, operation))
          after.push_back(dependenceOn(other, *window_));
      }
      llvm::sort(after);
      after.erase(llvm::unique(after), after.end());
      all.add(after);
    }
    all.apply(schedule);
  }

  /// Leaves of `operations`, which ascend, those that no other one depends on, however indirectly.
  /// As dependences pass through operations that a node does not execute, they stand for the rest
  /// on every node.
  static void leaveLast(const ScheduleView& schedule, OperationList& operations) {
    if (operations.size() < 2) return;
    std::set<std::uint32_t> before;
    llvm::SmallVector<std::uint32_t, 32> stack(operations.begin(), operations.end());
    while (!stack.empty()) {
      const Operation& next = schedule.operations[stack.pop_back_val()];
      for (const std::uint32_t dependence : schedule.dependencesOf(next)) {
        if (dependence >= operations.front() && before.insert(dependence).second) {
          stack.push_back(dependence);
        }
      }
    }
    llvm::erase_if(operations, [&](std::uint32_t index) { return before.count(index) > 0; });
  }

  IntegerOption segments_, window_;
};

}  // namespace

std::uint32_t mostSegments(const ScheduleView& schedule) {
  const std::size_t longest =
      std::max({schedule.operations.size(), schedule.frames.size(), schedule.pieces.size(),
                schedule.dependences.size() / 8, std::size_t{1}});
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(kMostSegmentsOfPart, kMaxSegmentedOperations / longest));
}

std::unique_ptr<Pass> makePass(const SegmentPass& options) {
  return std::make_unique<Segment>(options);
}

}  // namespace torc::passes
