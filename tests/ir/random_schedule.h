// Random schedules that pass validation, for properties of the text and JSON forms. They move data
// to and fro without computing anything.
#ifndef TORC_TESTS_IR_RANDOM_SCHEDULE_H_
#define TORC_TESTS_IR_RANDOM_SCHEDULE_H_

#include <cstdint>
#include <functional>

#include "ir/program.h"

namespace torc::ir {

/// Draws an integer from `lowest` to `highest`.
using Draw = std::function<std::int64_t(std::int64_t lowest, std::int64_t highest)>;

/// Topologies of 1 to 4 axes, torus, mesh and cores, with odd link speeds; colors, streams,
/// frames; operations of every kind with guards and dependences; tables with equal and unused
/// boxes.
Schedule randomSchedule(const Draw& draw);

/// A program with a plan, or with a random schedule's steps.
Program randomProgram(const Draw& draw);

}  // namespace torc::ir

#endif  // TORC_TESTS_IR_RANDOM_SCHEDULE_H_
