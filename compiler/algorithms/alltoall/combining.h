// All-to-alls that combine messages, one dimension after another, so that a node sends few long
// messages: through the network ("Optimization of All-to-All Communication on the Blue Gene/L
// Supercomputer", section 4.2: the virtual mesh) or round the rings, from neighbour to neighbour.
// Cores exchange first.
#ifndef TORC_COMPILER_ALGORITHMS_ALLTOALL_COMBINING_H_
#define TORC_COMPILER_ALGORITHMS_ALLTOALL_COMBINING_H_

#include <llvm/Support/Error.h>

#include "compiler/spec/collective_spec.h"
#include "ir/program.h"

namespace torc::compiler {

/// Virtual mesh of as many dimensions as the torus: sum (d_i - 1) messages per node. Errors: a
/// damaged torus.
llvm::Expected<ir::Program> lowerVirtualMeshAlltoall(const CollectiveSpec& spec);

/// Bruck's all-to-all along one axis after another: sum ceil(log2 d_i) messages, each of half of a
/// node's data; along lines exchanges. Errors: a damaged torus.
llvm::Expected<ir::Program> lowerBruckAlltoall(const CollectiveSpec& spec);

/// Ring all-to-alls [own]: sum floor(d_i / 2) steps (passes/exchanges/ring_alltoall.cc); along
/// lines and among cores exchanges. With as many colors as dimensions, in rotated orders, all links
/// carry the load of the lower bound, in N max floor(d_i / 2) steps. Errors: a damaged torus.
llvm::Expected<ir::Program> lowerRingAlltoall(const CollectiveSpec& spec);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_ALLTOALL_COMBINING_H_
