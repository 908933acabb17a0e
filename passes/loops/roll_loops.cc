// Makes loops of steps that repeat: in a phase, the same operations again and again, of one stream
// or of several, whose intervals go by the same amount each time (passes/loops/repetition.h). Rings
// are such, and their allgathers; what has no regularity stays written out.
//
// Of a loop
//  - a frame is the same in all iterations, or used in one alone, and takes slots in turn;
//  - what an operation waits for is, in every iteration, the same operations so many iterations
//    before; iterations of another loop that go along with its own; and operations outside, the
//    same for all. The first iterations alone may wait for some outside: then all do, if later ones
//    did so already, by way of the first ones.
// Slots are numbered anew, so that those of a frame follow one another.
#include "passes/loops/roll_loops.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/STLExtras.h>

#include "ir/schedule_builder.h"
#include "passes/loops/repetition.h"
#include "schedules/validation/validate.h"

namespace torc::passes {
namespace {

constexpr std::uint32_t kLongestPeriod = 12;  // operations of an iteration
constexpr std::uint32_t kWidestWindow = 8;    // slots that a frame takes in turn
// Operations that are looked at in vain, for each of a phase, before no more is tried there.
constexpr std::uint64_t kMostVain = 32;

/// New numbers of slots: those that frames of loops take in turn follow one another.
class SlotNumbers {
 public:
  explicit SlotNumbers(std::uint32_t slots) : numbers_(slots, kNone) {}

  /// Whether `turns`, which differ, can be taken in turn, as they then are.
  bool arrange(llvm::ArrayRef<std::uint32_t> turns) {
    const auto window = static_cast<std::uint32_t>(turns.size());
    if (window == 1) return true;
    if (llvm::all_of(turns, [&](std::uint32_t slot) { return numbers_[slot] == kNone; })) {
      next_ = (next_ + window - 1) / window * window;
      for (const std::uint32_t slot : turns)
        numbers_[slot] = next_++;
      return true;
    }
    const std::uint32_t first = numbers_[turns[0]];
    if (first == kNone) return false;
    for (std::uint32_t i = 0; i < window; ++i) {
      const std::uint32_t wanted = first - first % window + (first % window + i) % window;
      if (numbers_[turns[i]] != wanted) return false;
    }
    return true;
  }

  /// All numbers, those of slots that nobody takes in turn in what is free.
  std::vector<std::uint32_t> take() {
    const std::set<std::uint32_t> taken(numbers_.begin(), numbers_.end());
    std::uint32_t free = 0;
    for (std::uint32_t& number : numbers_) {
      if (number != kNone) continue;
      while (taken.contains(free))
        ++free;
      number = free++;
    }
    return std::move(numbers_);
  }

 private:
  std::vector<std::uint32_t> numbers_;  // by old number
  std::uint32_t next_ = 0;
};

/// What an operation of a loop waits for.
struct Waits {
  // Operations of its own loop, by position and segments before, so many iterations before.
  std::set<std::pair<std::uint32_t, std::int32_t>> before;
  // Of other loops, by the first iteration's operation and segments before, in the own iteration
  // and so many more, or as far from the last one back.
  std::set<std::pair<std::uint32_t, std::int32_t>> along, back;
  std::set<std::uint32_t> outside;  // dependences, in every iteration

  bool operator==(const Waits&) const = default;
};

struct RolledLoop {
  Repetition of;
  std::vector<Waits> waits;                       // by position
  std::map<std::uint32_t, std::uint32_t> copies;  // by frame of the first iteration
};

class Roller {
 public:
  Roller(const Schedule& schedule, std::uint32_t least)
      : schedule_(schedule),
        view_(schedule.view()),
        least_(least),
        users_(schedule.frames.size()),
        loop_of_(schedule.operations.size(), kNone),
        slots_(schedule.slot_count) {
    for (std::uint32_t i = 0; i < schedule.operations.size(); ++i) {
      const Operation& operation = schedule.operations[i];
      for (const Region* region : {&operation.dst, &operation.a, &operation.b}) {
        if (region->frame != kNone) users_[region->frame].push_back(i);
      }
    }
  }

