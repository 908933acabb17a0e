// Mutants: schedules with one deliberate fault, to measure what the verifier catches.
#ifndef TORC_TESTS_PROPERTIES_MUTANTS_H_
#define TORC_TESTS_PROPERTIES_MUTANTS_H_

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "schedules/schedule.h"

namespace torc {

enum class Mutation {
  kDrop,              // an operation is left out; what waited for it waits for its dependences
  kDouble,            // an operation is done twice in a row
  kSwap,              // two neighbouring operations of a stream change places
  kRedirect,          // a message goes to, or comes from, another neighbour
  kOtherBlocks,       // a region names other blocks of the same size
  kRemoveDependence,  // an operation no longer waits for another
  // Of loops:
  kTripCount,      // a loop has an iteration more or less
  kLoopEnd,        // a loop begins or ends an operation earlier or later
  kExchangeLoops,  // a loop and the one inside it change places, or their counts alone
  kStride,         // where blocks or guards begin, or how long they are, goes by another amount
  kCopies,         // a frame has a copy more or less, or begins with another one
  kDistance,       // an operation waits for the iteration before or behind
  kOrigin,         // an operation waits for an iteration that is counted from elsewhere
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

/// Single faults in the loops and segments; without these, most do not apply.
Mutant changeTripCount(const Schedule& schedule, std::mt19937_64& random);
Mutant moveLoopEnd(const Schedule& schedule, std::mt19937_64& random);
Mutant exchangeLoops(const Schedule& schedule, std::mt19937_64& random);
Mutant changeStride(const Schedule& schedule, std::mt19937_64& random);
Mutant changeCopies(const Schedule& schedule, std::mt19937_64& random);
Mutant changeDistance(const Schedule& schedule, std::mt19937_64& random);
Mutant changeOrigin(const Schedule& schedule, std::mt19937_64& random);
Mutant changeSegmentsBefore(const Schedule& schedule, std::mt19937_64& random);
Mutant changeWindow(const Schedule& schedule, std::mt19937_64& random);

/// An operation with its dependences, as they stand in the table.
struct MutantStep {
  Operation operation;
  std::vector<std::uint32_t> after;
};

std::vector<MutantStep> stepsOf(const Schedule& schedule);

/// `schedule` with `steps` in place of its operations; its loops are the caller's to keep.
Schedule withSteps(const Schedule& schedule, const std::vector<MutantStep>& steps);

/// What `dependence` waits for on another operation, in the same iterations.
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

/// "%17", as the text form names an operation.
inline std::string percent(std::uint32_t index) {
  return "%" + std::to_string(index);
}

}  // namespace torc

#endif  // TORC_TESTS_PROPERTIES_MUTANTS_H_
