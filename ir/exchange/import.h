// Import: turns programs of ranks from other systems into a schedule.
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
  /// Of each operation, its origin: `x.xml:57: error: gpu 3 tb 1 step 4`, or a note that it is a
  /// copy at the end, without a step.
  std::vector<std::string> sources;
  std::uint64_t steps = 0;    // in the programs
  std::uint32_t classes = 0;  // classes of ranks with equal relative operations
};

/// Makes a schedule of `programs` on `topology`, which has the same ranks; if the programs have
/// links, on their graph, and axes only name the ranks. Ranks with equal relative operations share
/// them; otherwise guards distinguish the ranks. Dependences are inferred from the memory that
/// steps touch. Each frame has a slot of its own. Faults of the program itself are errors that name
/// the step: unmatched messages, deadlocks, races, wrong chunks, incomplete sums. The verifier
/// finds repeated contributions.
llvm::Expected<ImportedSchedule> importPrograms(const RankPrograms& programs,
                                                const Topology& topology);

}  // namespace torc::ir

#endif  // TORC_IR_EXCHANGE_IMPORT_H_
