// Mutants: schedules with one deliberate fault, to measure what the verifier catches.
#ifndef TORC_TESTS_PROPERTIES_MUTANTS_H_
#define TORC_TESTS_PROPERTIES_MUTANTS_H_

#include <cstdint>
#include <random>
#include <string>

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

}  // namespace torc

#endif  // TORC_TESTS_PROPERTIES_MUTANTS_H_
