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
#include "schedules/validate.h"

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
    llvm::DenseSet<std::uint32_t> taken(numbers_.begin(), numbers_.end());
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
  // Operations of its own loop, by position, so many iterations before.
  std::set<std::pair<std::uint32_t, std::uint32_t>> before;
  // Of other loops, by the first iteration's operation, in the own iteration and so many more, or
  // as far from the last one back.
  std::set<std::pair<std::uint32_t, std::int32_t>> along, back;
  std::set<std::uint32_t> outside;  // operations, in every iteration

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

  void findLoops() {
    const auto& operations = schedule_.operations;
    for (std::uint32_t begin = 0, end = 0; begin < operations.size(); begin = end) {
      while (end < operations.size() && operations[end].phase == operations[begin].phase)
        ++end;
      findLoops(begin, end);
    }
  }

  std::size_t loops() const { return loops_.size(); }
  Schedule rebuild();

 private:
  void findLoops(std::uint32_t begin, std::uint32_t end);  // of a phase
  bool take(const Repetition& repetition);
  bool findWaits(const Repetition& repetition, std::vector<Waits>& waits);
  bool findWaits(const Repetition& repetition, std::uint32_t position, Waits& waits);
  bool addOutside(const Repetition& repetition, std::uint32_t position,
                  const std::vector<std::set<std::uint32_t>>& outside, Waits& waits) const;
  bool reaches(std::uint32_t from, std::uint32_t to) const;
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
  waits.resize(repetition.period);
  for (std::uint32_t position = 0; position < repetition.period; ++position) {
    if (!findWaits(repetition, position, waits[position])) return false;
  }
  return true;
}

bool Roller::findWaits(const Repetition& repetition, std::uint32_t position, Waits& waits) {
  const std::uint32_t last = repetition.count - 1;
  std::vector<std::set<std::uint32_t>> outside(repetition.count);
  const auto beforeOf = [&](std::uint32_t i) {
    std::set<std::pair<std::uint32_t, std::uint32_t>> before;
    const Operation& operation = schedule_.operations[repetition.at(i, position)];
    for (const std::uint32_t on : view_.dependencesOf(operation)) {
      if (on < repetition.begin) {
        outside[i].insert(on);
      } else {
        const std::uint32_t distance = i - (on - repetition.begin) / repetition.period;
        before.emplace((on - repetition.begin) % repetition.period, distance);
      }
    }
    return before;
  };
  waits.before = beforeOf(last);
  for (std::uint32_t i = 0; i < last; ++i) {
    auto wanted = waits.before;
    std::erase_if(wanted, [&](const auto& before) { return before.second > i; });
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
    for (const std::uint32_t on : outside[i]) {
      if (!rest[i].contains(on) || loop_of_[on] == kNone) continue;
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
          return inFirstIteration(on) +
                 static_cast<std::uint32_t>(own(iteration) + offset) * other.period;
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
            .emplace(inFirstIteration(on), static_cast<std::int32_t>(offset));
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
    bool reached = last + 1 == repetition.count;
    for (std::uint32_t i = last + 1; i < repetition.count && i <= last + kWidestWindow; ++i)
      reached |= reaches(repetition.at(i, position), on);
    if (!reached || last >= kWidestWindow) {
      const bool always =
          llvm::all_of(rest, [&](const std::set<std::uint32_t>& set) { return set.contains(on); });
      if (!always) return false;
    }
    waits.outside.insert(on);
  }
  return true;
}

/// Whether `from` waits for `to`, which is further up, by way of others.
bool Roller::reaches(std::uint32_t from, std::uint32_t to) const {
  llvm::DenseSet<std::uint32_t> seen;
  std::vector<std::uint32_t> next = {from};
  while (!next.empty()) {
    const std::uint32_t operation = next.back();
    next.pop_back();
    for (const std::uint32_t on : view_.dependencesOf(schedule_.operations[operation])) {
      if (on == to) return true;
      if (on > to && seen.insert(on).second) next.push_back(on);
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
  std::vector<std::uint32_t> made(schedule_.operations.size(), kNone);  // by old number
  /// The dependence on an operation outside of the loop of the one that waits.
  const auto onOutside = [&](std::uint32_t on) {
    if (loop_of_[on] == kNone) return made[on];
    Iterations iterations{.depth = 1};
    const std::uint32_t iteration = iterationOf(on);
    const std::uint32_t left = loops_[loop_of_[on]].of.count - 1 - iteration;
    iterations.origin[0] = left <= iteration ? IterationOrigin::kLast : IterationOrigin::kFirst;
    iterations.offset[0] =
        left <= iteration ? -static_cast<std::int32_t>(left) : static_cast<std::int32_t>(iteration);
    return builder.dependence(made[inFirstIteration(on)], iterations);
  };
  /// The same on some of them: on all iterations of another loop at once, where they are all there.
  const auto addOutside = [&](const std::set<std::uint32_t>& outside,
                              std::vector<std::uint32_t>& dependences) {
    std::map<std::uint32_t, std::uint32_t> often;  // by operation of a first iteration
    for (const std::uint32_t on : outside)
      often[loop_of_[on] == kNone ? on : inFirstIteration(on)] += 1;
    for (const std::uint32_t on : outside) {
      const bool in_loop = loop_of_[on] != kNone;
      if (!in_loop || often[inFirstIteration(on)] < loops_[loop_of_[on]].of.count) {
        dependences.push_back(onOutside(on));
      } else if (iterationOf(on) == 0) {
        dependences.push_back(made[on]);
      }
    }
  };
  const auto along = [&](std::uint32_t on, std::int32_t offset,
                         IterationOrigin origin = IterationOrigin::kOwn) {
    Iterations iterations{.depth = 1};
    iterations.origin[0] = origin;
    iterations.offset[0] = offset;
    return builder.dependence(on, iterations);
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
      const auto on = view_.dependencesOf(operation);
      addOutside({on.begin(), on.end()}, dependences);
      made[i++] = builder.addOperation(operation, dependences);
      continue;
    }
    const RolledLoop& loop = loops_[loop_of_[i]];
    builder.beginLoop(loop.of.count);
    const auto first = static_cast<std::uint32_t>(builder.schedule().operations.size());
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
        dependences.push_back(
            distance == 0 ? first + at : along(first + at, -static_cast<std::int32_t>(distance)));
      }
      for (const auto& [on, offset] : loop.waits[position].along)
        dependences.push_back(along(made[on], offset));
      for (const auto& [on, offset] : loop.waits[position].back)
        dependences.push_back(along(made[on], offset, IterationOrigin::kBack));
      addOutside(loop.waits[position].outside, dependences);
      made[i + position] = builder.addOperation(operation, dependences);
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
