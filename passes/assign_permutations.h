// assign-permutations: gives colors axis orders such that no two use an axis in the same phase.
#ifndef TORC_PASSES_ASSIGN_PERMUTATIONS_H_
#define TORC_PASSES_ASSIGN_PERMUTATIONS_H_

#include <memory>

#include "passes/manager/pass.h"

namespace torc {

std::unique_ptr<Pass> createAssignPermutationsPass();

}  // namespace torc

#endif  // TORC_PASSES_ASSIGN_PERMUTATIONS_H_
