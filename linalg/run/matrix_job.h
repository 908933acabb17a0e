// Shared by torc-gemm and torc-lu: their arguments, the grid, matrices of random numbers, a line of
// progress and one of times.
#ifndef TORC_LINALG_RUN_MATRIX_JOB_H_
#define TORC_LINALG_RUN_MATRIX_JOB_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "linalg/run/random_matrix.h"
#include "linalg/torc_linalg.h"

namespace torc::linalg {

struct Arguments {
  std::int64_t m = 0, n = 0, k = 0;  // 0: as n; n: 1000
  std::int64_t block = 64, panel = 0, sides = 1;
  std::int64_t memory = 0;                // bytes of a process; 0: no limit
  int rows = 0, columns = 0, layers = 0;  // 0: chosen automatically
  int repeat = 1;
  bool single = false, pivoting = true, check = false, barriers = false;
};

int worldRank();
int worldSize();

/// The body of main(): initialises and finalises MPI. In between it prints --help or --version on
/// request, or one line for a wrong command line (returning 2), or calls `run` and returns its
/// result. `name`: torc-gemm or torc-lu.
int runProgram(const char* name, int argc, char** argv,
               const std::function<int(const Arguments&)>& run);

/// Prints to standard output, on rank 0.
void say(const char* format, ...) __attribute__((format(printf, 1, 2)));

/// Ends the program with status 1, with a line on rank 0, if a call of the library failed: all
/// ranks have the same result.
void require(int result);

/// Its elements on this process of layer 0; none on others.
template <typename T>
std::vector<T> randomMatrix(torc_linalg_grid* grid, const torc_linalg_matrix& matrix, int number);

/// The leading dimension on this process, at least 1.
std::int64_t leadingOf(torc_linalg_grid* grid, const torc_linalg_matrix& matrix);

/// The options of a call, with a line of progress on a terminal, and times.
torc_linalg_options optionsOf(const Arguments& arguments, torc_linalg_times* times);

/// Ends the line of progress, and prints `seconds`, `flops` per second, and the mean of the ranks'
/// times.
void sayTimes(const char* what, double seconds, double flops, const torc_linalg_times& times);

}  // namespace torc::linalg

#endif  // TORC_LINALG_RUN_MATRIX_JOB_H_
