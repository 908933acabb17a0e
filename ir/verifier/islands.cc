#include "ir/verifier/islands.h"

#include <algorithm>

#include <llvm/ADT/IntEqClasses.h>

namespace torc::ir {

DependenceIslands::DependenceIslands(const ScheduleView& schedule) {
  const auto count = static_cast<std::uint32_t>(schedule.operations.size());
  llvm::IntEqClasses joined(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    for (const std::uint32_t before : schedule.dependencesOf(schedule.operations[i]))
      joined.join(i, before);
  }
  joined.compress();
  members_.resize(joined.getNumClasses());
  for (std::uint32_t i = 0; i < count; ++i) {
    island_.push_back(joined[i]);
    members_[joined[i]].push_back(i);
  }
}

llvm::ArrayRef<std::uint32_t> DependenceIslands::between(std::uint32_t first,
                                                         std::uint32_t last) const {
  const std::vector<std::uint32_t>& all = members_[island_[first]];
  const auto begin = std::ranges::lower_bound(all, first);
  const auto end = std::ranges::upper_bound(all, last);
  return llvm::ArrayRef(all).slice(static_cast<std::size_t>(begin - all.begin()),
                                   static_cast<std::size_t>(end - begin));
}

}  // namespace torc::ir
