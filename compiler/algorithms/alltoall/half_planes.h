// The virtual mesh of two dimensions ("Optimization of All-to-All Communication on the Blue Gene/L
// Supercomputer", section 4.2): nodes form rows and columns of a mesh that is as nearly square as
// the torus allows. A column has whole dimensions of the torus. If that is closer to a square, it
// also has every B-th node of one further dimension, and a row has B neighbours along it. On 8x8x8
// a row is half an XY plane, a column two pencils along Z, 32x16 as in the paper.
#ifndef TORC_COMPILER_ALGORITHMS_ALLTOALL_HALF_PLANES_H_
#define TORC_COMPILER_ALGORITHMS_ALLTOALL_HALF_PLANES_H_

#include <cstdint>

#include <llvm/Support/Error.h>

#include "compiler/spec/collective_spec.h"
#include "ir/program.h"

namespace torc::compiler {

/// Mapping of the nodes of a torus to a virtual mesh. Rows have the dimensions that columns do not
/// have, and the split dimension.
struct MeshFactors {
  std::uint32_t columns = 0;    // dimensions of a column, one bit each; 0: no mesh
  std::uint32_t split = kNone;  // one of them, in which a column has only multiples of `stride`
  std::uint32_t stride = 0;
};

/// The mesh with the fewest rows and columns together; no mesh for a torus with a prime number of
/// nodes. Lines are not split.
MeshFactors nearlySquare(const Topology& topology);

/// Exchanges along the columns of that mesh, then along its rows, in combined messages: about 2
/// sqrt(p) of them per node. Cores exchange first. Errors: a damaged torus.
llvm::Expected<ir::Program> lowerHalfPlanesAlltoall(const CollectiveSpec& spec);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_ALLTOALL_HALF_PLANES_H_
