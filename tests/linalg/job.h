// Shared by the tests of linalg/: the grids of a number of ranks, and matrices from a formula.
#ifndef TORC_TESTS_LINALG_JOB_H_
#define TORC_TESTS_LINALG_JOB_H_

#include <cstdint>
#include <functional>
#include <source_location>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <mpi.h>

#include "linalg/torc_linalg.h"
#include "tests/mpi/world.h"

namespace torc::linalg {

struct Shape {
  int rows, columns, layers;
};

/// The grid of tests that do not vary sizes, 2x2x2, or 1x1x1 with one rank.
Shape ordinaryShape();

/// Calls `body` on the ranks of each grid that fits into the world, of 1 to 27 processes, one grid
/// after the other.
void forEachShape(const std::function<void(const Shape&)>& body);

#define EXPECT_LINALG_OK(call) EXPECT_EQ(call, TORC_LINALG_OK) << torc_linalg_error_message()
#define ASSERT_LINALG_OK(call) ASSERT_EQ(call, TORC_LINALG_OK) << torc_linalg_error_message()

/// Expects a code, and a message that contains `text`, the same on every rank of `comm`.
void expectError(MPI_Comm comm, int status, int code, const std::string& text,
                 std::source_location place = std::source_location::current());

/// A grid over the first ranks, as many as it has processes, which alone make it; or over those of
/// `comm`, on the torus if they are on one.
class Grid {
 public:
  explicit Grid(const Shape& shape);
  Grid(const Shape& shape, MPI_Comm comm);
  ~Grid();
  Grid(const Grid&) = delete;
  Grid& operator=(const Grid&) = delete;
  operator torc_linalg_grid*() const { return grid_; }
  MPI_Comm comm() const { return comm_; }

  torc_linalg_grid_info info = {};

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  torc_linalg_grid* grid_ = nullptr;
};

/// Declares a grid of ordinaryShape(); ranks outside leave the test.
#define ON_ORDINARY_GRID(grid)                                                 \
  const torc::linalg::Shape shape_of_##grid = torc::linalg::ordinaryShape();   \
  if (torc::worldRank() >=                                                     \
      shape_of_##grid.rows * shape_of_##grid.columns * shape_of_##grid.layers) \
    return;                                                                    \
  const torc::linalg::Grid grid(shape_of_##grid)

using Formula = std::function<double(std::int64_t, std::int64_t)>;

/// Integer elements from -4 to 4: sums of some products are exact, in float, too.
double wholeNumber(std::int64_t row, std::int64_t column, int seed);

/// A pseudo-random number between -1 and 1.
double randomNumber(std::int64_t row, std::int64_t column, int seed);

/// A matrix on layer 0 of a grid, by a formula; `spare` rows separate its columns.
template <typename T>
class Distributed {
 public:
  Distributed(const Grid& grid, const torc_linalg_matrix& matrix, const Formula& formula,
              std::int64_t spare = 0);

  T* data() { return local_.data(); }
  std::int64_t leading() const { return leading_; }
  const torc_linalg_matrix* matrix() const { return &matrix_; }

  /// The whole matrix, by columns, on every rank. Collective.
  std::vector<double> whole() const;

 private:
  template <typename Visit>
  void each(Visit&& visit) const;

  MPI_Comm comm_;
  torc_linalg_grid_info info_;
  torc_linalg_matrix matrix_;
  std::int64_t leading_ = 1;
  std::vector<T> local_;
};

/// Words (of 8 bytes) of the MPI collectives in a program of linalg/, by their calls: words that a
/// multicast, a gather or an exchange brings a process, or that it contributes to a sum.
struct WordCount {
  double words = 0;     // of this process
  double path = 0;      // along the longest path: each collective takes the time of its largest
                        // part, and begins when all of its line have arrived
  double messages = 0;  // collectives along that path
};

/// Starts counting, from zero.
void startCounting();
/// Ends counting.
WordCount endCounting();

/// A collective with `words` on this process; all processes of `comm` call it. Its root, if it
/// sends, has none of its own, but takes as long as the others.
void noteWords(MPI_Comm comm, double words);

}  // namespace torc::linalg

#endif  // TORC_TESTS_LINALG_JOB_H_
