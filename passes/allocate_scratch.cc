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
//
// Frames of detours are one node's: on others their slots are free for frames of theirs. Those that
// take the same message of a stream in a phase take `depth` slots in turn.
#include "passes/allocate_scratch.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include <llvm/ADT/DenseMap.h>

#include "passes/analysis/dependences.h"
#include "schedules/broken_messages.h"
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
  std::uint32_t slotCount() const { return static_cast<std::uint32_t>(shares_of_slots_.size()); }
  double shareOfVector() const;
  Dependences dependences() const;

 private:
  struct Slot {
    std::uint32_t number = 0;
    std::uint32_t frame = kNone;  // the last one in it
  };
  struct Detour {
    std::uint32_t first = 0;  // of its slots, among those of its part
    std::vector<std::uint32_t> frames;
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
  void placeOnDetour(std::uint32_t frame, const Operation& receive);
  std::uint32_t newSlot();
  void take(std::uint32_t frame, std::uint32_t slot);
  double share(const Frame& frame) const;

  const Schedule& schedule_;
  const ScheduleView view_;
  const PartTable parts_;
  const VectorShares shares_;
  const std::uint32_t depth_;
  std::vector<Indices> users_;  // by frame, ascending
  std::vector<std::uint32_t> slots_of_, previous_;
  std::vector<double> shares_of_slots_;  // of the vector, of the largest frame
  /// Slots of a part; of frames in which a recv_reduce receives, or of others. Apart, each go round
  /// by themselves, and steps that repeat stay alike.
  using Pool = std::pair<std::uint32_t, bool>;
  std::map<Pool, std::vector<Slot>> slots_;
  /// Of detours: by part, node, stream, phase and neighbour; of a part, the numbers of slots; of a
  /// part and a node, how many of these are taken.
  using Node = std::pair<std::uint32_t, std::uint32_t>;
  std::map<std::tuple<Node, std::uint32_t, std::uint32_t, std::uint32_t>, Detour> detours_;
  std::map<std::uint32_t, Indices> of_detours_;
  std::map<Node, std::uint32_t> taken_;
};

void Allocation::assignSlots() {
  slots_of_.assign(schedule_.frames.size(), kNone);
  previous_.assign(schedule_.frames.size(), kNone);
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
      if (slots_of_[frame] != kNone) continue;
      if (isDetour(view_, operation) && receives(operation.kind)) {
        placeOnDetour(frame, operation);
      } else {
        place(frame, stream.free_before);
      }
    }
  }
  for (std::uint32_t frame = 0; frame < users_.size(); ++frame) {
    if (slots_of_[frame] == kNone) place(frame, 0);  // nobody uses it
  }
}

/// Gives `frame` the slot of its (first) part that is free for longest among those last used above
/// operation `free_before`, or a new one.
void Allocation::place(std::uint32_t frame, std::uint32_t free_before) {
  const bool receives_alone = users_[frame].size() == 1 && llvm::all_of(users_[frame], [&](auto i) {
                                return schedule_.operations[i].kind == OperationKind::kRecvReduce;
                              });
  std::vector<Slot>& candidates =
      slots_[{view_.piecesOf(schedule_.frames[frame])[0].part, receives_alone}];
  Slot* best = nullptr;
  std::uint32_t best_last = free_before;
  for (Slot& slot : candidates) {
    const Indices& users = users_[slot.frame];
    const std::uint32_t last = users.empty() ? 0 : users.back();
    if (last < best_last) {
      best = &slot;
      best_last = last;
    }
  }
  if (best == nullptr) best = &candidates.emplace_back(Slot{newSlot(), kNone});
  previous_[frame] = std::exchange(best->frame, frame);
  take(frame, best->number);
}

void Allocation::placeOnDetour(std::uint32_t frame, const Operation& receive) {
  const std::uint32_t part = view_.piecesOf(schedule_.frames[frame])[0].part;
  const Node node(part, receive.guard);
  const auto [entry, is_new] =
      detours_.try_emplace({node, receive.stream, receive.phase, receive.peer});
  Detour& detour = entry->second;
  Indices& slots = of_detours_[part];
  if (is_new) {
    detour.first = std::exchange(taken_[node], taken_[node] + depth_);
    if (slots.size() < detour.first + depth_) slots.resize(detour.first + depth_, kNone);
  }
  const std::size_t before = detour.frames.size();
  if (before >= depth_) {
    const std::uint32_t last = detour.frames[before - depth_];
    if (users_[last].back() >= users_[frame].front()) return place(frame, 0);
    previous_[frame] = last;
  }
  detour.frames.push_back(frame);
  std::uint32_t& slot = slots[detour.first + before % depth_];
  if (slot == kNone) slot = newSlot();
  take(frame, slot);
}

std::uint32_t Allocation::newSlot() {
  shares_of_slots_.push_back(0);
  return slotCount() - 1;
}

void Allocation::take(std::uint32_t frame, std::uint32_t slot) {
  slots_of_[frame] = slot;
  shares_of_slots_[slot] = std::max(shares_of_slots_[slot], share(schedule_.frames[frame]));
}

/// The frame's elements as a share of the vector.
double Allocation::share(const Frame& frame) const {
  return shares_.of(wholeFrame(frame, kNone), {});
}

double Allocation::shareOfVector() const {
  return std::accumulate(shares_of_slots_.begin(), shares_of_slots_.end(), 0.0);
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
