// assign-permutations: gives colors axis orders without conflicts: no two use an axis in the same
// phase.
#ifndef TORC_PASSES_ASSIGN_PERMUTATIONS_H_
#define TORC_PASSES_ASSIGN_PERMUTATIONS_H_

#include <compare>
#include <memory>

#include "passes/manager/pass.h"

namespace torc::passes {

/// Axis orders of the colors: rotations, or those of assign-colors.
enum class ColorOrders { kRotated, kAssigned };
llvm::ArrayRef<llvm::StringRef> words(ColorOrders);

struct AssignPermutationsPass {
  ColorOrders orders = ColorOrders::kRotated;

  auto operator<=>(const AssignPermutationsPass&) const = default;
};

std::unique_ptr<Pass> makePass(const AssignPermutationsPass& options);

}  // namespace torc::passes

#endif  // TORC_PASSES_ASSIGN_PERMUTATIONS_H_
