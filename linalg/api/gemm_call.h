// A multiplication with checked arguments, for the C API's functions for each layout.
#ifndef TORC_LINALG_API_GEMM_CALL_H_
#define TORC_LINALG_API_GEMM_CALL_H_

#include "linalg/api/api_call.h"

namespace torc::linalg {

/// C := alpha A B + beta C; torc_linalg_?gemm. Collective, as its failure is.
template <typename T>
void gemm(const ProcessGrid& grid, T alpha, const torc_linalg_matrix* a_matrix, const T* a,
          std::int64_t lda, const torc_linalg_matrix* b_matrix, const T* b, std::int64_t ldb,
          T beta, const torc_linalg_matrix* c_matrix, T* c, std::int64_t ldc,
          const torc_linalg_options* given);

}  // namespace torc::linalg

#endif  // TORC_LINALG_API_GEMM_CALL_H_
