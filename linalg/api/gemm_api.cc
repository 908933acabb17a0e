// The C API's multiplications.
#include <limits>
#include <tuple>

#include "linalg/api/gemm_call.h"
#include "linalg/grid/choose_grid.h"
#include "linalg/multiply/cannon.h"
#include "linalg/multiply/summa.h"

namespace torc::linalg {
namespace {

/// The shape of a multiplication with unchecked descriptors, on a grid of `rows` and `columns`.
GemmShape gemmShape(int rows, int columns, const torc_linalg_matrix* a, const torc_linalg_matrix* b,
                    const torc_linalg_matrix* c, std::int64_t panel) {
  if (a == nullptr || b == nullptr || c == nullptr)
    throw Failure{TORC_LINALG_ERR_ARGUMENT, "a matrix has no descriptor"};
  checkMatrix(*a, rows, columns, "A");
  checkMatrix(*b, rows, columns, "B");
  checkMatrix(*c, rows, columns, "C");
  const GemmShape shape = {*a, *b, *c, panel == 0 ? 256 : panel};
  checkGemm(shape);
  if (shape.byCannon()) {
    checkCannon(rows, columns, shape);
    return shape;
  }
  const std::int64_t longest = std::max(rowsOf(*c, rows).most(), columnsOf(*c, columns).most());
  const std::int64_t width = shape.width(rows, columns);
  if (longest > 0 && width > INT32_MAX / longest)
    throw Failure{TORC_LINALG_ERR_ARGUMENT, "a panel of " + std::to_string(width) + " x " +
                                                std::to_string(longest) +
                                                " is more than MPI counts in a message"};
  return shape;
}

double memoryOf(int rows, int columns, int layers, const GemmShape& shape, int element) {
  return (shape.byCannon() ? cannonMemory : gemmMemory)(rows, columns, layers, shape, element);
}

/// Allocates and runs one algorithm of multiplication. Collective.
template <typename Multiplication>
void run(const ProcessGrid& grid, const Options& options, Multiplication multiplication) {
  agree(grid.all, [&] { multiplication.allocate(); });
  Messages messages(options.barriers);
  multiplication.run(messages, options.progress);
  report(options, messages);
}

void checkElement(int element) {
  if (element != 4 && element != 8)
    throw Failure{TORC_LINALG_ERR_ARGUMENT,
                  "elements of " + std::to_string(element) + " bytes: they have 4 or 8"};
}

}  // namespace

template <typename T>
void gemm(const ProcessGrid& grid, T alpha, const torc_linalg_matrix* a_matrix, const T* a,
          std::int64_t lda, const torc_linalg_matrix* b_matrix, const T* b, std::int64_t ldb,
          T beta, const torc_linalg_matrix* c_matrix, T* c, std::int64_t ldc,
          const torc_linalg_options* given) {
  const Options options(given);
  GemmShape shape;
  LocalMatrix<T> local_a, local_b, local_c;
  const auto check = [&] {
    shape = gemmShape(grid.rows, grid.columns, a_matrix, b_matrix, c_matrix, options.panel);
    // A and B are only read.
    local_a = localMatrix(grid, a_matrix, const_cast<T*>(a), lda, "A");
    local_b = localMatrix(grid, b_matrix, const_cast<T*>(b), ldb, "B");
    local_c = localMatrix(grid, c_matrix, c, ldc, "C");
    checkMemory(options, memoryOf(grid.rows, grid.columns, grid.layers, shape, sizeof(T)), grid);
  };
  SameArguments same = {{"alpha", bitsOf(alpha)}, {"beta", bitsOf(beta)}};
  addMatrix(same, a_matrix, "the descriptor of A");
  addMatrix(same, b_matrix, "the descriptor of B");
  addMatrix(same, c_matrix, "the descriptor of C");
  options.addTo(same);
  agree(grid.all, check, same);
  if (shape.byCannon())
    run(grid, options, Cannon<T>(grid, shape, alpha, local_a, local_b, beta, local_c));
  else
    run(grid, options, Summa<T>(grid, shape, alpha, local_a, local_b, beta, local_c));
}

template void gemm(const ProcessGrid&, double, const torc_linalg_matrix*, const double*,
                   std::int64_t, const torc_linalg_matrix*, const double*, std::int64_t, double,
                   const torc_linalg_matrix*, double*, std::int64_t, const torc_linalg_options*);
template void gemm(const ProcessGrid&, float, const torc_linalg_matrix*, const float*, std::int64_t,
                   const torc_linalg_matrix*, const float*, std::int64_t, float,
                   const torc_linalg_matrix*, float*, std::int64_t, const torc_linalg_options*);

}  // namespace torc::linalg

