// Spare schedules of a library's ranges: autotuning measures them on the real machine, because a
// prediction may be wrong.
#ifndef TORC_COMPILER_LIBRARY_SPARES_H_
#define TORC_COMPILER_LIBRARY_SPARES_H_

#include <cstddef>
#include <vector>

#include "compiler/library/ranges.h"

namespace torc::compiler {

/// Up to `count` schedules for the sizes of a range other than the chosen one. They are, in this
/// order:
///  - for rings, the chosen one in 8 chunks, often faster on real networks even if the model
///    predicts no gain;
///  - of the simulated ones, the best of each other algorithm;
///  - the chosen one in 4 chunks;
///  - the next best simulated ones.
/// The rank of a schedule is its smallest ratio to the best time over all sizes; large ratios are
/// excluded.
std::vector<Candidate> sparesOf(const ScheduleRange& range, std::size_t count);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_LIBRARY_SPARES_H_
