// Finds loops of steps that repeat, in a phase: the same operations again and again, of one stream
// or of several, whose intervals go by the same amount each time (passes/loops/repetition.h).
//
// Of a loop
//  - a frame is the same in all iterations, or used in one alone, and takes slots in turn;
//  - what an operation waits for is, in every iteration, the same operations so many iterations
//    before; iterations of another loop that go along with its own; and operations outside, the
//    same for all. The first iterations alone may wait for some outside: then all do, if later ones
//    did so already, by way of the first ones.
// Slots are numbered anew, so that those of a frame follow one another.
#ifndef TORC_PASSES_LOOPS_LOOP_FINDER_H_
#define TORC_PASSES_LOOPS_LOOP_FINDER_H_

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "passes/loops/repetition.h"
#include "schedules/schedule.h"

namespace torc::passes {

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

/// The loops of a schedule.
struct RolledLoops {
  std::vector<RolledLoop> loops;
  std::vector<std::uint32_t> loop_of;  // by operation; kNone: it is in none
  std::vector<std::uint32_t> slots;    // new numbers, by old ones

  bool inLoop(std::uint32_t operation) const { return loop_of[operation] != kNone; }
  // Of an operation in a loop.
  const Repetition& repetitionOf(std::uint32_t operation) const {
    return loops[loop_of[operation]].of;
  }
  std::uint32_t iterationOf(std::uint32_t operation) const {
    const Repetition& of = repetitionOf(operation);
    return (operation - of.begin) / of.period;
  }
  std::uint32_t inFirstIteration(std::uint32_t operation) const {
    return operation - iterationOf(operation) * repetitionOf(operation).period;
  }
};

/// Those of `least` iterations and more.
RolledLoops findLoops(const Schedule& schedule, std::uint32_t least);

}  // namespace torc::passes

#endif  // TORC_PASSES_LOOPS_LOOP_FINDER_H_
