// Unrolls loops, operation by operation.
#include "schedules/loops/unroll.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "schedules/interning.h"
#include "schedules/loops/loop_nest.h"

namespace torc {
namespace {

class Unroller {
 public:
  Unroller(const ScheduleView& schedule, IterationChoice choice)
      : schedule_(schedule),
        choice_(choice),
        nest_(schedule),
        made_(schedule.operations.size()),
        last_boxes_(schedule.boxes.size()) {}

  UnrolledLoops run() {
    Schedule& made = result_.schedule;
    made = headerOf(schedule_);
    made.streams.assign(schedule_.streams.begin(), schedule_.streams.end());
    made.shifts.assign(schedule_.shifts.begin(), schedule_.shifts.end());
    made.peer_loops.assign(schedule_.peer_loops.begin(), schedule_.peer_loops.end());
    if (choice_ == IterationChoice::kAll) reserve();
    emit(0, static_cast<std::uint32_t>(schedule_.operations.size()), 0, 0);
    if (choice_ == IterationChoice::kAll) addDependences();
    numberSlots();
    return std::move(result_);
  }

 private:
  void reserve() {
    std::size_t all = 0;
    for (std::uint32_t i = 0; i < schedule_.operations.size(); ++i) {
      const std::size_t runs = nest_.runs(i);
      made_[i].reserve(runs);
      all += runs;
    }
    result_.schedule.operations.reserve(all);
    result_.schedule.dependences.reserve(2 * all);
    result_.operations.reserve(all);
    result_.counters.reserve(all);
  }

  /// Lists operations [begin, end) inside `depth` loops; `loop` is the first loop inside them.
  void emit(std::uint32_t begin, std::uint32_t end, std::uint32_t loop, std::uint32_t depth) {
    const auto& loops = schedule_.loops;
    for (std::uint32_t i = begin; i < end;) {
      if (loop == loops.size() || loops[loop].begin != i) {
        emitOperation(i++);
        continue;
      }
      const Loop& here = loops[loop];
      for (std::uint32_t iteration = 0; iteration < here.count; ++iteration) {
        if (choice_ == IterationChoice::kEnds && iteration > 2) {
          iteration = std::max(iteration, here.count - 2);
        }
        counters_[depth] = iteration;
        emit(here.begin, here.end, loop + 1, depth + 1);
      }
      counters_[depth] = 0;
      i = here.end;
      while (loop < loops.size() && loops[loop].begin < i)
        ++loop;
    }
  }

  void emitOperation(std::uint32_t index) {
    Operation operation = schedule_.operations[index];
    const LoopsAround around = nest_.aroundOperation(index);
    for (Region* region : {&operation.dst, &operation.a, &operation.b}) {
      if (!region->present()) continue;
      if (region->frame != kNone) region->frame = frameOf(region->frame, around);
      region->box = blocksOf(region->box, region->pieces);
    }
    if (operation.guard != kNone) operation.guard = boxOf(operation.guard);
    operation.first_dependence = operation.dependence_count = 0;
    made_[index].push_back(static_cast<std::uint32_t>(result_.schedule.operations.size()));
    result_.schedule.operations.push_back(operation);
    result_.operations.push_back(index);
    result_.counters.push_back(counters_);
  }

  /// Adds the dependences of every listed operation; those on earlier segments may be listed
  /// further down.
  void addDependences() {
    auto& dependences = result_.schedule.dependences;
    for (std::size_t i = 0; i < result_.operations.size(); ++i) {
      const std::uint32_t index = result_.operations[i];
      counters_ = result_.counters[i];
      Operation& operation = result_.schedule.operations[i];
      operation.first_dependence = static_cast<std::uint32_t>(dependences.size());
      const LoopsAround around = nest_.aroundOperation(index);
      for (const std::uint32_t dependence : schedule_.dependencesOf(schedule_.operations[index]))
        addInstances(dependence, around);
      const auto first = dependences.begin() + operation.first_dependence;
      std::sort(first, dependences.end());
      dependences.erase(std::unique(first, dependences.end()), dependences.end());
      operation.dependence_count =
          static_cast<std::uint32_t>(dependences.size()) - operation.first_dependence;
    }
  }

  /// Adds the operations of one dependence, in this iteration, of an operation in the loops
  /// `around`.
  void addInstances(std::uint32_t dependence, const LoopsAround& around) {
    const std::uint32_t operation = operationOf(dependence);
    const LoopsAround target = nest_.aroundOperation(operation);
    addInstances(operation, target, iterationsNamed(schedule_, dependence, around, target), 0, 0);
  }