using namespace torc::linalg;

int torc_linalg_dgemm(torc_linalg_grid* grid, double alpha, const torc_linalg_matrix* a_matrix,
                      const double* a, int64_t lda, const torc_linalg_matrix* b_matrix,
                      const double* b, int64_t ldb, double beta, const torc_linalg_matrix* c_matrix,
                      double* c, int64_t ldc, const torc_linalg_options* options) {
  return onGrid(grid, gemm<double>, alpha, a_matrix, a, lda, b_matrix, b, ldb, beta, c_matrix, c,
                ldc, options);
}

int torc_linalg_sgemm(torc_linalg_grid* grid, float alpha, const torc_linalg_matrix* a_matrix,
                      const float* a, int64_t lda, const torc_linalg_matrix* b_matrix,
                      const float* b, int64_t ldb, float beta, const torc_linalg_matrix* c_matrix,
                      float* c, int64_t ldc, const torc_linalg_options* options) {
  return onGrid(grid, gemm<float>, alpha, a_matrix, a, lda, b_matrix, b, ldb, beta, c_matrix, c,
                ldc, options);
}

int torc_linalg_gemm_memory(int rows, int columns, int layers, const torc_linalg_matrix* a_matrix,
                            const torc_linalg_matrix* b_matrix, const torc_linalg_matrix* c_matrix,
                            int64_t panel, int element, int64_t* bytes) {
  return guarded([&] {
    if (rows < 1 || columns < 1 || layers < 1 || bytes == nullptr)
      throw Failure{TORC_LINALG_ERR_ARGUMENT, "sizes of a grid are 1 or more, and bytes not null"};
    checkElement(element);
    const GemmShape shape = gemmShape(rows, columns, a_matrix, b_matrix, c_matrix, panel);
    *bytes = static_cast<std::int64_t>(memoryOf(rows, columns, layers, shape, element));
  });
}

int torc_linalg_choose_gemm_grid(int processes, const torc_linalg_matrix* a_matrix,
                                 const torc_linalg_matrix* b_matrix,
                                 const torc_linalg_matrix* c_matrix, int64_t panel, int element,
                                 int64_t memory, int* rows, int* columns, int* layers) {
  return guarded([&] {
    if (rows == nullptr || columns == nullptr || layers == nullptr)
      throw Failure{TORC_LINALG_ERR_ARGUMENT, "an output argument is null"};
    checkElement(element);
    // Sizes too large locally on one process may fit on more: the call itself checks the grid.
    const int side = std::max(1, processes);
    const GemmShape shape = gemmShape(side, side, a_matrix, b_matrix, c_matrix, panel);
    const auto words = [&](const GridSizes& grid) {
      const auto& [r, q, c] = grid;
      if (!shape.byCannon()) return gemmWords(r, q, c, shape);
      return r == q ? cannonWords(r, q, c, shape) : std::numeric_limits<double>::infinity();
    };
    const auto memory_of = [&](const GridSizes& grid) {
      return memoryOf(grid.rows, grid.columns, grid.layers, shape, element);
    };
    std::tie(*rows, *columns, *layers) =
        chooseGrid(processes, words, memory_of, static_cast<double>(memory)).all();
  });
}
