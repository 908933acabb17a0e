// Which schedules a library keeps of a range beside the one that is taken for it: what tuning tries
// on the real machine, where a prediction may be wrong.
#ifndef TORC_COMPILER_LIBRARY_SPARES_H_
#define TORC_COMPILER_LIBRARY_SPARES_H_

#include <cstddef>
#include <vector>

#include "compiler/library/ranges.h"

namespace torc::compiler {

/// Up to `count` schedules for the sizes of a range other than the chosen one: of rings that one in
/// 8 chunks, which real wires like where a model sees no gain; of what was simulated, the best of
/// each other algorithm; the chosen one in 4 chunks; the next ones that were simulated. A schedule
/// is as good as it is at the size where it comes closest to the best one; what is nowhere near is
/// left out.
std::vector<Candidate> sparesOf(const ScheduleRange& range, std::size_t count);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_LIBRARY_SPARES_H_
