// Small schedules with loops, or in segments, of every algorithm that makes any.
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

/// Of every algorithm and each of its collectives that on the first of a few shapes on which it has
/// loops of what is there twice or more often, and that on the first on which it has segments, more
/// than are under way at a time.
std::vector<LoopedCase> loopedCases();

}  // namespace torc

#endif  // TORC_TESTS_PROPERTIES_LOOPED_CASES_H_
