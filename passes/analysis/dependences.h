// Builder of a schedule's dependences, operation by operation from the top.
#ifndef TORC_PASSES_ANALYSIS_DEPENDENCES_H_
#define TORC_PASSES_ANALYSIS_DEPENDENCES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/SmallVector.h>

#include "schedules/schedule.h"

namespace torc::passes {

class Dependences {
 public:
  /// For a schedule of `operations` operations.
  explicit Dependences(std::size_t operations);

  /// Adds the next operation with its dependences, ascending.
  void add(llvm::ArrayRef<std::uint32_t> dependences);

  /// Adds the next operation. It depends on `candidates` (any order, duplicates allowed; sorted on
  /// return) without those that another candidate depends on transitively. Dependences pass through
  /// operations that a node does not execute, so an implied dependence holds on every node.
  void addReduced(llvm::SmallVectorImpl<std::uint32_t>& candidates);

  /// Dependences added so far.
  std::size_t size() const { return all_.size(); }

  /// Moves all dependences into `schedule`; false if they equal its own.
  bool apply(Schedule& schedule);

 private:
  llvm::ArrayRef<std::uint32_t> of(std::uint32_t operation) const {
    return llvm::ArrayRef(all_).slice(first_[operation], first_[operation + 1] - first_[operation]);
  }
  void markAncestors(std::uint32_t from, std::uint32_t lowest, std::uint32_t operation);

  std::vector<std::uint32_t> all_;
  std::vector<std::uint32_t> first_;  // of each operation in all_, then the end
  std::vector<std::uint32_t> seen_;   // last operation that depends on this one
  llvm::SmallVector<std::uint32_t, 32> stack_;
};

}  // namespace torc::passes

#endif  // TORC_PASSES_ANALYSIS_DEPENDENCES_H_
