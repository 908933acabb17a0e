// The C API's multiplications.
#include <limits>

#include "linalg/api/gemm_call.h"
#include "linalg/grid/choose_grid.h"
#include "linalg/multiply/cannon.h"
#include "linalg/multiply/summa.h"

namespace torc::linalg {
namespace {

/// The shape of a multiplication with unchecked descriptors, on a grid of `rows` and `columns`.
Status gemmShape(int rows, int columns, const torc_linalg_matrix* a, const torc_linalg_matrix* b,
                 const torc_linalg_matrix* c, std::int64_t panel, GemmShape* shape) {
  if (a == nullptr || b == nullptr || c == nullptr)
    return failure(TORC_LINALG_ERR_ARGUMENT, "a matrix has no descriptor");
  if (Status status =
          firstOf({checkMatrix(*a, rows, columns, "A"), checkMatrix(*b, rows, columns, "B"),
                   checkMatrix(*c, rows, columns, "C")});
      !status.ok())
    return status;
  *shape = {*a, *b, *c, panel == 0 ? 256 : panel};
  if (Status status = checkGemm(*shape); !status.ok()) return status;
  if (shape->byCannon()) return checkCannon(rows, columns, *shape);
  const std::int64_t longest = std::max(rowsOf(*c, rows).most(), columnsOf(*c, columns).most());
  const std::int64_t width = shape->width(rows, columns);
  if (longest > 0 && width > INT32_MAX / longest)
    return failure(TORC_LINALG_ERR_ARGUMENT, "a panel of " + std::to_string(width) + " x " +
                                                 std::to_string(longest) +
                                                 " is more than MPI counts in a message");
  return {};
}

double memoryOf(int rows, int columns, int layers, const GemmShape& shape, int element) {
  return (shape.byCannon() ? cannonMemory : gemmMemory)(rows, columns, layers, shape, element);
}

/// Allocates and runs one algorithm of multiplication. Collective.
template <typename Multiplication>
Status run(const ProcessGrid& grid, const Options& options, Multiplication multiplication) {
  if (Status status = allocated(grid.all, [&] { multiplication.allocate(); }); !status.ok())
    return status;
  Messages messages(options.barriers);
  multiplication.run(messages, options.progress);
  report(options, messages);
  return {};
}

Status checkElement(int element) {
  if (element != 4 && element != 8)
    return failure(TORC_LINALG_ERR_ARGUMENT,
                   "elements of " + std::to_string(element) + " bytes: they have 4 or 8");
  return {};
}

}  // namespace

template <typename T>
Status gemm(const ProcessGrid& grid, T alpha, const torc_linalg_matrix* a_matrix, const T* a,
            std::int64_t lda, const torc_linalg_matrix* b_matrix, const T* b, std::int64_t ldb,
            T beta, const torc_linalg_matrix* c_matrix, T* c, std::int64_t ldc,
            const torc_linalg_options* given) {
  const Options options(given);
  GemmShape shape;
  LocalMatrix<const T> local_a, local_b;
  LocalMatrix<T> local_c;
  Status own =
      gemmShape(grid.rows, grid.columns, a_matrix, b_matrix, c_matrix, options.panel, &shape);
  if (own.ok())
    own = firstOf(
        {localMatrix(grid, a_matrix, a, lda, "A", &local_a),
         localMatrix(grid, b_matrix, b, ldb, "B", &local_b),
         localMatrix(grid, c_matrix, c, ldc, "C", &local_c),
         checkMemory(options, memoryOf(grid.rows, grid.columns, grid.layers, shape, sizeof(T)),
                     grid)});
  SameArguments same = {{"alpha", bitsOf(alpha)}, {"beta", bitsOf(beta)}};
  addMatrix(same, a_matrix, "the descriptor of A");
  addMatrix(same, b_matrix, "the descriptor of B");
  addMatrix(same, c_matrix, "the descriptor of C");
  options.addTo(same);
  if (Status status = agree(grid.all, own, same); !status.ok()) return status;

  if (shape.byCannon())
    return run(grid, options, Cannon<T>(grid, shape, alpha, local_a, local_b, beta, local_c));
  return run(grid, options, Summa<T>(grid, shape, alpha, local_a, local_b, beta, local_c));
}

template Status gemm(const ProcessGrid&, double, const torc_linalg_matrix*, const double*,
                     std::int64_t, const torc_linalg_matrix*, const double*, std::int64_t, double,
                     const torc_linalg_matrix*, double*, std::int64_t, const torc_linalg_options*);
template Status gemm(const ProcessGrid&, float, const torc_linalg_matrix*, const float*,
                     std::int64_t, const torc_linalg_matrix*, const float*, std::int64_t, float,
                     const torc_linalg_matrix*, float*, std::int64_t, const torc_linalg_options*);

}  // namespace torc::linalg

