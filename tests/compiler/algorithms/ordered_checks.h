// Whether ranks are combined in their order.
#ifndef TORC_TESTS_COMPILER_ALGORITHMS_ORDERED_CHECKS_H_
#define TORC_TESTS_COMPILER_ALGORITHMS_ORDERED_CHECKS_H_

#include <cstdint>

#include <llvm/ADT/STLFunctionalExtras.h>

#include "schedules/schedule.h"

namespace torc::compiler {

/// Runs a schedule on an operation that tells whether ranks are added in their order; what a rank
/// has to have is that of the ranks before `end(rank)`, of none where that is 0.
void expectRanksInOrder(const Schedule& schedule,
                        llvm::function_ref<std::int32_t(std::int32_t)> end);

}  // namespace torc::compiler

#endif  // TORC_TESTS_COMPILER_ALGORITHMS_ORDERED_CHECKS_H_
