// Limits of the size of schedules that passes make: beyond them a compilation would exhaust the
// memory instead of reporting an error.
#ifndef TORC_PASSES_ANALYSIS_LIMITS_H_
#define TORC_PASSES_ANALYSIS_LIMITS_H_

#include <cstdint>

#include <llvm/Support/Error.h>

namespace torc::passes {

inline constexpr std::uint64_t kMaxOperations = 1u << 22;
inline constexpr std::uint64_t kMaxDependences = 1u << 25;

/// Ok, or an error with the number and the limit. Numbers may be upper estimates.
llvm::Error checkLimits(std::uint64_t operations, std::uint64_t dependences);

}  // namespace torc::passes

#endif  // TORC_PASSES_ANALYSIS_LIMITS_H_
