// The virtual mesh of two dimensions ("Optimization of All-to-All Communication on the Blue Gene/L
// Supercomputer", section 4.2): nodes are rows and columns of a mesh that is as nearly square as
// the torus allows. A column has whole dimensions of the torus and, where that is nearer to a
// square, every B-th node of one more, of which a row then has B neighbours: on 8x8x8 a row is half
// an XY plane, a column two pencils along Z, 32x16 as in the paper.
#ifndef TORC_COMPILER_ALGORITHMS_ALLTOALL_HALF_PLANES_H_
#define TORC_COMPILER_ALGORITHMS_ALLTOALL_HALF_PLANES_H_

#include <cstdint>

#include <llvm/Support/Error.h>

#include "compiler/spec/collective_spec.h"
#include "ir/program.h"

namespace torc::compiler {

/// How the nodes of a torus are those of a virtual mesh. Rows have the dimensions that columns have
/// not, and that which is split.
struct MeshFactors {
  std::uint32_t columns = 0;    // dimensions along which a column goes, a bit each; 0: no mesh
  std::uint32_t split = kNone;  // one of them, along which it goes to multiples of `stride` alone
  std::uint32_t stride = 0;
};

/// The mesh with the fewest rows and columns together; none of a torus of a prime number of nodes.
/// Lines are not split.
MeshFactors nearlySquare(const Topology& topology);

/// Along the columns of that mesh, then along its rows, in combined messages: about 2 sqrt(p) of
/// them a node. Cores exchange before. Errors: a damaged torus.
llvm::Expected<ir::Program> lowerHalfPlanesAlltoall(const CollectiveSpec& spec);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_ALLTOALL_HALF_PLANES_H_
