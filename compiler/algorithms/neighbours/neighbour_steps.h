// Neighbourhood collectives on the grid of a Cartesian communicator: every node sends each of its
// neighbours a block, on all links at the same time (MPI 4.1, section 8.6).
#ifndef TORC_COMPILER_ALGORITHMS_NEIGHBOURS_NEIGHBOUR_STEPS_H_
#define TORC_COMPILER_ALGORITHMS_NEIGHBOURS_NEIGHBOUR_STEPS_H_

#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>

#include "compiler/spec/collective_spec.h"
#include "compiler/spec/program_size.h"
#include "ir/program.h"

namespace torc::compiler {

/// A message up and one down each axis, with the block of that part (schedules/neighbours.h); a
/// copy along a ring of one. Errors: cores, or a damaged torus.
llvm::Expected<ir::Program> lowerNeighbours(const CollectiveSpec& spec);
ProgramSize estimateNeighbours(const CollectiveSpec& spec);

/// The reason why a topology is not such a grid; empty if it is one.
llvm::StringRef unsuitedToNeighbours(const Topology& topology);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_NEIGHBOURS_NEIGHBOUR_STEPS_H_
