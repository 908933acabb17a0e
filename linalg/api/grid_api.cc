// The C API's grids, results and sizes.
#include <string>

#include "linalg/api/api_call.h"

namespace torc::linalg {
namespace {

thread_local std::string last_message;

}  // namespace

int finish(const Status& status) {
  if (!status.ok()) last_message = status.message;
  return status.code;
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

Status checkMemory(const Options& options, double bytes, const ProcessGrid& grid) {
  if (options.memory < 0)
    return failure(TORC_LINALG_ERR_ARGUMENT,
                   "options.memory is " + std::to_string(options.memory) + " bytes");
  if (options.memory == 0 || bytes <= static_cast<double>(options.memory)) return {};
  return failure(TORC_LINALG_ERR_MEMORY,
                 "a process needs " + std::to_string(static_cast<std::int64_t>(bytes)) +
                     " bytes on " + std::to_string(grid.rows) + "x" + std::to_string(grid.columns) +
                     "x" + std::to_string(grid.layers) + "; " + std::to_string(options.memory) +
                     " are given");
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
  switch (result) {
    case TORC_LINALG_OK:
      return "TORC_LINALG_OK";
    case TORC_LINALG_ERR_ARGUMENT:
      return "TORC_LINALG_ERR_ARGUMENT";
    case TORC_LINALG_ERR_GRID:
      return "TORC_LINALG_ERR_GRID";
    case TORC_LINALG_ERR_MEMORY:
      return "TORC_LINALG_ERR_MEMORY";
    case TORC_LINALG_ERR_MISMATCH:
      return "TORC_LINALG_ERR_MISMATCH";
    case TORC_LINALG_SINGULAR:
      return "TORC_LINALG_SINGULAR";
    case TORC_LINALG_NOT_FINITE:
      return "TORC_LINALG_NOT_FINITE";
  }
  return "unknown result";
}

const char* torc_linalg_error_message(void) {
  return last_message.c_str();
}

namespace {

int createGrid(MPI_Comm comm, int rows, int columns, int layers, GridOrder order,
               torc_linalg_grid** grid) {
  return guarded([&]() -> Status {
    if (comm == MPI_COMM_NULL)
      return failure(TORC_LINALG_ERR_ARGUMENT, "the communicator is MPI_COMM_NULL");
    Status own;
    if (grid == nullptr)
      own = failure(TORC_LINALG_ERR_ARGUMENT, "grid is null");
    else
      *grid = nullptr;
    if (Status status = agree(comm, own, {}); !status.ok()) return status;
    auto made = std::make_unique<torc_linalg_grid>();
    if (Status status = ProcessGrid::create(comm, rows, columns, layers, order, &made->grid);
        !status.ok())
      return status;
    *grid = made.release();
    return {};
  });
}

}  // namespace

int torc_linalg_grid_create(MPI_Comm comm, int rows, int columns, int layers,
                            torc_linalg_grid** grid) {
  return createGrid(comm, rows, columns, layers, GridOrder::kByRank, grid);
}

int torc_linalg_grid_create_on_torus(MPI_Comm comm, int rows, int columns, int layers,
                                     torc_linalg_grid** grid) {
  return createGrid(comm, rows, columns, layers, GridOrder::kOnTorus, grid);
}

int torc_linalg_grid_destroy(torc_linalg_grid* grid) {
  delete grid;
  return TORC_LINALG_OK;
}

int torc_linalg_grid_query(const torc_linalg_grid* grid, torc_linalg_grid_info* info) {
  return guarded(grid, [&](const ProcessGrid& g) -> Status {
    if (info == nullptr) return failure(TORC_LINALG_ERR_ARGUMENT, "info is null");
    *info = {g.rows, g.columns, g.layers, g.row, g.column, g.layer, g.on_torus ? 1 : 0};
    return {};
  });
}

int torc_linalg_local_size(const torc_linalg_grid* grid, const torc_linalg_matrix* matrix,
                           int64_t* rows, int64_t* columns) {
  return guarded(grid, [&](const ProcessGrid& g) -> Status {
    if (matrix == nullptr || rows == nullptr || columns == nullptr)
      return failure(TORC_LINALG_ERR_ARGUMENT, "an argument is null");
    if (Status status = checkMatrix(*matrix, g.rows, g.columns, "the matrix"); !status.ok())
      return status;
    *rows = g.layer > 0 ? 0 : rowsOf(*matrix, g.rows).count(g.row);
    *columns = g.layer > 0 ? 0 : columnsOf(*matrix, g.columns).count(g.column);
    return {};
  });
}
