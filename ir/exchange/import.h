// Import: programs of ranks, as other systems write them, as a schedule.
#ifndef TORC_IR_EXCHANGE_IMPORT_H_
#define TORC_IR_EXCHANGE_IMPORT_H_

#include <cstdint>
#include <string>
#include <vector>

#include <llvm/Support/Error.h>

#include "ir/exchange/rank_programs.h"
#include "schedules/schedule.h"

namespace torc::ir {

struct ImportedSchedule {
  Schedule schedule;
  /// Of each operation, what it was made of: `x.xml:57: error: gpu 3 tb 1 step 4`, or, of a
  /// copy that no step has, that it is at the end.
  std::vector<std::string> sources;
  std::uint64_t steps = 0;    // that there were
  std::uint32_t classes = 0;  // ranks that do the same, seen from themselves, are one
};

/// Makes a schedule of `programs` on `topology`, whose ranks are theirs; on the graph of their
/// links, where they have any, and axes only say where ranks are. Ranks that do the same,
/// relative to themselves, share operations; where not all do, guards tell them apart. What must
/// keep its order is inferred from what steps touch. Each frame has a slot of its own. What can be
/// told of the program itself is an error that names the step: messages that do not match,
/// deadlocks, races, wrong chunks. That sums are whole, the verifier says.
llvm::Expected<ImportedSchedule> importPrograms(const RankPrograms& programs,
                                                const Topology& topology);

}  // namespace torc::ir

#endif  // TORC_IR_EXCHANGE_IMPORT_H_
