// Finds loops of repeated steps in a phase: the same operations again and again, of one or several
// streams, whose intervals change by the same amount each time (passes/loops/repetition.h).
//
// In a loop
//  - a frame is the same in all iterations, or used in one alone, with slots in rotation;
//  - the dependences of an operation are, in every iteration: the same operations a fixed number of
//    iterations before; parallel iterations of another loop; and operations outside, the same for
//    all. Only the first iterations may wait for some outside operations: then all do, if later
//    ones did so already through the first ones.
// Slots are renumbered, so that those of a frame are contiguous.
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

/// The dependences of an operation of a loop.
struct Waits {
  // On operations of its own loop: by position and segments before, the number of iterations
  // before.
  std::set<std::pair<std::uint32_t, std::int32_t>> before;
  // On other loops: by the first iteration's operation and segments before, the offset to the own
  // iteration number, counted from the first or from the last iteration.
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

/// Finds loops of at least `least` iterations.
RolledLoops findLoops(const Schedule& schedule, std::uint32_t least);

}  // namespace torc::passes

#endif  // TORC_PASSES_LOOPS_LOOP_FINDER_H_
