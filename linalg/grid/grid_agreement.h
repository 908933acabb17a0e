// Agreement of ranks: a check that fails on one rank fails on all, with the same code and text;
// arguments that must be equal on all ranks are compared.
#ifndef TORC_LINALG_GRID_GRID_AGREEMENT_H_
#define TORC_LINALG_GRID_GRID_AGREEMENT_H_

#include <cstdint>
#include <utility>
#include <vector>

#include <mpi.h>

#include "linalg/status.h"

namespace torc::linalg {

/// Names and values of arguments; the same names, in the same order, on every rank.
using SameArguments = std::vector<std::pair<const char*, std::int64_t>>;

/// Collective. The status of the first rank whose check failed, with its number unless all fail
/// alike; else TORC_LINALG_ERR_MISMATCH if an argument of `same` differs; else OK.
Status agree(MPI_Comm comm, const Status& own, const SameArguments& same);

}  // namespace torc::linalg

#endif  // TORC_LINALG_GRID_GRID_AGREEMENT_H_
