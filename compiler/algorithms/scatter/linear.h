// The linear scatter and gather: the root's message to every node, or from it.
#ifndef TORC_COMPILER_ALGORITHMS_SCATTER_LINEAR_H_
#define TORC_COMPILER_ALGORITHMS_SCATTER_LINEAR_H_

#include <cstdint>

#include <llvm/Support/Error.h>

#include "compiler/spec/collective_spec.h"
#include "compiler/spec/program_size.h"
#include "ir/program.h"

namespace torc::compiler {

/// The most nodes that are served: a program has two operations for each.
inline constexpr std::uint32_t kMostLinearNodes = 64;

/// The steps of a scatter or a gather, which wait for nothing; messages that go farthest leave
/// first. Errors: an axis is a line, something is dead, or there are more nodes.
llvm::Expected<ir::Program> lowerLinear(const CollectiveSpec& spec);

ProgramSize estimateLinear(const CollectiveSpec& spec);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_SCATTER_LINEAR_H_
