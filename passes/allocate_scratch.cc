// Lets frames of a part share a slot of scratch when one is dead before the other is first used,
// and adds the dependences that make it so: the users of a frame start after all users of the frame
// that had its slot before.
//
// Linear scan over the operations, each part by itself. A slot is free for a frame that a receive
// fills when its last frame was used for the last time no later than `depth` receives ago: from the
// same neighbour, in the same stream and phase; at the start of a phase, before that phase. So
//  - streams of one phase do not wait for each other;
//  - `depth` receives can be posted ahead while earlier blocks are still being reduced or sent on;
//  - a receive never waits for a send of the same step, or later: the ring of nodes that each would
//    wait for the next one to receive is never closed.
// Of the free slots the one that is free for longest is taken, so that waiting is least likely.
#include "passes/allocate_scratch.h"

#include <algorithm>
#include <array>

#include <llvm/ADT/DenseMap.h>

#include "passes/analysis/dependences.h"
#include "schedules/expansion/shares.h"

namespace torc::passes {
namespace {

using Indices = llvm::SmallVector<std::uint32_t, 8>;

class Allocation {
 public:
  Allocation(const Schedule& schedule, std::uint32_t depth)
      : schedule_(schedule),
        view_(schedule.view()),
        parts_(view_),
        shares_(view_),
        depth_(depth),
        users_(schedule.frames.size()) {
    for (std::uint32_t i = 0; i < schedule.operations.size(); ++i) {
      for (const std::uint32_t frame : framesOf(i))
        users_[frame].push_back(i);
    }
    assignSlots();
  }

  std::uint32_t slot(std::uint32_t frame) const { return slots_of_[frame]; }
  std::uint32_t slotCount() const { return static_cast<std::uint32_t>(slots_.size()); }
  double shareOfVector() const;
  Dependences dependences() const;

 private:
  struct Slot {
    std::uint32_t frame = kNone;  // the last one in it
    double share = 0;             // of the vector, of the largest frame
  };

  /// The frames that operation `index` uses, each once.
  Indices framesOf(std::uint32_t index) const {
    const Operation& operation = schedule_.operations[index];
    Indices frames;
    for (const Region* region : {&operation.dst, &operation.a, &operation.b}) {
      if (region->frame != kNone && !llvm::is_contained(frames, region->frame)) {
        frames.push_back(region->frame);
      }
    }
    return frames;
  }

  void assignSlots();
  void place(std::uint32_t frame, std::uint32_t free_before);
  double share(const Frame& frame) const;

