// Matrices of pseudo-random numbers, for programs that exercise linalg/.
#ifndef TORC_LINALG_RUN_RANDOM_MATRIX_H_
#define TORC_LINALG_RUN_RANDOM_MATRIX_H_

#include <cstdint>

namespace torc::linalg {

/// An element of a matrix, from -0.5 to 0.5.
inline double randomElement(std::int64_t row, std::int64_t column, int matrix) {
  std::uint64_t x = static_cast<std::uint64_t>(row) * 0x9e3779b97f4a7c15u +
                    static_cast<std::uint64_t>(column) * 0xc2b2ae3d27d4eb4fu +
                    static_cast<std::uint64_t>(matrix) * 0x165667b19e3779f9u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  x ^= x >> 31;
  return static_cast<double>(x >> 11) / static_cast<double>(std::uint64_t{1} << 53) - 0.5;
}

}  // namespace torc::linalg

#endif  // TORC_LINALG_RUN_RANDOM_MATRIX_H_
