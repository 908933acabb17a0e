// An LU factorization with checked arguments, for the C API's functions for each layout.
#ifndef TORC_LINALG_API_LU_CALL_H_
#define TORC_LINALG_API_LU_CALL_H_

#include <vector>

#include "linalg/api/api_call.h"

namespace torc::linalg {

/// torc_linalg_?lu. Gives the pivots and the first zero one, or -1, on every rank. Collective, as
/// its failure is.
template <typename T>
std::int64_t factor(const ProcessGrid& grid, const torc_linalg_matrix* matrix, T* a,
                    std::int64_t lda, int pivoting, std::vector<std::int64_t>* exchanges,
                    const torc_linalg_options* given);

/// TORC_LINALG_SINGULAR, unless `column` is -1.
void checkPivot(std::int64_t column);

}  // namespace torc::linalg

#endif  // TORC_LINALG_API_LU_CALL_H_