  const Schedule& schedule_;
  const ScheduleView view_;
  const PartTable parts_;
  const VectorShares shares_;
  const std::uint32_t depth_;
  std::vector<Indices> users_;  // by frame, ascending
  std::vector<std::uint32_t> slots_of_, previous_;
  std::vector<Slot> slots_;
  /// Those of a part: of frames in which a recv_reduce receives, and of others. Apart, each go
  /// round by themselves, and steps that repeat stay alike.
  struct Pools {
    Indices received, others;
  };
  std::vector<Pools> slots_of_part_;
};

void Allocation::assignSlots() {
  slots_of_.assign(schedule_.frames.size(), kNone);
  previous_.assign(schedule_.frames.size(), kNone);
  slots_of_part_.resize(parts_.size());
  struct StreamState {
    std::uint32_t phase = kNone;
    std::uint32_t free_before = 0;  // slots last used above this operation are free
    llvm::DenseMap<std::uint32_t, Indices> receives;  // of this phase, by neighbour
  };
  std::vector<StreamState> streams(schedule_.streams.size());
  std::uint32_t phase = kNone, phase_begin = 0;
  for (std::uint32_t i = 0; i < schedule_.operations.size(); ++i) {
    const Operation& operation = schedule_.operations[i];
    if (operation.phase != phase) {
      phase = operation.phase;
      phase_begin = i;
    }
    StreamState& stream = streams[operation.stream];
    if (stream.phase != operation.phase) {
      stream.phase = operation.phase;
      stream.free_before = phase_begin;
      stream.receives.clear();
    }
    if (receives(operation.kind) && !isSignal(operation.kind)) {
      Indices& receives = stream.receives[operation.peer];
      receives.push_back(i);
      if (receives.size() > depth_) {
        stream.free_before = receives[receives.size() - 1 - depth_] + 1;
      }
    }
    for (const std::uint32_t frame : framesOf(i)) {
      if (slots_of_[frame] == kNone) place(frame, stream.free_before);
    }
  }
  for (std::uint32_t frame = 0; frame < users_.size(); ++frame) {
    if (slots_of_[frame] == kNone) place(frame, 0);  // nobody uses it
  }
}

/// Gives `frame` the slot of its (first) part that is free for longest among those last used above
/// operation `free_before`, or a new one.
void Allocation::place(std::uint32_t frame, std::uint32_t free_before) {
  Pools& pools = slots_of_part_[view_.piecesOf(schedule_.frames[frame])[0].part];
  const bool receives_alone = users_[frame].size() == 1 && llvm::all_of(users_[frame], [&](auto i) {
                                return schedule_.operations[i].kind == OperationKind::kRecvReduce;
                              });
  Indices& candidates = receives_alone ? pools.received : pools.others;
  std::uint32_t best = kNone, best_last = free_before;
  for (const std::uint32_t slot : candidates) {
    const Indices& users = users_[slots_[slot].frame];
    const std::uint32_t last = users.empty() ? 0 : users.back();
    if (last < best_last) {
      best = slot;
      best_last = last;
    }
  }
  if (best == kNone) {
    best = slotCount();
    slots_.emplace_back();
    candidates.push_back(best);
  }
  Slot& slot = slots_[best];
  previous_[frame] = slot.frame;
  slots_of_[frame] = best;
  slot.frame = frame;
  slot.share = std::max(slot.share, share(schedule_.frames[frame]));
}

/// The frame's elements as a share of the vector.
double Allocation::share(const Frame& frame) const {
  return shares_.of(wholeFrame(frame, kNone), {});
}

double Allocation::shareOfVector() const {
  double sum = 0;
  for (const Slot& slot : slots_)
    sum += slot.share;
  return sum;
}

/// Those that the schedule has, and those that the sharing of slots asks for.
Dependences Allocation::dependences() const {
  Dependences dependences(schedule_.operations.size());
  for (std::uint32_t i = 0; i < schedule_.operations.size(); ++i) {
    const auto old = view_.dependencesOf(schedule_.operations[i]);
    Indices candidates(old.begin(), old.end());
    for (const std::uint32_t frame : framesOf(i)) {
      if (previous_[frame] != kNone) llvm::append_range(candidates, users_[previous_[frame]]);
    }
    if (candidates.size() == old.size()) {
      dependences.add(candidates);
    } else {
      dependences.addReduced(candidates);
    }
  }
  return dependences;
}

class AllocateScratch final : public Pass {
 public:
  explicit AllocateScratch(const AllocateScratchPass& options)
      : Pass("allocate-scratch", "lets frames that live at different times share a slot",
             PassLevel::kStep),
        depth_(*this, "depth", "receives of a stream that can be posted ahead", 1,
               kMostScratchDepth, options.depth) {}

  llvm::Expected<PassResult> run(ir::Program& program) override {
    Schedule& schedule = program.schedule;
    const Allocation allocation(schedule, *depth_);
    frames_ = static_cast<double>(schedule.frames.size());
    slots_ = allocation.slotCount();
    share_ = allocation.shareOfVector();

    Dependences dependences = allocation.dependences();
    bool any = schedule.slot_count != allocation.slotCount();
    for (std::uint32_t i = 0; i < schedule.frames.size(); ++i) {
      any |= schedule.frames[i].slot != allocation.slot(i);
    }
    for (std::uint32_t i = 0; i < schedule.frames.size(); ++i) {
      schedule.frames[i].slot = allocation.slot(i);
    }
    schedule.slot_count = allocation.slotCount();
    any |= dependences.apply(schedule);
    return changed(any);
  }

 private:
  IntegerOption depth_;
  PassStatistic frames_{*this, "frames"};
  PassStatistic slots_{*this, "slots"};
  PassStatistic share_{*this, "scratch as a share of the vector"};
};

}  // namespace

std::unique_ptr<Pass> makePass(const AllocateScratchPass& options) {
  return std::make_unique<AllocateScratch>(options);
}

}  // namespace torc::passes