  /// A loop may wait for a later one, of an earlier segment, which is not known yet. So such
  /// dependences are looked at when all loops are there; if these do not fit, loops are found that
  /// wait for no iterations of later ones.
  void findLoops() {
    ignores_later_ = true;
    findInPhases();
    ignores_later_ = false;
    if (llvm::all_of(loops_, [&](RolledLoop& loop) { return findWaits(loop.of, loop.waits); })) {
      return;
    }
    loops_.clear();
    std::ranges::fill(loop_of_, kNone);
    slots_ = SlotNumbers(schedule_.slot_count);
    findInPhases();
  }

  std::size_t loops() const { return loops_.size(); }
  Schedule rebuild();

 private:
  std::vector<std::uint32_t> newNumbers() const;
  void findInPhases() {
    const auto& operations = schedule_.operations;
    for (std::uint32_t begin = 0, end = 0; begin < operations.size(); begin = end) {
      while (end < operations.size() && operations[end].phase == operations[begin].phase)
        ++end;
      findLoops(begin, end);
    }
  }
  void findLoops(std::uint32_t begin, std::uint32_t end);  // of a phase
  bool take(const Repetition& repetition);
  bool findWaits(const Repetition& repetition, std::vector<Waits>& waits);
  bool findWaits(const Repetition& repetition, std::uint32_t position, Waits& waits);
  bool addOutside(const Repetition& repetition, std::uint32_t position,
                  const std::vector<std::set<std::uint32_t>>& outside, Waits& waits) const;
  bool reaches(std::uint32_t from, std::uint32_t to, std::uint32_t begin) const;
  bool findCopies(const Repetition& repetition, std::map<std::uint32_t, std::uint32_t>& copies);

  /// Of an operation in a loop.
  std::uint32_t iterationOf(std::uint32_t operation) const {
    const Repetition& of = loops_[loop_of_[operation]].of;
    return (operation - of.begin) / of.period;
  }
  std::uint32_t inFirstIteration(std::uint32_t operation) const {
    return operation - iterationOf(operation) * loops_[loop_of_[operation]].of.period;
  }

