// Neighbourhood collectives on the grid of a Cartesian communicator: every node sends each of its
// neighbours a block, all links at a time (MPI 4.1, section 8.6).
#ifndef TORC_COMPILER_ALGORITHMS_NEIGHBOURS_NEIGHBOUR_STEPS_H_
#define TORC_COMPILER_ALGORITHMS_NEIGHBOURS_NEIGHBOUR_STEPS_H_

#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>

#include "compiler/spec/collective_spec.h"
#include "compiler/spec/program_size.h"
#include "ir/program.h"

namespace torc::compiler {

/// A message up and one down each axis, of the block of that part (schedules/neighbours.h); a copy
/// along a ring of one. Errors: cores, or something is dead.
llvm::Expected<ir::Program> lowerNeighbours(const CollectiveSpec& spec);
ProgramSize estimateNeighbours(const CollectiveSpec& spec);

/// Why a topology is no such grid; empty: it is one.
llvm::StringRef unsuitedToNeighbours(const Topology& topology);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_NEIGHBOURS_NEIGHBOUR_STEPS_H_