  /// The same; `instance` is the number of the iteration over the outer `level` loops.
  void addInstances(std::uint32_t operation, const LoopsAround& target,
                    const Iterations& iterations, std::uint32_t level, std::uint64_t instance) {
    // No nest is deeper than kMaxLoopDepth, which the compiler cannot see.
    if (level >= std::min(target.depth(), kMaxLoopDepth)) {
      result_.schedule.dependences.push_back(
          iterations.segments == 0
              ? made_[operation][instance]
              : result_.schedule.dependence(made_[operation][instance],
                                            {.segments = iterations.segments}));
      return;
    }
    const std::uint32_t count = nest_.loop(target[level]).count;
    std::int64_t first = iterations.offset[level], last = first;
    switch (iterations.origin[level]) {
      case IterationOrigin::kOwn:
        first = last = first + counters_[level];
        break;
      case IterationOrigin::kFirst:
        break;
      case IterationOrigin::kLast:
        first = last = first + count - 1;
        break;
      case IterationOrigin::kBack:
        first = last = first + count - 1 - counters_[level];
        break;
      case IterationOrigin::kAll:
        first = 0;
        last = std::int64_t{count} - 1;
        break;
    }
    if (last < 0 || first >= count) return;
    for (std::int64_t i = first; i <= last; ++i)
      addInstances(operation, target, iterations, level + 1,
                   instance * count + static_cast<std::uint64_t>(i));
  }

  /// The copy of a frame for this iteration.
  std::uint32_t frameOf(std::uint32_t index, const LoopsAround& around) {
    Frame frame = schedule_.frames[index];
    if (around.depth() > 0) frame.slot = frame.slotOf(counters_[around.depth() - 1]);
    frame.copies = 1;
    frame.box = blocksOf(frame.box, frame.pieces);
    const auto [entry, is_new] = frames_.try_emplace(
        {index, frame.slot, frame.box}, static_cast<std::uint32_t>(result_.schedule.frames.size()));
    if (is_new) {
      result_.schedule.frames.push_back(frame);
      result_.frames.push_back(index);
    }
    return entry->second;
  }

  /// Numbers the used slots: a schedule may not have more slots than frames.
  void numberSlots() {
    Schedule& made = result_.schedule;
    std::vector<std::uint32_t> used;
    for (const Frame& frame : made.frames)
      used.push_back(frame.slot);
    std::ranges::sort(used);
    used.erase(std::unique(used.begin(), used.end()), used.end());
    for (Frame& frame : made.frames) {
      frame.slot =
          static_cast<std::uint32_t>(std::ranges::lower_bound(used, frame.slot) - used.begin());
    }
    made.slot_count = static_cast<std::uint32_t>(used.size());
  }

  /// The box or piece index of a region or frame in this iteration: of a list of `pieces` from
  /// `box` on, or of one box.
  std::uint32_t blocksOf(std::uint32_t box, std::uint32_t pieces) {
    if (pieces == 0) return pieceBoxOf(box);
    std::vector<std::uint32_t> boxes;
    for (const Piece& piece : schedule_.pieces.subspan(box, pieces))
      boxes.push_back(pieceBoxOf(piece.box));
    auto& made = result_.schedule.pieces;
    const auto [entry, is_new] =
        lists_.try_emplace({box, std::move(boxes)}, static_cast<std::uint32_t>(made.size()));
    if (is_new) {
      for (std::uint32_t i = 0; i < pieces; ++i) {
        Piece piece = schedule_.pieces[box + i];
        piece.box = entry->first.second[i];
        made.push_back(piece);
      }
    }
    return entry->second;
  }

  std::uint32_t pieceBoxOf(std::uint32_t index) {
    if (!schedule_.hasPairs()) return boxOf(index);
    const BoxPair pair{boxOf(schedule_.pairs[index].source),
                       boxOf(schedule_.pairs[index].destination)};
    return intern(pair, result_.schedule.pairs, pairs_);
  }

  std::uint32_t boxOf(std::uint32_t index) {
    LastBox& last = last_boxes_[index];
    if (last.box != kNone && last.counters == counters_) return last.box;
    Box box = schedule_.boxes[index];
    for (Interval& interval : box.axes)
      interval = interval.at(counters_);
    last = {counters_, intern(box, result_.schedule.boxes, boxes_)};
    return last.box;
  }

  /// The last instance of a box: several regions and frames use it in one iteration.
  struct LastBox {
    Counters counters{};
    std::uint32_t box = kNone;
  };

  const ScheduleView& schedule_;
  const IterationChoice choice_;
  const LoopNest nest_;
  Counters counters_{};                           // of the iteration that is being listed
  std::vector<std::vector<std::uint32_t>> made_;  // by operation: its iterations
  RecordIndex<Box> boxes_;
  RecordIndex<BoxPair> pairs_;
  std::vector<LastBox> last_boxes_;  // by box
  std::map<std::pair<std::uint32_t, std::vector<std::uint32_t>>, std::uint32_t> lists_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t> frames_;
  UnrolledLoops result_;
};

}  // namespace

UnrolledLoops unrollLoops(const ScheduleView& schedule, IterationChoice choice) {
  return Unroller(schedule, choice).run();
}

}  // namespace torc
