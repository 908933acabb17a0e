// An LU factorization with checked arguments, for the C API's functions for each layout.
#ifndef TORC_LINALG_API_LU_CALL_H_
#define TORC_LINALG_API_LU_CALL_H_

#include <vector>

#include "linalg/api/api_call.h"

namespace torc::linalg {

/// torc_linalg_?lu. `exchanges`, `column`: on every rank, the pivots and the first zero one or -1.
/// The call and its status are collective.
template <typename T>
Status factor(const ProcessGrid& grid, const torc_linalg_matrix* matrix, T* a, std::int64_t lda,
              int pivoting, std::vector<std::int64_t>* exchanges, std::int64_t* column,
              const torc_linalg_options* given);

}  // namespace torc::linalg

#endif  // TORC_LINALG_API_LU_CALL_H_
