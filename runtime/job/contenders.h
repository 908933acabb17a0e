// Contenders: what tuning tries in the place of a library's own choice, offline
// (runtime/run/tuner.h) and in a program (runtime/pmpi/tuning).
#ifndef TORC_RUNTIME_JOB_CONTENDERS_H_
#define TORC_RUNTIME_JOB_CONTENDERS_H_

#include <cstdint>
#include <vector>

#include "schedules/library/index.h"

namespace torc::runtime {

/// What takes no longer than this times the fastest is as fast: no measurement tells them apart.
inline constexpr double kAsFast = 1.03;

/// The files that the library has for a collective on a shape, each once: those of its entries,
/// those whose sizes are nearest to `bytes` first, then the candidates.
std::vector<std::uint32_t> contenders(const LibraryIndex& index, std::uint32_t shape,
                                      Collective collective, std::uint64_t bytes);

/// An entry by which `file` can be loaded and tried for calls of one byte or more.
LibraryEntry entryOfContender(std::uint32_t shape, Collective collective, std::uint32_t file);

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_JOB_CONTENDERS_H_
