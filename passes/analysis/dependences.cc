// Reduces dependences transitively while they are added.
#include "passes/analysis/dependences.h"

#include <algorithm>
#include <functional>

namespace torc::passes {

Dependences::Dependences(std::size_t operations) : seen_(operations, kNone) {
  first_.reserve(operations + 1);
  first_.push_back(0);
}

void Dependences::add(llvm::ArrayRef<std::uint32_t> dependences) {
  all_.insert(all_.end(), dependences.begin(), dependences.end());
  first_.push_back(static_cast<std::uint32_t>(all_.size()));
}

void Dependences::addReduced(llvm::SmallVectorImpl<std::uint32_t>& candidates) {
  const auto operation = static_cast<std::uint32_t>(first_.size() - 1);
  std::sort(candidates.begin(), candidates.end(), std::greater<>());
  candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
  // A later candidate is never an ancestor of an earlier one: in descending order, each is kept
  // unless an earlier kept one has it among its ancestors.
  llvm::SmallVector<std::uint32_t, 8> kept;
  for (const std::uint32_t candidate : candidates) {
    if (seen_[candidate] == operation) continue;
    kept.push_back(candidate);
    if (candidate != candidates.back()) markAncestors(candidate, candidates.back(), operation);
  }
  std::reverse(kept.begin(), kept.end());
  add(kept);
}

/// Records for all ancestors of `from`, down to `lowest`, that `operation` depends on them.
void Dependences::markAncestors(std::uint32_t from, std::uint32_t lowest, std::uint32_t operation) {
  stack_.push_back(from);
  while (!stack_.empty()) {
    const std::uint32_t next = stack_.pop_back_val();
    for (const std::uint32_t dependence : of(next)) {
      if (dependence < lowest || seen_[dependence] == operation) continue;
      seen_[dependence] = operation;
      stack_.push_back(dependence);
    }
  }
}

bool Dependences::apply(Schedule& schedule) {
  bool any = schedule.dependences != all_;
  for (std::size_t i = 0; i < schedule.operations.size(); ++i) {
    Operation& operation = schedule.operations[i];
    const std::uint32_t count = first_[i + 1] - first_[i];
    any |= operation.dependence_count != count;
    operation.first_dependence = first_[i];
    operation.dependence_count = count;
  }
  schedule.dependences = std::move(all_);
  return any;
}

}  // namespace torc::passes
