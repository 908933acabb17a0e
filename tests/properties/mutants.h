// Mutants: schedules with one deliberate fault, to measure the verifier's detection.
#ifndef TORC_TESTS_PROPERTIES_MUTANTS_H_
#define TORC_TESTS_PROPERTIES_MUTANTS_H_

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "schedules/schedule.h"

namespace torc {

enum class Mutation {
  kDrop,              // an operation is left out; its dependants wait for its dependences
  kDouble,            // an operation is repeated
  kSwap,              // two neighbouring operations of a stream are swapped
  kRedirect,          // a message goes to, or comes from, another neighbour
  kOtherBlocks,       // a region names other blocks of the same size
  kRemoveDependence,  // an operation no longer waits for another
  // Of loops:
  kTripCount,      // a loop has an iteration more or less
  kLoopEnd,        // a loop begins or ends an operation earlier or later
  kExchangeLoops,  // a loop and the one inside it are swapped, or only their counts
  kStride,         // the begin or length of blocks or guards changes by another amount
  kCopies,         // a frame has a copy more or less, or begins with another one
  kDistance,       // an operation waits for the iteration before or behind
  kOrigin,         // an operation waits for an iteration with another origin
  // Of segments:
  kSegmentsBefore,  // an operation waits for the segment before or behind
  kWindow,          // slots have a copy more or less
};
inline constexpr int kMutationCount = 15;
std::string_view name(Mutation mutation);

struct Mutant {
  Schedule schedule;
  std::string what;  // "drop %17"; empty: this mutation does not apply to the schedule
};

/// A mutant of `schedule`, at a random place.
Mutant mutate(const Schedule& schedule, Mutation mutation, std::mt19937_64& random);

/// Single faults in the loops and segments; most of them require loops or segments.
Mutant changeTripCount(const Schedule& schedule, std::mt19937_64& random);
Mutant moveLoopEnd(const Schedule& schedule, std::mt19937_64& random);
Mutant exchangeLoops(const Schedule& schedule, std::mt19937_64& random);
Mutant changeStride(const Schedule& schedule, std::mt19937_64& random);
Mutant changeCopies(const Schedule& schedule, std::mt19937_64& random);
Mutant changeDistance(const Schedule& schedule, std::mt19937_64& random);
Mutant changeOrigin(const Schedule& schedule, std::mt19937_64& random);
Mutant changeSegmentsBefore(const Schedule& schedule, std::mt19937_64& random);
Mutant changeWindow(const Schedule& schedule, std::mt19937_64& random);

/// An operation with its dependences, as in the table.
struct MutantStep {
  Operation operation;
  std::vector<std::uint32_t> after;
};

std::vector<MutantStep> stepsOf(const Schedule& schedule);

/// `schedule` with `steps` in place of its operations; the caller must adjust its loops.
Schedule withSteps(const Schedule& schedule, const std::vector<MutantStep>& steps);

/// `dependence` moved to another operation, in the same iterations.
inline std::uint32_t movedTo(std::uint32_t dependence, std::uint32_t operation) {
  return dependence - operationOf(dependence) + operation;
}

/// A random index for which `fits` holds; kNone if there is none.
template <typename Fits>
std::uint32_t pick(std::size_t count, std::mt19937_64& random, Fits fits) {
  std::vector<std::uint32_t> candidates;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (fits(i)) candidates.push_back(i);
  }
  return candidates.empty() ? kNone : candidates[random() % candidates.size()];
}

/// "%17", the name of an operation in the text form.
inline std::string percent(std::uint32_t index) {
  return "%" + std::to_string(index);
}

}  // namespace torc

#endif  // TORC_TESTS_PROPERTIES_MUTANTS_H_
