// Two-phase all-to-all ("Optimization of All-to-All Communication on the Blue Gene/L
// Supercomputer", section 4.1: TPS): blocks go along the linear dimension to the plane of their
// destination, then within the plane. On asymmetric tori packets of all dimensions would block each
// other; here packets along the longest dimension do not meet others. Cores exchange first.
#ifndef TORC_COMPILER_ALGORITHMS_ALLTOALL_TWO_PHASE_H_
#define TORC_COMPILER_ALGORITHMS_ALLTOALL_TWO_PHASE_H_

#include <cstdint>

#include <llvm/Support/Error.h>

#include "compiler/spec/collective_spec.h"
#include "ir/program.h"

namespace torc::compiler {

/// The plan with one linear dimension. Errors: a damaged torus.
llvm::Expected<ir::Program> lowerTwoPhaseAlltoall(const CollectiveSpec& spec);

/// The plan with one color for each dimension as the linear one [own]: while one color uses its
/// linear dimension, the others use the other dimensions. So all links are busy in both phases, on
/// symmetric tori too. Errors: a damaged torus.
llvm::Expected<ir::Program> lowerRotatedTwoPhaseAlltoall(const CollectiveSpec& spec);

/// The linear dimension: the one whose removal leaves dimensions of one size, else the longest (the
/// paper, section 4.1); of several such the longest, of these the first. kNone: no dimension has
/// more than one node.
std::uint32_t linearDimension(const Topology& topology);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_ALLTOALL_TWO_PHASE_H_
