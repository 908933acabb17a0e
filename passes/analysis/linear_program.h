// Linear programs are solved one at a time: COIN-OR's factorization counts its calls in a global
// variable (CoinUtils 2.11, `ets_count`), which threads would race for.
#ifndef TORC_PASSES_ANALYSIS_LINEAR_PROGRAM_H_
#define TORC_PASSES_ANALYSIS_LINEAR_PROGRAM_H_

#include <mutex>

#include <coin/ClpSimplex.hpp>

namespace torc::passes {

/// Solves `program` by the primal simplex method. False where there is no optimum, or none is
/// found.
inline bool solveLinearProgram(ClpSimplex& program) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  return program.primal() == 0 && program.isProvenOptimal();
}

}  // namespace torc::passes

#endif  // TORC_PASSES_ANALYSIS_LINEAR_PROGRAM_H_
