// Single faults put into the loops and segments of a schedule. See mutants.h, which is what others
// call; without loops, or segments, most do not apply.
#ifndef TORC_TESTS_PROPERTIES_LOOP_MUTANTS_H_
#define TORC_TESTS_PROPERTIES_LOOP_MUTANTS_H_

#include <random>

#include "schedules/schedule.h"
#include "tests/properties/mutants.h"

namespace torc {

Mutant changeTripCount(const Schedule& schedule, std::mt19937_64& random);
Mutant moveLoopEnd(const Schedule& schedule, std::mt19937_64& random);
Mutant exchangeLoops(const Schedule& schedule, std::mt19937_64& random);
Mutant changeStride(const Schedule& schedule, std::mt19937_64& random);
Mutant changeCopies(const Schedule& schedule, std::mt19937_64& random);
Mutant changeDistance(const Schedule& schedule, std::mt19937_64& random);
Mutant changeOrigin(const Schedule& schedule, std::mt19937_64& random);
Mutant changeSegmentsBefore(const Schedule& schedule, std::mt19937_64& random);
Mutant changeWindow(const Schedule& schedule, std::mt19937_64& random);

}  // namespace torc

#endif  // TORC_TESTS_PROPERTIES_LOOP_MUTANTS_H_
