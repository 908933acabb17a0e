// Turns a program into one for a segment: every part is cut into S segments, and the program runs
// for each (schedules/schedule.h). It replaces the clones of pipeline{sends=in-turn} by one copy,
// so that neither the program nor its proof grows with S. Pipelines along trees need this, as many
// short messages must hide their start.
//
// No segment touches the data of another. Their order:
//  - A send waits for the same send of the segment before: else all segments share a link, and end
//    together.
//  - A receive waits for the same receive `window` segments before, which limits the posted ones.
//    In a chain it waits for the last one, so that chains ahead come to their end; sends from the
//    same slot go one after the other, so that the last one stands for all.
//  - Each slot of scratch has `window` copies. A writer of a slot waits for the last users of its
//    copy, `window` segments ago, unless one of its dependences already does.
#include "passes/pipelining/segment.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/SparseBitVector.h>

#include "ir/make_error.h"
#include "ir/schedule_builder.h"
#include "ir/verifier/box_algebra.h"
#include "passes/analysis/dependences.h"
#include "schedules/validation/validate.h"

namespace torc::passes {
namespace {

constexpr std::size_t kManyInSlot = 64;  // operations that touch a slot
constexpr std::size_t kFewLast = 16;     // of them, those for which no others wait
constexpr std::size_t kMostInSlot = 2048;

class Segment final : public Pass {
 public:
  explicit Segment(const SegmentPass& options)
      : Pass("segment", "runs the program for segments of every part, one behind the other",
             PassLevel::kStep),
        segments_(*this, "segments", "of each part", 1, kMostSegmentsOfPart, options.segments),
        window_(*this, "window", "segments that are received, and have scratch, at a time", 1,
                kMaxSegmentsBefore, options.window),
        order_(*this, "order", "what goes through the window one after the other", options.order) {}

  llvm::Expected<PassResult> run(ir::Program& program) override {
    Schedule& schedule = program.schedule;
    if (*segments_ == 1) return PassResult::kWithoutChange;
    if (mostSegments(schedule.view()) < *segments_) {
      return makeError("the program would have more than " + llvm::Twine(kMaxSegmentedOperations) +
                       " operations, frames or pieces in all segments");
    }
    if (llvm::any_of(schedule.pieces, [](const Piece& piece) { return piece.parts > 1; }))
      schedule = withSingleParts(schedule);
    schedule.segments = *segments_;
    schedule.window = *window_;
    if (inChains()) orderSends(schedule);
    orderSegments(schedule);
    if (schedule.dependences.size() * *segments_ > 8 * kMaxSegmentedOperations) {
      return makeError("the program would have more than " +
                       llvm::Twine(8 * kMaxSegmentedOperations) + " dependences in all segments");
    }
    return PassResult::kWithChange;
  }

 private:
  using OperationList = llvm::SmallVector<std::uint32_t, 4>;

  static void orderSends(Schedule& schedule) {
    const ScheduleView view = schedule.view();
    // By slot, stream and guard.
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t> last;
    Dependences all(view.operations.size());
    llvm::SmallVector<std::uint32_t, 16> after;
    for (std::uint32_t i = 0; i < view.operations.size(); ++i) {
      const Operation& operation = view.operations[i];
      const auto before = view.dependencesOf(operation);
      after.assign(before.begin(), before.end());
      if (sends(operation.kind) && operation.a.buffer == Buffer::kScratch) {
        const std::tuple key(view.frames[operation.a.frame].slot, operation.stream,
                             operation.guard);
        if (const auto [entry, is_new] = last.try_emplace(key, i); !is_new) {
          after.push_back(std::exchange(entry->second, i));
          llvm::sort(after);
          after.erase(llvm::unique(after), after.end());
        }
      }
      all.add(after);
    }
    all.apply(schedule);
  }

