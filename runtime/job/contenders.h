// Contenders: the files that tuning tries in the place of a library's own choice, offline
// (runtime/run/tuner.h) and in a program (runtime/pmpi/tuning), and the rule by which one wins.
#ifndef TORC_RUNTIME_JOB_CONTENDERS_H_
#define TORC_RUNTIME_JOB_CONTENDERS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "schedules/library/index.h"

namespace torc::runtime {

/// Seconds of a call of a contender: the lower quartile of what its turns took. Other work on a
/// core adds to the turns above it.
double typicalSeconds(std::span<const double> turns);

/// The winner, by the seconds of a call of each contender; infinite: it is out. Of contenders that
/// take at most 1.03 times as long as the fastest, which no measurement tells apart, it is the
/// first of `preferred`, else the fastest schedule, else MPI's own. `mpis`: the number of MPI's
/// own, or of contenders where it is none.
std::size_t pickWinner(std::span<const double> seconds, std::size_t mpis,
                       std::span<const std::size_t> preferred);

/// The files that the library has for a collective on a shape, each once: those of its entries,
/// those whose sizes are nearest to `bytes` first, then the candidates.
std::vector<std::uint32_t> contenders(const LibraryIndex& index, std::uint32_t shape,
                                      Collective collective, std::uint64_t bytes);

/// An entry by which `file` can be loaded and tried for calls of one byte or more.
LibraryEntry entryOfContender(std::uint32_t shape, Collective collective, std::uint32_t file);

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_JOB_CONTENDERS_H_
