// Searches for loops.
#include "passes/loops/loop_finder.h"

#include <algorithm>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>

#include "schedules/broken_messages.h"

namespace torc::passes {
namespace {

constexpr std::uint32_t kLongestPeriod = 12;   // operations of an iteration ...
constexpr std::uint32_t kLongestDetour = 256;  // ... and of one with detours around damage
constexpr std::size_t kMostPeriods = 4;        // tried at one place
constexpr std::uint32_t kWidestWindow = 8;     // most slots in a frame's rotation
// Fruitless operations, per operation of a phase, after which the search there stops.
constexpr std::uint64_t kMostVain = 32;

/// New numbers of slots: slots that frames of loops use in rotation become contiguous.
class SlotNumbers {
 public:
  explicit SlotNumbers(std::uint32_t slots) : numbers_(slots, kNone) {}

  /// Makes the different slots `turns` a rotation if possible.
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

  /// All numbers; slots outside of rotations fill the gaps.
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

class LoopFinder {
 public:
  LoopFinder(const Schedule& schedule, std::uint32_t least)
      : schedule_(schedule),
        view_(schedule.view()),
        least_(least),
        users_(schedule.frames.size()),
        slots_(schedule.slot_count) {
    found_.loop_of.assign(schedule.operations.size(), kNone);
    for (std::uint32_t i = 0; i < schedule.operations.size(); ++i) {
      const Operation& operation = schedule.operations[i];
      for (const Region* region : {&operation.dst, &operation.a, &operation.b}) {
        if (region->frame != kNone) users_[region->frame].push_back(i);
      }
    }
  }

  /// A loop may wait for a later one, of an earlier segment, which is not known yet. So such
  /// dependences are checked when all loops are known; if they do not fit, the search is repeated
  /// for loops without dependences on iterations of later ones.
  RolledLoops run() {
    ignores_later_ = true;
    findInPhases();
    ignores_later_ = false;
    const auto fits = [&](RolledLoop& loop) { return findWaits(loop.of, loop.waits); };
    if (!llvm::all_of(found_.loops, fits)) {
      found_.loops.clear();
      std::ranges::fill(found_.loop_of, kNone);
      slots_ = SlotNumbers(schedule_.slot_count);
      findInPhases();
    }
    found_.slots = slots_.take();
    return std::move(found_);
  }

 private:
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

