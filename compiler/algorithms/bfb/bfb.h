// Breadth-first broadcast (BFB) as steps.
#ifndef TORC_COMPILER_ALGORITHMS_BFB_BFB_H_
#define TORC_COMPILER_ALGORITHMS_BFB_BFB_H_

#include <llvm/Support/Error.h>

#include "compiler/spec/collective_spec.h"
#include "compiler/spec/program_size.h"
#include "ir/program.h"

namespace torc::compiler {

/// Parts of a block beyond which the proof of so many nodes is too much work.
std::uint32_t mostBfbParts(const Topology& topology);

/// What the steps come to, from the shape alone: a little more than they do.
ProgramSize estimateBfb(const CollectiveSpec& spec);

/// The steps of an allgather by breadth-first broadcast, of a reduce-scatter, its time reversal, or
/// of an allreduce, both in turn. Errors: those of bfbRoutes
/// (compiler/algorithms/bfb/bfb_routes.h).
llvm::Expected<ir::Program> lowerBfb(const CollectiveSpec& spec);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_BFB_BFB_H_
