// The C API's LU factorizations.
#include <algorithm>
#include <string>
#include <tuple>

#include "linalg/api/lu_call.h"
#include "linalg/grid/choose_grid.h"
#include "linalg/lu/factorization.h"

namespace torc::linalg {
namespace {

LuShape luShape(int rows, int columns, const torc_linalg_matrix* matrix, int pivoting,
                std::int64_t panel) {
  if (matrix == nullptr) throw Failure{TORC_LINALG_ERR_ARGUMENT, "the matrix has no descriptor"};
  if (pivoting != TORC_LINALG_NO_PIVOTING && pivoting != TORC_LINALG_TOURNAMENT)
    throw Failure{TORC_LINALG_ERR_ARGUMENT,
                  "pivoting is " + std::to_string(pivoting) + ": it is 0 (none) or 1 (tournament)"};
  checkMatrix(*matrix, rows, columns, "the matrix");
  const LuShape shape = {*matrix, pivoting == TORC_LINALG_TOURNAMENT, panel == 0 ? 256 : panel};
  checkLu(shape);
  return shape;
}

}  // namespace

void checkPivot(std::int64_t column) {
  if (column >= 0)
    throw Failure{TORC_LINALG_SINGULAR,
                  "the pivot of column " + std::to_string(column) + " is zero"};
}

template <typename T>
std::int64_t factor(const ProcessGrid& grid, const torc_linalg_matrix* matrix, T* a,
                    std::int64_t lda, int pivoting, std::vector<std::int64_t>* exchanges,
                    const torc_linalg_options* given) {
  const Options options(given);
  LuShape shape;
  LocalMatrix<T> local;
  const auto check = [&] {
    shape = luShape(grid.rows, grid.columns, matrix, pivoting, options.panel);
    local = localMatrix(grid, matrix, a, lda, "the matrix");
    checkMemory(options, luMemory(grid, shape, sizeof(T)), grid);
  };
  SameArguments same = {{"pivoting", pivoting}};
  addMatrix(same, matrix, "the descriptor");
  options.addTo(same);
  agree(grid.all, check, same);

  Factorization<T> factorization(grid, shape, local);
  agree(grid.all, [&] { factorization.allocate(); });
  Messages messages(options.barriers);
  const std::int64_t zero = factorization.run(messages, options.progress);
  *exchanges = factorization.exchanges();
  report(options, messages);
  return zero;
}

template std::int64_t factor(const ProcessGrid&, const torc_linalg_matrix*, double*, std::int64_t,
                             int, std::vector<std::int64_t>*, const torc_linalg_options*);
template std::int64_t factor(const ProcessGrid&, const torc_linalg_matrix*, float*, std::int64_t,
                             int, std::vector<std::int64_t>*, const torc_linalg_options*);

namespace {

template <typename T>
void lu(const ProcessGrid& grid, const torc_linalg_matrix* matrix, T* a, std::int64_t lda,
        int pivoting, std::int64_t* pivots, std::int64_t* column,
        const torc_linalg_options* options) {
  if (column != nullptr) *column = -1;
  std::vector<std::int64_t> exchanges;
  const std::int64_t zero = factor(grid, matrix, a, lda, pivoting, &exchanges, options);
  if (pivots != nullptr) std::copy(exchanges.begin(), exchanges.end(), pivots);
  if (column != nullptr) *column = zero;
  checkPivot(zero);
}

}  // namespace
}  // namespace torc::linalg

using namespace torc::linalg;

int torc_linalg_dlu(torc_linalg_grid* grid, const torc_linalg_matrix* matrix, double* a,
                    int64_t lda, int pivoting, int64_t* pivots, int64_t* column,
                    const torc_linalg_options* options) {
  return onGrid(grid, lu<double>, matrix, a, lda, pivoting, pivots, column, options);
}

int torc_linalg_slu(torc_linalg_grid* grid, const torc_linalg_matrix* matrix, float* a, int64_t lda,
                    int pivoting, int64_t* pivots, int64_t* column,
                    const torc_linalg_options* options) {
  return onGrid(grid, lu<float>, matrix, a, lda, pivoting, pivots, column, options);
}

int torc_linalg_lu_memory(int rows, int columns, int layers, const torc_linalg_matrix* matrix,
                          int pivoting, int element, int64_t* bytes) {
  return guarded([&] {
    if (rows < 1 || columns < 1 || layers < 1 || bytes == nullptr || (element != 4 && element != 8))
      throw Failure{TORC_LINALG_ERR_ARGUMENT,
                    "sizes of a grid are 1 or more, elements have 4 or 8 bytes, bytes is not null"};
    const LuShape shape = luShape(rows, columns, matrix, pivoting, 0);
    *bytes = static_cast<std::int64_t>(luMemory({rows, columns, layers}, shape, element));
  });
}

int torc_linalg_choose_lu_grid(int processes, const torc_linalg_matrix* matrix, int pivoting,
                               int element, int64_t memory, int* rows, int* columns, int* layers) {
  return guarded([&] {
    if (rows == nullptr || columns == nullptr || layers == nullptr ||
        (element != 4 && element != 8))
      throw Failure{TORC_LINALG_ERR_ARGUMENT,
                    "elements have 4 or 8 bytes, and output arguments are not null"};
    const int side = std::max(1, processes);
    const LuShape shape = luShape(side, side, matrix, pivoting, 0);
    const auto words = [&](const GridSizes& grid) { return luWords(grid, shape); };
    const auto bytes = [&](const GridSizes& grid) { return luMemory(grid, shape, element); };
    std::tie(*rows, *columns, *layers) =
        chooseGrid(processes, words, bytes, static_cast<double>(memory)).all();
  });
}