using namespace torc::linalg;

int torc_linalg_dgemm(torc_linalg_grid* grid, double alpha, const torc_linalg_matrix* a_matrix,
                      const double* a, int64_t lda, const torc_linalg_matrix* b_matrix,
                      const double* b, int64_t ldb, double beta, const torc_linalg_matrix* c_matrix,
                      double* c, int64_t ldc, const torc_linalg_options* options) {
  return guarded(grid, [&](const ProcessGrid& g) {
    return gemm(g, alpha, a_matrix, a, lda, b_matrix, b, ldb, beta, c_matrix, c, ldc, options);
  });
}

int torc_linalg_sgemm(torc_linalg_grid* grid, float alpha, const torc_linalg_matrix* a_matrix,
                      const float* a, int64_t lda, const torc_linalg_matrix* b_matrix,
                      const float* b, int64_t ldb, float beta, const torc_linalg_matrix* c_matrix,
                      float* c, int64_t ldc, const torc_linalg_options* options) {
  return guarded(grid, [&](const ProcessGrid& g) {
    return gemm(g, alpha, a_matrix, a, lda, b_matrix, b, ldb, beta, c_matrix, c, ldc, options);
  });
}

int torc_linalg_gemm_memory(int rows, int columns, int layers, const torc_linalg_matrix* a_matrix,
                            const torc_linalg_matrix* b_matrix, const torc_linalg_matrix* c_matrix,
                            int64_t panel, int element, int64_t* bytes) {
  return guarded([&]() -> Status {
    if (rows < 1 || columns < 1 || layers < 1 || bytes == nullptr)
      return failure(TORC_LINALG_ERR_ARGUMENT, "sizes of a grid are 1 or more, and bytes not null");
    GemmShape shape;
    if (Status status = firstOf({checkElement(element), gemmShape(rows, columns, a_matrix, b_matrix,
                                                                  c_matrix, panel, &shape)});
        !status.ok())
      return status;
    *bytes = static_cast<std::int64_t>(memoryOf(rows, columns, layers, shape, element));
    return {};
  });
}

int torc_linalg_choose_gemm_grid(int processes, const torc_linalg_matrix* a_matrix,
                                 const torc_linalg_matrix* b_matrix,
                                 const torc_linalg_matrix* c_matrix, int64_t panel, int element,
                                 int64_t memory, int* rows, int* columns, int* layers) {
  return guarded([&]() -> Status {
    if (rows == nullptr || columns == nullptr || layers == nullptr)
      return failure(TORC_LINALG_ERR_ARGUMENT, "an output argument is null");
    // Sizes too large locally on one process may fit on more: the call itself checks the grid.
    GemmShape shape;
    if (Status status = firstOf(
            {checkElement(element), gemmShape(std::max(1, processes), std::max(1, processes),
                                              a_matrix, b_matrix, c_matrix, panel, &shape)});
        !status.ok())
      return status;
    GridSizes sizes;
    const Status status = chooseGrid(
        processes,
        [&](int r, int q, int c) {
          if (!shape.byCannon()) return gemmWords(r, q, c, shape);
          return r == q ? cannonWords(r, q, c, shape) : std::numeric_limits<double>::infinity();
        },
        [&](int r, int q, int c) { return memoryOf(r, q, c, shape, element); },
        static_cast<double>(memory), &sizes);
    if (status.ok()) {
      *rows = sizes.rows;
      *columns = sizes.columns;
      *layers = sizes.layers;
    }
    return status;
  });
}
