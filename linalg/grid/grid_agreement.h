// Agreement of ranks: a check that fails on one rank fails on all, with the same code and text;
// arguments that must be equal on all ranks are compared.
#ifndef TORC_LINALG_GRID_GRID_AGREEMENT_H_
#define TORC_LINALG_GRID_GRID_AGREEMENT_H_

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include <mpi.h>

#include "linalg/failure.h"

namespace torc::linalg {

/// Names and values of arguments; the same names, in the same order, on every rank.
using SameArguments = std::vector<std::pair<const char*, std::int64_t>>;

/// Runs `body`. Its failure, if it throws one; exceptions of memory are failures, too.
Failure failureOf(const std::function<void()>& body);

/// Collective. Runs `check`, and throws the failure of the first rank whose check failed, with its
/// number unless all fail; else TORC_LINALG_ERR_MISMATCH if an argument of `same` differs. `check`
/// may set values of `same`.
void agree(MPI_Comm comm, const std::function<void()>& check, const SameArguments& same = {});

}  // namespace torc::linalg

#endif  // TORC_LINALG_GRID_GRID_AGREEMENT_H_
