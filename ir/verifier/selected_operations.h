// A schedule with some of its operations; in the places of the others are empty ones. Dependences
// go through these, like those of a node through operations that it does not execute.
#ifndef TORC_IR_VERIFIER_SELECTED_OPERATIONS_H_
#define TORC_IR_VERIFIER_SELECTED_OPERATIONS_H_

#include <cstdint>
#include <vector>

#include "schedules/schedule.h"

namespace torc::ir {

struct SelectedOperations {
  /// `schedule` has no loops; `is_selected` is by operation.
  SelectedOperations(const ScheduleView& schedule, const std::vector<char>& is_selected);

  std::vector<Operation> operations;
  std::vector<std::uint32_t> dependences;
  ScheduleView view;  // of all this; it moves with it
};

}  // namespace torc::ir

#endif  // TORC_IR_VERIFIER_SELECTED_OPERATIONS_H_
