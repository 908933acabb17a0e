// Some operations of a schedule, as a schedule of their own. Their dependences go through the
// others, like those of a node through operations that it does not execute.
#ifndef TORC_IR_VERIFIER_SELECTED_OPERATIONS_H_
#define TORC_IR_VERIFIER_SELECTED_OPERATIONS_H_

#include <cstdint>
#include <vector>

#include "schedules/schedule.h"

namespace torc::ir {

class SelectedOperations {
 public:
  SelectedOperations() = default;
  /// `schedule` has no loops; `is_selected` is by operation.
  SelectedOperations(const ScheduleView& schedule, const std::vector<char>& is_selected);
  /// `schedule` with these operations in place of its own. This must outlive the view.
  ScheduleView in(const ScheduleView& schedule) const;
  /// By operation: its number in the schedule.
  const std::vector<std::uint32_t>& sources() const { return sources_; }

 private:
  std::vector<Operation> operations_;
  std::vector<std::uint32_t> dependences_, sources_;
};

}  // namespace torc::ir

#endif  // TORC_IR_VERIFIER_SELECTED_OPERATIONS_H_
