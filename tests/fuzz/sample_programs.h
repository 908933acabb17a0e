// Small programs of all kinds: the corpus for the fuzz tests of the parser.
#ifndef TORC_TESTS_FUZZ_SAMPLE_PROGRAMS_H_
#define TORC_TESTS_FUZZ_SAMPLE_PROGRAMS_H_

#include <vector>

#include "ir/program.h"

namespace torc::fuzz {

/// Schedules with loops: of data and of signals, nested and in segments, with frames with copies,
/// with lists.
std::vector<Schedule> loopedSchedules();

/// The sample schedules, those with loops, then random programs with plans or steps.
std::vector<ir::Program> samplePrograms();

}  // namespace torc::fuzz

#endif  // TORC_TESTS_FUZZ_SAMPLE_PROGRAMS_H_
