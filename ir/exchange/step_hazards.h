// Hazards: steps of a rank that touch the same memory and must keep their order. A schedule starts
// every operation without pending dependences; the literal order of a thread block would need
// buffered messages.
#ifndef TORC_IR_EXCHANGE_STEP_HAZARDS_H_
#define TORC_IR_EXCHANGE_STEP_HAZARDS_H_

#include <array>
#include <cstdint>
#include <vector>

#include <llvm/ADT/ArrayRef.h>

#include "ir/exchange/chunk_cells.h"
#include "ir/exchange/program_order.h"

namespace torc::ir {

/// Twice a step's number for its receive or local work; one more for its send.
using ActionId = std::uint32_t;

/// Cells that an action touches, as many as its step has chunks; kNone: none.
struct Accesses {
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  std::uint32_t reads = kNone, reads_too = kNone, writes = kNone;  // the first of each
};
/// Accesses of the two actions of a step. Throws an error if it leaves its buffers.
std::array<Accesses, 2> accessesOf(const ProgramOrder& order, const ChunkCells& cells, StepId step);

class StepHazards {
 public:
  /// Throws an error for two unordered steps of a rank that touch the same chunk, one of them
  /// writing.
  StepHazards(const RankPrograms& programs, const ProgramOrder& order, const ChunkCells& cells);

  /// Actions that must be complete before, in ascending order.
  llvm::ArrayRef<ActionId> before(ActionId action) const {
    return llvm::ArrayRef(earlier_).slice(begin_[action], count_[action]);
  }

 private:
  std::vector<std::size_t> begin_;
  std::vector<std::uint32_t> count_;
  std::vector<ActionId> earlier_;
};

}  // namespace torc::ir

#endif  // TORC_IR_EXCHANGE_STEP_HAZARDS_H_
