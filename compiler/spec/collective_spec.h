// The subject of a compilation: a collective on a shape.
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

/// Ranks per node.
std::uint32_t coresOf(const Topology& topology);
/// The same collective among the nodes, with one rank each.
CollectiveSpec networkOf(const CollectiveSpec& spec);

/// The collective with that name, like `allreduce`. The error lists the names.
llvm::Expected<Collective> parseCollective(llvm::StringRef name);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_SPEC_COLLECTIVE_SPEC_H_
