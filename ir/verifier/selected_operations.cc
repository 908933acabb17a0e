#include "ir/verifier/selected_operations.h"

#include <algorithm>
#include <utility>

#include <llvm/ADT/STLExtras.h>

namespace torc::ir {

SelectedOperations::SelectedOperations(const ScheduleView& schedule,
                                       const std::vector<char>& is_selected) {
  // By operation: its new number or, if it is not selected, those on which it depends.
  std::vector<std::vector<std::uint32_t>> numbers(schedule.operations.size());
  for (std::uint32_t i = 0; i < schedule.operations.size(); ++i) {
    for (const std::uint32_t dependence : schedule.dependencesOf(schedule.operations[i]))
      llvm::append_range(numbers[i], numbers[operationOf(dependence)]);
    llvm::sort(numbers[i]);
    numbers[i].erase(std::unique(numbers[i].begin(), numbers[i].end()), numbers[i].end());
    if (is_selected[i] == 0) continue;
    const auto number = static_cast<std::uint32_t>(operations_.size());
    Operation& operation = operations_.emplace_back(schedule.operations[i]);
    operation.first_dependence = static_cast<std::uint32_t>(dependences_.size());
    operation.dependence_count = static_cast<std::uint32_t>(numbers[i].size());
    llvm::append_range(dependences_, std::exchange(numbers[i], {number}));
    sources_.push_back(i);
  }
}

ScheduleView SelectedOperations::in(const ScheduleView& schedule) const {
  ScheduleView selected = schedule;
  selected.operations = operations_;
  selected.dependences = dependences_;
  return selected;
}

}  // namespace torc::ir
