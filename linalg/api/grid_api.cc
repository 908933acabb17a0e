// The C API's grids, results and sizes.
#include <string>

#include "linalg/api/api_call.h"

namespace torc::linalg {
namespace {

thread_local std::string last_message;

}  // namespace

int guarded(const std::function<void()>& body) {
  const Failure failure = failureOf(body);
  if (failure.code != TORC_LINALG_OK) last_message = failure.message;
  return failure.code;
}

Options::Options(const torc_linalg_options* given) {
  if (given == nullptr) return;
  if (given->panel != 0) panel = given->panel;
  memory = given->memory;
  barriers = given->barriers != 0;
  progress = {given->progress, given->progress_argument};
  times = given->times;
}

void Options::addTo(SameArguments& same) const {
  same.insert(same.end(), {{"options.panel", panel},
                           {"options.memory", memory},
                           {"options.barriers", barriers ? 1 : 0}});
}

void report(const Options& options, const Messages& messages) {
  if (options.times == nullptr) return;
  options.times->communicate = messages.communicate();
  options.times->idle = messages.idle();
  options.times->compute = messages.total() - messages.communicate() - messages.idle();
}

void checkMemory(const Options& options, double bytes, const ProcessGrid& grid) {
  if (options.memory < 0)
    throw Failure{TORC_LINALG_ERR_ARGUMENT,
                  "options.memory is " + std::to_string(options.memory) + " bytes"};
  if (options.memory == 0 || bytes <= static_cast<double>(options.memory)) return;
  throw Failure{TORC_LINALG_ERR_MEMORY,
                "a process needs " + std::to_string(static_cast<std::int64_t>(bytes)) +
                    " bytes on " + std::to_string(grid.rows) + "x" + std::to_string(grid.columns) +
                    "x" + std::to_string(grid.layers) + "; " + std::to_string(options.memory) +
                    " are given"};
}

void addMatrix(SameArguments& same, const torc_linalg_matrix* matrix, const char* name) {
  const torc_linalg_matrix none = {-1, -1, -1, -1};
  const torc_linalg_matrix& m = matrix == nullptr ? none : *matrix;
  for (const std::int64_t value : {m.rows, m.columns, m.row_block, m.column_block})
    same.emplace_back(name, value);
}

}  // namespace torc::linalg

using namespace torc::linalg;

const char* torc_linalg_result_name(int result) {
  static constexpr const char* kNames[] = {"TORC_LINALG_OK",           "TORC_LINALG_ERR_ARGUMENT",
                                           "TORC_LINALG_ERR_GRID",     "TORC_LINALG_ERR_MEMORY",
                                           "TORC_LINALG_ERR_MISMATCH", "TORC_LINALG_SINGULAR",
                                           "TORC_LINALG_NOT_FINITE"};
  const bool is_known = result >= 0 && result <= TORC_LINALG_NOT_FINITE;
  return is_known ? kNames[result] : "unknown result";
}

const char* torc_linalg_error_message(void) {
  return last_message.c_str();
}

namespace {

int createGrid(MPI_Comm comm, const GridSizes& sizes, GridOrder order, torc_linalg_grid** grid) {
  return guarded([&] {
    if (comm == MPI_COMM_NULL)
      throw Failure{TORC_LINALG_ERR_ARGUMENT, "the communicator is MPI_COMM_NULL"};
    agree(comm, [&] {
      if (grid == nullptr) throw Failure{TORC_LINALG_ERR_ARGUMENT, "grid is null"};
      *grid = nullptr;
    });
    *grid = new torc_linalg_grid{ProcessGrid(comm, sizes, order)};
  });
}

}  // namespace

int torc_linalg_grid_create(MPI_Comm comm, int rows, int columns, int layers,
                            torc_linalg_grid** grid) {
  return createGrid(comm, {rows, columns, layers}, GridOrder::kByRank, grid);
}

int torc_linalg_grid_create_on_torus(MPI_Comm comm, int rows, int columns, int layers,
                                     torc_linalg_grid** grid) {
  return createGrid(comm, {rows, columns, layers}, GridOrder::kOnTorus, grid);
}

int torc_linalg_grid_destroy(torc_linalg_grid* grid) {
  delete grid;
  return TORC_LINALG_OK;
}

int torc_linalg_grid_query(const torc_linalg_grid* grid, torc_linalg_grid_info* info) {
  return onGrid(grid, [&](const ProcessGrid& g) {
    if (info == nullptr) throw Failure{TORC_LINALG_ERR_ARGUMENT, "info is null"};
    *info = {g.rows, g.columns, g.layers, g.row, g.column, g.layer, g.on_torus ? 1 : 0};
  });
}

int torc_linalg_local_size(const torc_linalg_grid* grid, const torc_linalg_matrix* matrix,
                           int64_t* rows, int64_t* columns) {
  return onGrid(grid, [&](const ProcessGrid& g) {
    if (matrix == nullptr || rows == nullptr || columns == nullptr)
      throw Failure{TORC_LINALG_ERR_ARGUMENT, "an argument is null"};
    checkMatrix(*matrix, g.rows, g.columns, "the matrix");
    *rows = g.layer > 0 ? 0 : rowsOf(*matrix, g.rows).count(g.row);
    *columns = g.layer > 0 ? 0 : columnsOf(*matrix, g.columns).count(g.column);
  });
}
