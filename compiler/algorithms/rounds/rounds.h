// Reduce-scatters and allgathers in rounds with growing distances, in rotated orders of the axes.
#ifndef TORC_COMPILER_ALGORITHMS_ROUNDS_ROUNDS_H_
#define TORC_COMPILER_ALGORITHMS_ROUNDS_ROUNDS_H_

#include <llvm/Support/Error.h>

#include "compiler/spec/collective_spec.h"
#include "compiler/spec/program_size.h"
#include "ir/program.h"

namespace torc::compiler {

/// Swing ("Swing: Short-cutting Rings for Higher Bandwidth Allreduce", NSDI'24), as a plan in a
/// single color.
llvm::Expected<ir::Program> lowerSwing(const CollectiveSpec& spec);
/// The same in groups of up to 8 nodes of an axis, or of a prime factor of its size.
llvm::Expected<ir::Program> lowerGroups(const CollectiveSpec& spec);

/// Estimates from the shape alone: operations of each node of an axis meet operations of each node
/// of another axis in the same memory.
ProgramSize estimateSwing(const CollectiveSpec& spec);
ProgramSize estimateGroups(const CollectiveSpec& spec);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_ROUNDS_ROUNDS_H_
