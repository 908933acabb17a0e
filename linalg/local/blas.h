// BLAS and LAPACK on local matrices, for both precisions.
#ifndef TORC_LINALG_LOCAL_BLAS_H_
#define TORC_LINALG_LOCAL_BLAS_H_

#include <algorithm>
#include <cblas.h>
#include <cmath>
#include <cstdint>
#include <lapack.h>
#include <vector>

#include "linalg/grid/messages.h"

// Operations about to be done by a process: a simulated machine adds their time instead
// (bench/smpi/dense.cc); any other executes them.
#ifndef TORC_LINALG_FLOPS
#define TORC_LINALG_FLOPS(count) ((void)0)
#endif

namespace torc::linalg {

/// C += alpha A B.
inline void multiplyAdd(double alpha, const LocalMatrix<double>& a, const LocalMatrix<double>& b,
                        const LocalMatrix<double>& c) {
  TORC_LINALG_FLOPS(2.0 * static_cast<double>(c.rows * c.columns * a.columns));
  if (c.rows > 0 && c.columns > 0 && a.columns > 0)
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, static_cast<int>(c.rows),
                static_cast<int>(c.columns), static_cast<int>(a.columns), alpha, a.data,
                static_cast<int>(a.leading), b.data, static_cast<int>(b.leading), 1, c.data,
                static_cast<int>(c.leading));
}
inline void multiplyAdd(float alpha, const LocalMatrix<float>& a, const LocalMatrix<float>& b,
                        const LocalMatrix<float>& c) {
  TORC_LINALG_FLOPS(2.0 * static_cast<double>(c.rows * c.columns * a.columns));
  if (c.rows > 0 && c.columns > 0 && a.columns > 0)
    cblas_sgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, static_cast<int>(c.rows),
                static_cast<int>(c.columns), static_cast<int>(a.columns), alpha, a.data,
                static_cast<int>(a.leading), b.data, static_cast<int>(b.leading), 1, c.data,
                static_cast<int>(c.leading));
}

/// B := T^-1 B (side left) or B T^-1 (right), with the triangle T of `triangle`.
inline void solveTriangle(CBLAS_SIDE side, CBLAS_UPLO part, CBLAS_DIAG diagonal,
                          const LocalMatrix<double>& triangle, const LocalMatrix<double>& b) {
  TORC_LINALG_FLOPS(static_cast<double>(b.rows * b.columns * triangle.rows));
  if (b.rows > 0 && b.columns > 0)
    cblas_dtrsm(CblasColMajor, side, part, CblasNoTrans, diagonal, static_cast<int>(b.rows),
                static_cast<int>(b.columns), 1, triangle.data, static_cast<int>(triangle.leading),
                b.data, static_cast<int>(b.leading));
}
inline void solveTriangle(CBLAS_SIDE side, CBLAS_UPLO part, CBLAS_DIAG diagonal,
                          const LocalMatrix<float>& triangle, const LocalMatrix<float>& b) {
  TORC_LINALG_FLOPS(static_cast<double>(b.rows * b.columns * triangle.rows));
  if (b.rows > 0 && b.columns > 0)
    cblas_strsm(CblasColMajor, side, part, CblasNoTrans, diagonal, static_cast<int>(b.rows),
                static_cast<int>(b.columns), 1, triangle.data, static_cast<int>(triangle.leading),
                b.data, static_cast<int>(b.leading));
}

/// LU with partial pivoting, in place. pivots[i] is the row exchanged with row i, from 0. Returns
/// the first column whose pivot is zero, or -1.
template <typename T>
int factorWithPivots(const LocalMatrix<T>& a, std::vector<int>& pivots) {
  pivots.resize(static_cast<std::size_t>(std::min(a.rows, a.columns)));
  if (pivots.empty()) return -1;
  TORC_LINALG_FLOPS(static_cast<double>(a.rows * a.columns * std::min(a.rows, a.columns)));
  const int rows = static_cast<int>(a.rows);
  const int columns = static_cast<int>(a.columns);
  const int leading = static_cast<int>(a.leading);
  int info = 0;
  if constexpr (sizeof(T) == sizeof(double))
    LAPACK_dgetrf(&rows, &columns, a.data, &leading, pivots.data(), &info);
  else
    LAPACK_sgetrf(&rows, &columns, a.data, &leading, pivots.data(), &info);
  for (int& pivot : pivots)
    --pivot;
  return info > 0 ? info - 1 : -1;
}

/// LU without pivoting of a square matrix, in place, by recursive halves. Returns the first column
/// whose pivot is zero, where it stops, or -1.
template <typename T>
int factorWithoutPivots(const LocalMatrix<T>& a) {
  const std::int64_t n = a.rows;
  if (n <= 8) {
    for (std::int64_t s = 0; s < n; ++s) {
      const T pivot = *a.at(s, s);
      if (pivot == 0) return static_cast<int>(s);
      for (std::int64_t i = s + 1; i < n; ++i)
        *a.at(i, s) /= pivot;
      for (std::int64_t j = s + 1; j < n; ++j) {
        for (std::int64_t i = s + 1; i < n; ++i)
          *a.at(i, j) -= *a.at(i, s) * *a.at(s, j);
      }
    }
    return -1;
  }
  const std::int64_t h = n / 2;
  const LocalMatrix<T> a11 = a.part(0, 0, h, h), a12 = a.part(0, h, h, n - h);
  const LocalMatrix<T> a21 = a.part(h, 0, n - h, h), a22 = a.part(h, h, n - h, n - h);
  if (const int zero = factorWithoutPivots(a11); zero >= 0) return zero;
  solveTriangle(CblasLeft, CblasLower, CblasUnit, a11, a12);
  solveTriangle(CblasRight, CblasUpper, CblasNonUnit, a11, a21);
  multiplyAdd(T{-1}, a21, a12, a22);
  const int zero = factorWithoutPivots(a22);
  return zero < 0 ? zero : zero + static_cast<int>(h);
}

template <typename T>
bool allFinite(const LocalMatrix<T>& a) {
  for (std::int64_t j = 0; j < a.columns; ++j) {
    for (std::int64_t i = 0; i < a.rows; ++i) {
      if (!std::isfinite(*a.at(i, j))) return false;
    }
  }
  return true;
}

}  // namespace torc::linalg

#endif  // TORC_LINALG_LOCAL_BLAS_H_