  const Schedule& schedule_;
  const ScheduleView view_;
  const std::uint32_t least_;
  std::vector<llvm::SmallVector<std::uint32_t, 4>> users_;  // by frame
  RolledLoops found_;
  SlotNumbers slots_;
  bool ignores_later_ = false;
  std::uint64_t vain_ = 0;  // fruitless operations of the current phase
};

/// Finds the loops of one phase.
void LoopFinder::findLoops(std::uint32_t begin, std::uint32_t end) {
  vain_ = 0;
  for (std::uint32_t at = begin; at < end && vain_ <= kMostVain * (end - begin);) {
    std::vector<Repetition> found;
    const std::uint32_t longest =
        std::min((schedule_.flags & kDropsBroken) != 0 ? kLongestDetour : kLongestPeriod,
                 (end - at) / least_);
    for (std::uint32_t period = 1; period <= longest; ++period) {
      Repetition repetition = repetitionAt(view_, at, period, end);
      if (repetition.count >= least_) found.push_back(std::move(repetition));
    }
    // The repetition that leaves the fewest operations; of equal ones, the shortest.
    llvm::stable_sort(found, [](const Repetition& a, const Repetition& b) {
      return (a.count - 1) * a.period > (b.count - 1) * b.period;
    });
    if (found.size() > kMostPeriods) found.resize(kMostPeriods);
    const auto taken = llvm::find_if(found, [&](Repetition& repetition) {
      // The last iterations may have other dependences.
      for (int shorter = 0; shorter < 3 && repetition.count >= least_; ++shorter) {
        if (take(repetition)) return true;
        --repetition.count;
      }
      return false;
    });
    at = taken == found.end() ? at + 1 : taken->end();
  }
}

/// Accepts the repetition if it is a loop.
bool LoopFinder::take(const Repetition& repetition) {
  RolledLoop loop{repetition, {}, {}};
  if (!findWaits(repetition, loop.waits)) return false;
  if (!findCopies(repetition, loop.copies)) {
    vain_ += std::uint64_t{repetition.count} * repetition.period;
    return false;
  }
  for (std::uint32_t i = repetition.begin; i < repetition.end(); ++i)
    found_.loop_of[i] = static_cast<std::uint32_t>(found_.loops.size());
  found_.loops.push_back(std::move(loop));
  return true;
}

bool LoopFinder::findWaits(const Repetition& repetition, std::vector<Waits>& waits) {
  waits.assign(repetition.period, {});
  for (std::uint32_t position = 0; position < repetition.period; ++position) {
    if (!findWaits(repetition, position, waits[position])) return false;
  }
  return true;
}

bool LoopFinder::findWaits(const Repetition& repetition, std::uint32_t position, Waits& waits) {
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

bool LoopFinder::addOutside(const Repetition& repetition, std::uint32_t position,
                            const std::vector<std::set<std::uint32_t>>& outside,
                            Waits& waits) const {
  std::vector<std::set<std::uint32_t>> rest = outside;
  std::set<std::uint32_t> all;
  for (std::uint32_t i = 0; i < repetition.count; ++i) {
    for (const std::uint32_t dependence : outside[i]) {
      const std::uint32_t on = operationOf(dependence);
      const std::uint32_t of_segment = iterationsOf(dependence);
      if (!rest[i].contains(dependence) || !found_.inLoop(on)) continue;
      // Tests for parallel iterations, forwards or backwards.
      for (const bool backwards : {false, true}) {
        const Repetition& other = found_.repetitionOf(on);
        const auto own = [&](std::uint32_t iteration) {
          return backwards ? std::int64_t{other.count} - 1 - iteration : std::int64_t{iteration};
        };
        const std::int64_t offset = std::int64_t{found_.iterationOf(on)} - own(i);
        const auto isThere = [&](std::uint32_t iteration) {
          return own(iteration) + offset >= 0 && own(iteration) + offset < other.count;
        };
        const auto there = [&](std::uint32_t iteration) {
          const auto there = static_cast<std::uint32_t>(own(iteration) + offset);
          return dependenceOn(found_.inFirstIteration(on) + there * other.period, of_segment);
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
            .emplace(dependenceOn(found_.inFirstIteration(on), of_segment),
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
    // From some iteration on, later ones may wait for it through earlier ones.
    std::uint32_t last = repetition.count - 1;
    while (!rest[last].contains(on))
      --last;
    // Data received by the first iterations of a detour in the same phase are complete long before
    // the others begin, so any iteration may wait for them; but not for sends around a ring, whose
    // nodes could then all wait for each other.
    const Operation& waited_for = schedule_.operations[operationOf(on)];
    const bool has_come = (schedule_.flags & kDropsBroken) != 0 && iterationsOf(on) == 0 &&
                          (receives(waited_for.kind) || isDetour(view_, waited_for)) &&
                          waited_for.phase == schedule_.operations[repetition.begin].phase;
    // An earlier wait could close a cycle within a segment, but not between segments.
    for (std::uint32_t i = 0; i < last && iterationsOf(on) == 0 && !has_come; ++i) {
      if (!rest[i].contains(on) && !reaches(repetition.at(i, position), on, repetition.begin))
        return false;
    }
    bool reached = last + 1 == repetition.count;
    for (std::uint32_t i = last + 1; i < repetition.count && i <= last + kWidestWindow; ++i)
      reached |= reaches(repetition.at(i, position), on, repetition.begin);
    if ((!reached && !has_come) || last >= kWidestWindow) {
      const bool always =
          llvm::all_of(rest, [&](const std::set<std::uint32_t>& set) { return set.contains(on); });
      if (!always) return false;
    }
    waits.outside.insert(on);
  }
  return true;
}

/// Whether `from` has the dependence `to` through others: on one of an earlier segment, through
/// those from `begin` on.
bool LoopFinder::reaches(std::uint32_t from, std::uint32_t to, std::uint32_t begin) const {
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

/// Finds the number of slots in rotation of each frame of the loop. False if some frame has no
/// rotation.
bool LoopFinder::findCopies(const Repetition& repetition,
                            std::map<std::uint32_t, std::uint32_t>& copies) {
  // By frame of the first iteration: the frame of each iteration.
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
  // A frame used by all iterations stays; other frames are used in one iteration each.
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

}  // namespace

RolledLoops findLoops(const Schedule& schedule, std::uint32_t least) {
  return LoopFinder(schedule, least).run();
}

}  // namespace torc::passes
