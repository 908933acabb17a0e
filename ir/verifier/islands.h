// Islands: operations connected by dependences. No dependence leaves an island, so order is checked
// within it: if every node has operations of its own, within the node.
#ifndef TORC_IR_VERIFIER_ISLANDS_H_
#define TORC_IR_VERIFIER_ISLANDS_H_

#include <cstdint>
#include <vector>

#include <llvm/ADT/ArrayRef.h>

#include "schedules/schedule.h"

namespace torc::ir {

class DependenceIslands {
 public:
  explicit DependenceIslands(const ScheduleView& schedule);

  std::uint32_t of(std::uint32_t operation) const { return island_[operation]; }
  /// The operations of the island of `first` from it on, up to `last`.
  llvm::ArrayRef<std::uint32_t> between(std::uint32_t first, std::uint32_t last) const;

 private:
  std::vector<std::uint32_t> island_;                // by operation
  std::vector<std::vector<std::uint32_t>> members_;  // by island, ascending
};

}  // namespace torc::ir

#endif  // TORC_IR_VERIFIER_ISLANDS_H_
