// Whether ranks are combined in their order.
#ifndef TORC_TESTS_COMPILER_ALGORITHMS_ORDERED_CHECKS_H_
#define TORC_TESTS_COMPILER_ALGORITHMS_ORDERED_CHECKS_H_

#include "schedules/schedule.h"

namespace torc::compiler {

/// Runs an allreduce, a scan or an exscan on an operation that tells whether ranks are added in
/// their order: each rank has to have that of all ranks, of those up to it, or of those before it.
void expectRanksInOrder(const Schedule& schedule);

}  // namespace torc::compiler

#endif  // TORC_TESTS_COMPILER_ALGORITHMS_ORDERED_CHECKS_H_
