#include "ir/verifier/selected_operations.h"

#include <algorithm>
#include <utility>

#include <llvm/ADT/STLExtras.h>

namespace torc::ir {

SelectedOperations::SelectedOperations(const ScheduleView& schedule,
                                       const std::vector<char>& is_selected)
    : view(schedule) {
  // By operation: itself or, if it is not selected, those on which it depends.
  std::vector<std::vector<std::uint32_t>> reached(schedule.operations.size());
  for (std::uint32_t i = 0; i < reached.size(); ++i) {
    Operation& operation = operations.emplace_back(schedule.operations[i]);
    for (const std::uint32_t dependence : schedule.dependencesOf(operation))
      llvm::append_range(reached[i], reached[operationOf(dependence)]);
    llvm::sort(reached[i]);
    reached[i].erase(std::unique(reached[i].begin(), reached[i].end()), reached[i].end());
    operation.first_dependence = static_cast<std::uint32_t>(dependences.size());
    if (is_selected[i] != 0) {
      operation.dependence_count = static_cast<std::uint32_t>(reached[i].size());
      llvm::append_range(dependences, std::exchange(reached[i], {i}));
    } else {
      operation.kind = OperationKind::kCopy;
      operation.peer_kind = PeerKind::kShift;
      operation.peer = kNone;
      operation.dst = operation.a = operation.b = {};
      operation.dependence_count = 0;
    }
  }
  view.operations = operations;
  view.dependences = dependences;
}

}  // namespace torc::ir