  /// By send: the send of the segment before that it waits for. It is the same send or, if phases
  /// alternate, the one at the same position of the next phase on its link, whose segment is the
  /// older one.
  std::vector<std::uint32_t> sendsBefore(const ScheduleView& schedule) const {
    std::vector<std::uint32_t> before(schedule.operations.size(), kNone);
    // By peer, phase by phase.
    std::map<std::uint32_t, std::map<std::uint32_t, std::vector<std::uint32_t>>> links;
    for (std::uint32_t i = 0; i < before.size(); ++i) {
      const Operation& operation = schedule.operations[i];
      if (!sends(operation.kind)) continue;
      before[i] = i;
      links[operation.peer][operation.phase].push_back(i);
    }
    if (*order_ != SegmentOrder::kPhases) return before;
    for (const auto& [peer, phases] : links) {
      for (auto phase = phases.begin(), next = std::next(phase); next != phases.end();
           phase = next++) {
        for (std::size_t k = 0; k < phase->second.size(); ++k)
          before[phase->second[k]] = next->second[std::min(k, next->second.size() - 1)];
      }
    }
    return before;
  }

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
    // By slot and guard. If many operations have touched a slot, on different nodes, each list may
    // contain all of them: then one list stands for all nodes, unless it is long, as dependences
    // pass through operations that a node does not execute.
    std::map<std::pair<std::uint32_t, std::uint32_t>, OperationList> last;
    const auto lastOf = [&](std::uint32_t slot, const Operation& writer) -> const OperationList& {
      const auto listOf = [&](std::uint32_t guard) -> const OperationList& {
        const auto [entry, is_new] = last.try_emplace({slot, guard});
        if (is_new) {
          llvm::copy_if(touched[slot], std::back_inserter(entry->second), [&](std::uint32_t other) {
            return ir::guardsMeet(view, guard, view.operations[other].guard);
          });
          leaveLast(view, entry->second);
        }
        return entry->second;
      };
      const std::size_t many = touched[slot].size();
      return many > kManyInSlot && (many > kMostInSlot || listOf(kNone).size() <= kFewLast)
                 ? listOf(kNone)
                 : listOf(writer.guard);
    };
    // Slots with guards for whose copy an operation has waited, directly or through its
    // dependences.
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> copies;
    std::vector<llvm::SparseBitVector<>> waited(view.operations.size());
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t> last_receives;
    const std::vector<std::uint32_t> sends_before = sendsBefore(view);
    const Iterations of_window{.segments = static_cast<std::uint16_t>(*window_)};
    const auto chainOf = [](const Operation& operation) {
      return std::tuple(operation.stream, operation.phase, operation.guard);
    };
    for (std::uint32_t i = 0; i < view.operations.size(); ++i) {
      if (receives(view.operations[i].kind)) last_receives[chainOf(view.operations[i])] = i;
    }
    Dependences all(view.operations.size());
    llvm::SmallVector<std::uint32_t, 16> after;
    for (std::uint32_t i = 0; i < view.operations.size(); ++i) {
      const Operation& operation = view.operations[i];
      const auto before = view.dependencesOf(operation);
      after.assign(before.begin(), before.end());
      for (const std::uint32_t on : before)
        waited[i] |= waited[on];
      if (sends(operation.kind))
        after.push_back(schedule.dependence(sends_before[i], {.segments = 1}));
      if (receives(operation.kind)) {
        after.push_back(
            schedule.dependence(inChains() ? last_receives[chainOf(operation)] : i, of_window));
      }
      const bool stages = operation.kind == OperationKind::kRecvReduce;
      for (const Region* region : {&operation.dst, stages ? &operation.b : &operation.dst}) {
        if (region->buffer != Buffer::kScratch) continue;
        const std::uint32_t slot = view.frames[region->frame].slot;
        const auto number = static_cast<std::uint32_t>(copies.size());
        const std::uint32_t copy =
            copies.try_emplace({slot, operation.guard}, number).first->second;
        if (!waited[i].test_and_set(copy)) continue;
        for (const std::uint32_t other : lastOf(slot, operation))
          after.push_back(schedule.dependence(other, of_window));
      }
      llvm::sort(after);
      after.erase(llvm::unique(after), after.end());
      all.add(after);
    }
    all.apply(schedule);
  }

  /// Consecutive parts of a list are not adjacent in a segment: there each is a piece.
  static Schedule withSingleParts(const Schedule& schedule) {
    const ScheduleView view = schedule.view();
    ir::ScheduleBuilder builder(schedule);
    builder.schedule().boxes = schedule.boxes;
    builder.schedule().pairs = schedule.pairs;
    builder.schedule().shifts = schedule.shifts;
    builder.schedule().peer_loops = schedule.peer_loops;
    builder.schedule().streams = schedule.streams;
    const auto single = [&](const PieceList& list) {
      llvm::SmallVector<Piece, 8> pieces;
      for (const Piece& piece : list) {
        for (std::uint32_t part = 0; part < piece.parts; ++part)
          pieces.push_back({piece.part + part, 1, piece.box});
      }
      return pieces;
    };
    for (const Frame& frame : schedule.frames)
      builder.addFrame(single(view.piecesOf(frame)), frame.slot);
    builder.schedule().slot_count = schedule.slot_count;
    for (Operation operation : schedule.operations) {
      for (Region* region : {&operation.dst, &operation.a, &operation.b}) {
        if (region->present())
          *region = builder.region(region->buffer, single(view.piecesOf(*region)), region->frame);
      }
      const auto after = view.dependencesOf(operation);
      builder.addOperation(operation, {after.data(), after.size()});
    }
    return builder.take();
  }

  /// Removes from `operations`, which ascend, those that another one depends on transitively. As
  /// dependences pass through operations that a node does not execute, the rest stand for all on
  /// every node.
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

  bool inChains() const { return *order_ != SegmentOrder::kOperations; }
  bool means(const PassOption& option) const override { return &option != &order_ || inChains(); }

  IntegerOption segments_, window_;
  ChoiceOption<SegmentOrder> order_;
};

}  // namespace

llvm::ArrayRef<llvm::StringRef> words(SegmentOrder) {
  static constexpr llvm::StringRef kWords[] = {"operations", "chains", "phases"};
  return kWords;
}

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
