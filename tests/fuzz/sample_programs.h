// Small programs of all kinds, whose texts the fuzz tests of the parser begin with.
#ifndef TORC_TESTS_FUZZ_SAMPLE_PROGRAMS_H_
#define TORC_TESTS_FUZZ_SAMPLE_PROGRAMS_H_

#include <vector>

#include "ir/program.h"

namespace torc::fuzz {

/// Schedules with loops: of data and of signals, in one another and in segments, with frames of
/// copies, with lists.
std::vector<Schedule> loopedSchedules();

/// The sample schedules, those with loops, then random programs with plans or steps.
std::vector<ir::Program> samplePrograms();

}  // namespace torc::fuzz

#endif  // TORC_TESTS_FUZZ_SAMPLE_PROGRAMS_H_
