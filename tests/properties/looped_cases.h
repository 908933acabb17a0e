// Small schedules with loops, or in segments, from every algorithm that has any.
#ifndef TORC_TESTS_PROPERTIES_LOOPED_CASES_H_
#define TORC_TESTS_PROPERTIES_LOOPED_CASES_H_

#include <string>
#include <vector>

#include "schedules/schedule.h"

namespace torc {

struct LoopedCase {
  std::string text;
  Schedule schedule;
};

/// For every algorithm and each of its collectives, two schedules: on the first of a few shapes
/// with loops of two or more iterations, and on the first with more segments than the window.
std::vector<LoopedCase> loopedCases();

}  // namespace torc

#endif  // TORC_TESTS_PROPERTIES_LOOPED_CASES_H_
