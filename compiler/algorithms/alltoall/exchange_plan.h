// Plans of all-to-alls: exchanges along some axes after others, which passes/expand_exchanges.cc
// turns into steps.
#ifndef TORC_COMPILER_ALGORITHMS_ALLTOALL_EXCHANGE_PLAN_H_
#define TORC_COMPILER_ALGORITHMS_ALLTOALL_EXCHANGE_PLAN_H_

#include <cstdint>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/Support/Error.h>

#include "compiler/spec/collective_spec.h"
#include "ir/program.h"

namespace torc::compiler {

/// The plan of one color that exchanges along each of these sets of axes, a bit per axis, in a
/// phase of its own; empty sets are left out. `kind` is an exchange; but for kExchange itself all
/// sets are of one axis. Errors: a damaged torus, which is named with `algorithm`.
llvm::Expected<ir::Program> exchangePlan(const CollectiveSpec& spec, llvm::StringRef algorithm,
                                         llvm::ArrayRef<std::uint32_t> phases,
                                         ir::PlanKind kind = ir::PlanKind::kExchange);

/// The axis of cores, a bit; 0 where there is none.
std::uint32_t coreAxes(const Topology& topology);
/// The network's dimensions, a bit each.
std::uint32_t networkAxisSet(const Topology& topology);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_ALLTOALL_EXCHANGE_PLAN_H_
