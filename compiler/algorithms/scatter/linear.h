// The linear scatter and gather: one message between the root and every other node.
#ifndef TORC_COMPILER_ALGORITHMS_SCATTER_LINEAR_H_
#define TORC_COMPILER_ALGORITHMS_SCATTER_LINEAR_H_

#include <cstdint>

#include <llvm/Support/Error.h>

#include "compiler/spec/collective_spec.h"
#include "compiler/spec/program_size.h"
#include "ir/program.h"

namespace torc::compiler {

/// The largest number of nodes: a program has two operations for each.
inline constexpr std::uint32_t kMostLinearNodes = 64;

/// The steps of a scatter or a gather, without dependences; messages to the farthest nodes leave
/// first. Errors: an axis is a line, the torus is damaged, or there are more nodes.
llvm::Expected<ir::Program> lowerLinear(const CollectiveSpec& spec);

ProgramSize estimateLinear(const CollectiveSpec& spec);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_SCATTER_LINEAR_H_
