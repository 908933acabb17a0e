// Plans of all-to-alls: a sequence of exchanges along sets of axes. passes/expand_exchanges.cc
// turns them into steps.
#ifndef TORC_COMPILER_ALGORITHMS_ALLTOALL_EXCHANGE_PLAN_H_
#define TORC_COMPILER_ALGORITHMS_ALLTOALL_EXCHANGE_PLAN_H_

#include <cstdint>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/Support/Error.h>

#include "compiler/spec/collective_spec.h"
#include "ir/program.h"

namespace torc::compiler {

/// The plan of one color that exchanges along each of these sets of axes, one bit per axis, in a
/// separate phase; empty sets are omitted. `kind` is an exchange; all sets have one axis unless it
/// is kExchange. Errors: a damaged torus; the message names `algorithm`.
llvm::Expected<ir::Program> exchangePlan(const CollectiveSpec& spec, llvm::StringRef algorithm,
                                         llvm::ArrayRef<std::uint32_t> phases,
                                         ir::PlanKind kind = ir::PlanKind::kExchange);

/// The axis of cores, as a bit; 0 without one.
std::uint32_t coreAxes(const Topology& topology);
/// The network's dimensions, one bit each.
std::uint32_t networkAxisSet(const Topology& topology);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_ALLTOALL_EXCHANGE_PLAN_H_