  const Schedule& schedule_;
  const ScheduleView view_;
  const std::uint32_t least_;
  std::vector<llvm::SmallVector<std::uint32_t, 4>> users_;  // by frame
  std::vector<RolledLoop> loops_;
  std::vector<std::uint32_t> loop_of_;  // by operation
  SlotNumbers slots_;
  bool ignores_later_ = false;
  std::uint64_t vain_ = 0;  // operations of the current phase that were looked at in vain
};

/// Those of one phase.
void Roller::findLoops(std::uint32_t begin, std::uint32_t end) {
  vain_ = 0;
  for (std::uint32_t at = begin; at < end && vain_ <= kMostVain * (end - begin);) {
    std::vector<Repetition> found;
    const std::uint32_t longest = std::min(kLongestPeriod, (end - at) / least_);
    for (std::uint32_t period = 1; period <= longest; ++period) {
      Repetition repetition = repetitionAt(view_, at, period, end);
      if (repetition.count >= least_) found.push_back(std::move(repetition));
    }
    // What leaves least; of those that leave as much, the shortest.
    llvm::stable_sort(found, [](const Repetition& a, const Repetition& b) {
      return (a.count - 1) * a.period > (b.count - 1) * b.period;
    });
    const auto taken = llvm::find_if(found, [&](Repetition& repetition) {
      // The last iterations may be others in what they wait for.
      for (int shorter = 0; shorter < 3 && repetition.count >= least_; ++shorter) {
        if (take(repetition)) return true;
        --repetition.count;
      }
      return false;
    });
    at = taken == found.end() ? at + 1 : taken->end();
  }
}

/// Whether the repetition is a loop.
bool Roller::take(const Repetition& repetition) {
  RolledLoop loop{repetition, {}, {}};
  if (!findWaits(repetition, loop.waits)) return false;
  if (!findCopies(repetition, loop.copies)) {
    vain_ += std::uint64_t{repetition.count} * repetition.period;
    return false;
  }
  for (std::uint32_t i = repetition.begin; i < repetition.end(); ++i)
    loop_of_[i] = static_cast<std::uint32_t>(loops_.size());
  loops_.push_back(std::move(loop));
  return true;
}

bool Roller::findWaits(const Repetition& repetition, std::vector<Waits>& waits) {
  waits.assign(repetition.period, {});
  for (std::uint32_t position = 0; position < repetition.period; ++position) {
    if (!findWaits(repetition, position, waits[position])) return false;
  }
  return true;
}

bool Roller::findWaits(const Repetition& repetition, std::uint32_t position, Waits& waits) {
  const std::uint32_t last = repetition.count - 1;
  std::vector<std::set<std::uint32_t>> outside(repetition.count);
  const auto beforeOf = [&](std::uint32_t i) {
    std::set<std::pair<std::uint32_t, std::int32_t>> before;
    const Operation& operation = schedule_.operations[repetition.at(i, position)];
    for (const std::uint32_t dependence : view_.dependencesOf(operation)) {
      const std::uint32_t on = operationOf(dependence);
      if (ignores_later_ && on >= repetition.end()) continue;
      if (on < repetition.begin || on >= repetition.end()) {
        outside[i].insert(dependence);
      } else {
        const std::uint32_t iteration = (on - repetition.begin) / repetition.period;
        before.emplace(
            dependenceOn((on - repetition.begin) % repetition.period, iterationsOf(dependence)),
            static_cast<std::int32_t>(i) - static_cast<std::int32_t>(iteration));
      }
    }
    return before;
  };
  waits.before = beforeOf(last);
  waits.before.merge(beforeOf(0));
  for (std::uint32_t i = 0; i <= last; ++i) {
    auto wanted = waits.before;
    std::erase_if(wanted, [&](const auto& before) {
      const std::int64_t iteration = std::int64_t{i} - before.second;
      return iteration < 0 || iteration > last;
    });
    if (beforeOf(i) == wanted) continue;
    vain_ += i + 1;
    return false;
  }
  if (addOutside(repetition, position, outside, waits)) return true;
  vain_ += repetition.count;
  return false;
}

bool Roller::addOutside(const Repetition& repetition, std::uint32_t position,
                        const std::vector<std::set<std::uint32_t>>& outside, Waits& waits) const {
  std::vector<std::set<std::uint32_t>> rest = outside;
  std::set<std::uint32_t> all;
  for (std::uint32_t i = 0; i < repetition.count; ++i) {
    for (const std::uint32_t dependence : outside[i]) {
      const std::uint32_t on = operationOf(dependence);
      const std::uint32_t of_segment = iterationsOf(dependence);
      if (!rest[i].contains(dependence) || loop_of_[on] == kNone) continue;
      // Whether this goes along with the iterations, or backwards.
      for (const bool backwards : {false, true}) {
        const Repetition& other = loops_[loop_of_[on]].of;
        const auto own = [&](std::uint32_t iteration) {
          return backwards ? std::int64_t{other.count} - 1 - iteration : std::int64_t{iteration};
        };
        const std::int64_t offset = std::int64_t{iterationOf(on)} - own(i);
        const auto isThere = [&](std::uint32_t iteration) {
          return own(iteration) + offset >= 0 && own(iteration) + offset < other.count;
        };
        const auto there = [&](std::uint32_t iteration) {
          const auto there = static_cast<std::uint32_t>(own(iteration) + offset);
          return dependenceOn(inFirstIteration(on) + there * other.period, of_segment);
        };
        std::uint32_t often = 0;
        bool goes = true;
        for (std::uint32_t k = 0; k < repetition.count && goes; ++k) {
          if (!isThere(k)) continue;
          ++often;
          goes = outside[k].contains(there(k));
        }
        if (!goes || often < 2) continue;
        (backwards ? waits.back : waits.along)
            .emplace(dependenceOn(inFirstIteration(on), of_segment),
                     static_cast<std::int32_t>(offset));
        for (std::uint32_t k = 0; k < repetition.count; ++k) {
          if (isThere(k)) rest[k].erase(there(k));
        }
        break;
      }
    }
    all.insert(rest[i].begin(), rest[i].end());
  }
  for (const std::uint32_t on : all) {
    // From some iteration on others may wait for it by way of earlier ones.
    std::uint32_t last = repetition.count - 1;
    while (!rest[last].contains(on))
      --last;
    // Waiting earlier than it has to, one may wait for whom waits for it; not in another segment.
    for (std::uint32_t i = 0; i < last && iterationsOf(on) == 0; ++i) {
      if (!rest[i].contains(on) && !reaches(repetition.at(i, position), on, repetition.begin))
        return false;
    }
    bool reached = last + 1 == repetition.count;
    for (std::uint32_t i = last + 1; i < repetition.count && i <= last + kWidestWindow; ++i)
      reached |= reaches(repetition.at(i, position), on, repetition.begin);
    if (!reached || last >= kWidestWindow) {
      const bool always =
          llvm::all_of(rest, [&](const std::set<std::uint32_t>& set) { return set.contains(on); });
      if (!always) return false;
    }
    waits.outside.insert(on);
  }
  return true;
}

/// Whether `from` has the dependence `to` by way of others: on one of an earlier segment, by way of
/// those from `begin` on.
bool Roller::reaches(std::uint32_t from, std::uint32_t to, std::uint32_t begin) const {
  const std::uint32_t least = iterationsOf(to) > 0 ? begin : to;
  llvm::DenseSet<std::uint32_t> seen;
  std::vector<std::uint32_t> next = {from};
  while (!next.empty()) {
    const std::uint32_t operation = next.back();
    next.pop_back();
    for (const std::uint32_t on : view_.dependencesOf(schedule_.operations[operation])) {
      if (on == to) return true;
      if (iterationsOf(on) == 0 && on >= least && seen.insert(on).second) next.push_back(on);
    }
  }
  return false;
}

/// How many slots each frame of the loop takes in turn. False if one takes them in no such order.
bool Roller::findCopies(const Repetition& repetition,
                        std::map<std::uint32_t, std::uint32_t>& copies) {
  // By frame of the first iteration: that of each one.
  std::map<std::uint32_t, std::vector<std::uint32_t>> frames;
  for (std::uint32_t i = 0; i < repetition.count; ++i) {
    for (std::uint32_t position = 0; position < repetition.period; ++position) {
      const Operation& first = schedule_.operations[repetition.at(0, position)];
      const Operation& here = schedule_.operations[repetition.at(i, position)];
      for (const auto& [one, other] :
           {std::pair(&first.dst, &here.dst), std::pair(&first.a, &here.a),
            std::pair(&first.b, &here.b)}) {
        if (one->frame == kNone) continue;
        std::vector<std::uint32_t>& list = frames[one->frame];
        if (list.size() == i) list.push_back(other->frame);
        if (list.size() != i + 1 || list[i] != other->frame) return false;
      }
    }
  }
  // One that all iterations use stays as it is; others are used in one iteration each.
  for (auto& [first, list] : frames) {
    if (llvm::all_equal(list)) {
      list.resize(1);
      continue;
    }
    for (std::uint32_t i = 0; i < repetition.count; ++i) {
      const auto& users = users_[list[i]];
      if (users.front() < repetition.at(i, 0) || users.back() >= repetition.at(i + 1, 0)) {
        return false;
      }
    }
  }
  std::vector<llvm::SmallVector<std::uint32_t, kWidestWindow>> all_turns;
  for (const auto& [first, list] : frames) {
    llvm::SmallVector<std::uint32_t, kWidestWindow> turns;
    for (const std::uint32_t frame : list) {
      const std::uint32_t slot = schedule_.frames[frame].slot;
      if (llvm::is_contained(turns, slot)) break;
      if (turns.size() == kWidestWindow) return false;
      turns.push_back(slot);
    }
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (schedule_.frames[list[i]].slot != turns[i % turns.size()]) return false;
    }
    copies[first] = static_cast<std::uint32_t>(turns.size());
    all_turns.push_back(std::move(turns));
  }
  return llvm::all_of(all_turns, [&](const auto& turns) { return slots_.arrange(turns); });
}

/// Where each operation stands then, by old number; of those in loops, the first iteration's.
std::vector<std::uint32_t> Roller::newNumbers() const {
  std::vector<std::uint32_t> numbers(schedule_.operations.size(), kNone);
  std::uint32_t next = 0;
  for (std::uint32_t i = 0; i < numbers.size(); ++i) {
    if (loop_of_[i] == kNone || inFirstIteration(i) == i) numbers[i] = next++;
  }
  return numbers;
}

/// The schedule with its loops.
Schedule Roller::rebuild() {
  const std::vector<std::uint32_t> slots = slots_.take();
  ir::ScheduleBuilder builder(schedule_);
  for (const Stream& stream : schedule_.streams)
    builder.addStream(stream);
  std::vector<std::uint32_t> frames(schedule_.frames.size(), kNone);  // by old number
  const auto copied = [&](const PieceList& pieces) {
    llvm::SmallVector<Piece, 4> list;
    for (const Piece& piece : pieces)
      list.push_back({piece.part, piece.parts, builder.blocks(view_, piece.box)});
    return list;
  };
  const std::vector<std::uint32_t> made = newNumbers();
  /// The dependence on an operation that stands in no loop, or on iterations of one.
  const auto on = [&](std::uint32_t operation, std::uint32_t segments, Iterations iterations = {}) {
    iterations.segments = static_cast<std::uint16_t>(segments);
    if (segments == 0 && iterations.depth == 0) return made[operation];
    return builder.dependence(made[operation], iterations);
  };
  /// The dependence on an operation outside of the loop of the one that waits.
  const auto onOutside = [&](std::uint32_t dependence) {
    const std::uint32_t operation = operationOf(dependence);
    const std::uint32_t segments = view_.segmentsBefore(dependence);
    if (loop_of_[operation] == kNone) return on(operation, segments);
    Iterations iterations{.depth = 1};
    const std::uint32_t iteration = iterationOf(operation);
    const std::uint32_t left = loops_[loop_of_[operation]].of.count - 1 - iteration;
    iterations.origin[0] = left <= iteration ? IterationOrigin::kLast : IterationOrigin::kFirst;
    iterations.offset[0] =
        left <= iteration ? -static_cast<std::int32_t>(left) : static_cast<std::int32_t>(iteration);
    return on(inFirstIteration(operation), segments, iterations);
  };
  /// The same on some of them: on all iterations of another loop at once, where they are all there.
  const auto addOutside = [&](const std::set<std::uint32_t>& outside,
                              std::vector<std::uint32_t>& dependences) {
    std::map<std::uint32_t, std::uint32_t> often;  // by dependence on a first iteration
    const auto firstOf = [&](std::uint32_t dependence) {
      const std::uint32_t operation = operationOf(dependence);
      return loop_of_[operation] == kNone
                 ? dependence
                 : dependenceOn(inFirstIteration(operation), iterationsOf(dependence));
    };
    for (const std::uint32_t dependence : outside)
      often[firstOf(dependence)] += 1;
    for (const std::uint32_t dependence : outside) {
      const std::uint32_t operation = operationOf(dependence);
      const bool in_loop = loop_of_[operation] != kNone;
      if (!in_loop || often[firstOf(dependence)] < loops_[loop_of_[operation]].of.count) {
        dependences.push_back(onOutside(dependence));
      } else if (iterationOf(operation) == 0) {
        Iterations all{.depth = static_cast<std::uint16_t>(iterationsOf(dependence) > 0)};
        if (all.depth > 0) all.origin[0] = IterationOrigin::kAll;
        dependences.push_back(on(operation, view_.segmentsBefore(dependence), all));
      }
    }
  };
  const auto along = [&](std::uint32_t dependence, std::int32_t offset,
                         IterationOrigin origin = IterationOrigin::kOwn) {
    Iterations iterations{.depth = 1};
    iterations.origin[0] = origin;
    iterations.offset[0] = offset;
    return on(operationOf(dependence), view_.segmentsBefore(dependence), iterations);
  };
  std::vector<std::uint32_t> dependences;
  for (std::uint32_t i = 0; i < schedule_.operations.size();) {
    Operation operation = schedule_.operations[i];
    dependences.clear();
    if (loop_of_[i] == kNone) {
      for (Region* region : {&operation.dst, &operation.a, &operation.b}) {
        if (!region->present()) continue;
        if (region->frame != kNone && frames[region->frame] == kNone) {
          const Frame& frame = schedule_.frames[region->frame];
          frames[region->frame] =
              builder.addFrame(copied(view_.piecesOf(frame)), slots[frame.slot]);
        }
        *region = builder.region(region->buffer, copied(view_.piecesOf(*region)),
                                 region->frame == kNone ? kNone : frames[region->frame]);
      }
      if (operation.peer != kNone) operation.peer = builder.peer(view_, operation);
      if (operation.guard != kNone) operation.guard = builder.box(view_.boxes[operation.guard]);
      const auto after = view_.dependencesOf(operation);
      addOutside({after.begin(), after.end()}, dependences);
      builder.addOperation(operation, dependences);
      ++i;
      continue;
    }
    const RolledLoop& loop = loops_[loop_of_[i]];
    builder.beginLoop(loop.of.count);
    for (std::uint32_t position = 0; position < loop.of.period; ++position) {
      const RepeatedOperation& repeated = loop.of.body[position];
      operation = repeated.first();
      std::uint32_t number = 0;
      for (Region* region : {&operation.dst, &operation.a, &operation.b}) {
        if (region->present()) {
          if (region->frame != kNone && frames[region->frame] == kNone) {
            const Frame& frame = schedule_.frames[region->frame];
            frames[region->frame] =
                builder.addFrame(repeated.pieces(number, true, builder), slots[frame.slot],
                                 loop.copies.at(region->frame));
          }
          *region = builder.region(region->buffer, repeated.pieces(number, false, builder),
                                   region->frame == kNone ? kNone : frames[region->frame]);
        }
        ++number;
      }
      if (operation.peer != kNone) operation.peer = builder.peer(view_, operation);
      if (operation.guard != kNone) operation.guard = builder.box(repeated.guard());
      dependences.clear();
      for (const auto& [at, distance] : loop.waits[position].before) {
        const bool here = distance == 0 && iterationsOf(at) == 0;
        dependences.push_back(here ? made[i + at] : along(i + at, -distance));
      }
      for (const auto& [dependence, offset] : loop.waits[position].along)
        dependences.push_back(along(dependence, offset));
      for (const auto& [dependence, offset] : loop.waits[position].back)
        dependences.push_back(along(dependence, offset, IterationOrigin::kBack));
      addOutside(loop.waits[position].outside, dependences);
      builder.addOperation(operation, dependences);
    }
    builder.endLoop();
    i = loop.of.end();
  }
  return builder.take();
}

class RollLoops final : public Pass {
 public:
  explicit RollLoops(const RollLoopsPass& options)
      : Pass("roll-loops", "makes loops of steps that repeat", PassLevel::kStep),
        least_(*this, "least", "iterations that make a loop", 2, kMostLeastIterations,
               options.least) {}

  bool takesSegments() const override { return true; }

  llvm::Expected<PassResult> run(ir::Program& program) override {
    Roller roller(program.schedule, *least_);
    roller.findLoops();
    loops_ = static_cast<double>(roller.loops());
    before_ = static_cast<double>(program.schedule.operations.size());
    after_ = before_.value();
    if (roller.loops() == 0) return PassResult::kWithoutChange;
    Schedule rolled = roller.rebuild();
    // Operations may wait in more ways than there are names for, and what holds written out may not
    // be shown to hold in every iteration: then steps stay as they are.
    if (!validate(rolled.view()).ok()) {
      loops_ = 0;
      return PassResult::kWithoutChange;
    }
    program.schedule = std::move(rolled);
    after_ = static_cast<double>(program.schedule.operations.size());
    return PassResult::kWithChange;
  }

 private:
  IntegerOption least_;
  PassStatistic loops_{*this, "loops"};
  PassStatistic before_{*this, "operations before"};
  PassStatistic after_{*this, "operations after"};
};

}  // namespace

std::unique_ptr<Pass> makePass(const RollLoopsPass& options) {
  return std::make_unique<RollLoops>(options);
}

}  // namespace torc::passes
