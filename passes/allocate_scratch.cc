// Lets frames of a part share a slot of scratch if one is dead before the other is first used, and
// adds the required dependences: the users of a frame start after all users of the slot's previous
// frame.
//
// Linear scan over the operations, each part separately. A slot is free for a frame that a receive
// fills if the last use of its previous frame was no later than `depth` receives ago: from the same
// neighbour, in the same stream and phase; at the start of a phase, before that phase. So
//  - streams of one phase do not wait for each other;
//  - `depth` receives can be posted ahead while earlier blocks are still being reduced or
//    forwarded;
//  - a receive never waits for a send of the same step or a later one, so that no cycle of nodes
//    waits for each other around a ring.
// Of the free slots the one that has been free for longest is taken, so that waiting is least
// likely.
//
// Frames of detours belong to one node: on other nodes their slots are free for other frames.
// Frames for the same message of a stream in a phase take `depth` slots in rotation.
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
    std::uint32_t frame = kNone;  // the last frame in it
  };
  struct Detour {
    std::uint32_t first = 0;  // of its slots, within its part
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
  /// Slots of a part, for frames in which a recv_reduce receives, or for others. They rotate
  /// separately, so that repeated steps stay alike.
  using Pool = std::pair<std::uint32_t, bool>;
  std::map<Pool, std::vector<Slot>> slots_;
  /// Of detours: by part and node, stream, phase and neighbour; by part, the numbers of slots; by
  /// part and node, the number of slots taken.
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
    if (slots_of_[frame] == kNone) place(frame, 0);  // unused
  }
}

/// Gives `frame` the slot of its (first) part that has been free for longest among those last used
/// before operation `free_before`, or a new one.
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

/// The dependences of the schedule, and those that shared slots require.
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
