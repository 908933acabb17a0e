// The C API's LU factorizations.
#include <algorithm>
#include <string>

#include "linalg/api/lu_call.h"
#include "linalg/grid/choose_grid.h"
#include "linalg/lu/factorization.h"

namespace torc::linalg {
namespace {

Status luShape(int rows, int columns, const torc_linalg_matrix* matrix, int pivoting,
               std::int64_t panel, LuShape* shape) {
  if (matrix == nullptr) return failure(TORC_LINALG_ERR_ARGUMENT, "the matrix has no descriptor");
  if (pivoting != TORC_LINALG_NO_PIVOTING && pivoting != TORC_LINALG_TOURNAMENT)
    return failure(TORC_LINALG_ERR_ARGUMENT, "pivoting is " + std::to_string(pivoting) +
                                                 ": it is 0 (none) or 1 (tournament)");
  if (Status status = checkMatrix(*matrix, rows, columns, "the matrix"); !status.ok())
    return status;
  *shape = {*matrix, pivoting == TORC_LINALG_TOURNAMENT, panel == 0 ? 256 : panel};
  return checkLu(*shape);
}

}  // namespace

template <typename T>
Status factor(const ProcessGrid& grid, const torc_linalg_matrix* matrix, T* a, std::int64_t lda,
              int pivoting, std::vector<std::int64_t>* exchanges, std::int64_t* column,
              const torc_linalg_options* given) {
  const Options options(given);
  LuShape shape;
  LocalMatrix<T> local;
  *column = -1;
  Status own = luShape(grid.rows, grid.columns, matrix, pivoting, options.panel, &shape);
  if (own.ok())
    own = firstOf(
        {localMatrix(grid, matrix, a, lda, "the matrix", &local),
         checkMemory(options, luMemory({grid.rows, grid.columns, grid.layers}, shape, sizeof(T)),
                     grid)});
  SameArguments same = {{"pivoting", pivoting}};
  addMatrix(same, matrix, "the descriptor");
  options.addTo(same);
  if (Status status = agree(grid.all, own, same); !status.ok()) return status;

  Factorization<T> factorization(grid, shape, local);
  if (Status status = allocated(grid.all, [&] { factorization.allocate(); }); !status.ok())
    return status;
  Messages messages(options.barriers);
  const Status status = factorization.run(messages, options.progress);
  *exchanges = factorization.exchanges();
  *column = factorization.zeroColumn();
  report(options, messages);
  return status;
}

template Status factor(const ProcessGrid&, const torc_linalg_matrix*, double*, std::int64_t, int,
                       std::vector<std::int64_t>*, std::int64_t*, const torc_linalg_options*);
template Status factor(const ProcessGrid&, const torc_linalg_matrix*, float*, std::int64_t, int,
                       std::vector<std::int64_t>*, std::int64_t*, const torc_linalg_options*);

namespace {

template <typename T>
Status lu(const ProcessGrid& grid, const torc_linalg_matrix* matrix, T* a, std::int64_t lda,
          int pivoting, std::int64_t* pivots, std::int64_t* column,
          const torc_linalg_options* options) {
  std::vector<std::int64_t> exchanges;
  std::int64_t zero = -1;
  const Status status = factor(grid, matrix, a, lda, pivoting, &exchanges, &zero, options);
  if (pivots != nullptr) std::copy(exchanges.begin(), exchanges.end(), pivots);
  if (column != nullptr) *column = zero;
  return status;
}

}  // namespace
}  // namespace torc::linalg

using namespace torc::linalg;

int torc_linalg_dlu(torc_linalg_grid* grid, const torc_linalg_matrix* matrix, double* a,
                    int64_t lda, int pivoting, int64_t* pivots, int64_t* column,
                    const torc_linalg_options* options) {
  return guarded(grid, [&](const ProcessGrid& g) {
    return lu(g, matrix, a, lda, pivoting, pivots, column, options);
  });
}

int torc_linalg_slu(torc_linalg_grid* grid, const torc_linalg_matrix* matrix, float* a, int64_t lda,
                    int pivoting, int64_t* pivots, int64_t* column,
                    const torc_linalg_options* options) {
  return guarded(grid, [&](const ProcessGrid& g) {
    return lu(g, matrix, a, lda, pivoting, pivots, column, options);
  });
}

int torc_linalg_lu_memory(int rows, int columns, int layers, const torc_linalg_matrix* matrix,
                          int pivoting, int element, int64_t* bytes) {
  return guarded([&]() -> Status {
    if (rows < 1 || columns < 1 || layers < 1 || bytes == nullptr || (element != 4 && element != 8))
      return failure(
          TORC_LINALG_ERR_ARGUMENT,
          "sizes of a grid are 1 or more, elements have 4 or 8 bytes, bytes is not null");
    LuShape shape;
    if (Status status = luShape(rows, columns, matrix, pivoting, 0, &shape); !status.ok())
      return status;
    *bytes = static_cast<std::int64_t>(luMemory({rows, columns, layers}, shape, element));
    return {};
  });
}

int torc_linalg_choose_lu_grid(int processes, const torc_linalg_matrix* matrix, int pivoting,
                               int element, int64_t memory, int* rows, int* columns, int* layers) {
  return guarded([&]() -> Status {
    if (rows == nullptr || columns == nullptr || layers == nullptr ||
        (element != 4 && element != 8))
      return failure(TORC_LINALG_ERR_ARGUMENT,
                     "elements have 4 or 8 bytes, and output arguments are not null");
    LuShape shape;
    if (Status status =
            luShape(std::max(1, processes), std::max(1, processes), matrix, pivoting, 0, &shape);
        !status.ok())
      return status;
    GridSizes sizes;
    const Status status = chooseGrid(
        processes,
        [&](int r, int q, int c) {
          return luWords({r, q, c}, shape);
        },
        [&](int r, int q, int c) {
          return luMemory({r, q, c}, shape, element);
        },
        static_cast<double>(memory), &sizes);
    if (status.ok()) {
      *rows = sizes.rows;
      *columns = sizes.columns;
      *layers = sizes.layers;
    }
    return status;
  });
}
