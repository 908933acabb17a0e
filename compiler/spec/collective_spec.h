// What is to be compiled: a collective on a shape.
#ifndef TORC_COMPILER_SPEC_COLLECTIVE_SPEC_H_
#define TORC_COMPILER_SPEC_COLLECTIVE_SPEC_H_

#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>

#include "schedules/schedule.h"

namespace torc::compiler {

struct CollectiveSpec {
  Collective collective = Collective::kAllreduce;
  Topology topology;  // valid
};

/// Ranks of a node.
std::uint32_t coresOf(const Topology& topology);
/// The same collective among the nodes, as if each were one rank.
CollectiveSpec networkOf(const CollectiveSpec& spec);

/// Reads the name of a row: `allreduce`. The error lists them.
llvm::Expected<Collective> parseCollective(llvm::StringRef name);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_SPEC_COLLECTIVE_SPEC_H_
