// Contenders: the schedule files that tuning compares with a library's own choice, offline
// (runtime/run/tuner.h) and in a program (runtime/pmpi/tuning), and the rule by which one wins.
#ifndef TORC_RUNTIME_JOB_CONTENDERS_H_
#define TORC_RUNTIME_JOB_CONTENDERS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "schedules/library/index.h"

namespace torc::runtime {

/// Typical seconds of a contender's call: the lower quartile of its measured times, as other work
/// on a core only lengthens them.
double typicalSeconds(std::span<const double> turns);

/// Seconds that the library predicts for a call of `bytes`: a straight line through the two sizes
/// that were predicted, continued beyond them.
double predictedSeconds(const LibraryEntry& entry, std::uint64_t bytes);

/// Seconds by which a program's call of MPI's own function, which is first handed back, exceeds the
/// measured one; a served call exceeds its schedule's by nothing (docs/sites/tuning.md).
inline constexpr double kHandingBack = 1e-7;

/// The winner, from the seconds of a call of each contender; infinite: excluded. Contenders within
/// a factor of 1.03 of the fastest are indistinguishable by measurement. Of these the first in
/// `preferred` wins, otherwise the fastest schedule, otherwise MPI. `mpis`: the number of MPI's own
/// function, to whose time kHandingBack is added, or of contenders if it is none of them.
std::size_t pickWinner(std::span<const double> seconds, std::size_t mpis,
                       std::span<const std::size_t> preferred);

/// The files that the library has for a collective on a shape, each once: first those of its
/// entries, by distance of their sizes from `bytes`, then the candidates.
std::vector<std::uint32_t> contenders(const LibraryIndex& index, std::uint32_t shape,
                                      Collective collective, std::uint64_t bytes);

/// An entry to load `file` and to try it for calls of one byte or more.
LibraryEntry entryOfContender(std::uint32_t shape, Collective collective, std::uint32_t file);

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_JOB_CONTENDERS_H_
