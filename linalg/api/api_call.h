// Shared by the functions of the C API: the text of the last failure, containment of exceptions,
// and checks of arguments.
#ifndef TORC_LINALG_API_API_CALL_H_
#define TORC_LINALG_API_API_CALL_H_

#include <cstdint>
#include <cstring>
#include <functional>
#include <string>

#include "linalg/failure.h"
#include "linalg/grid/grid_agreement.h"
#include "linalg/grid/layout.h"
#include "linalg/grid/messages.h"
#include "linalg/grid/process_grid.h"
#include "linalg/torc_linalg.h"

struct torc_linalg_grid {
  torc::linalg::ProcessGrid grid;
};

namespace torc::linalg {

/// Runs the body of a function of the API: the code of its failure, if any, whose text
/// torc_linalg_error_message() keeps.
int guarded(const std::function<void()>& body);

/// The same with `body`(grid of the handle, arguments ...).
template <typename Body, typename... Arguments>
int onGrid(const torc_linalg_grid* handle, Body&& body, Arguments... arguments) {
  return guarded([&] {
    if (handle == nullptr) throw Failure{TORC_LINALG_ERR_ARGUMENT, "grid is null"};
    body(handle->grid, arguments...);
  });
}

/// The options of a call, with defaults in place of zeros and of NULL.
struct Options {
  explicit Options(const torc_linalg_options* given);

  std::int64_t panel = 256;
  std::int64_t memory = 0;
  bool barriers = false;
  Progress progress;
  torc_linalg_times* times = nullptr;

  void addTo(SameArguments& same) const;
};

/// Fills options.times, unless it is null.
void report(const Options& options, const Messages& messages);

/// TORC_LINALG_ERR_MEMORY if `bytes` exceed the options' limit.
void checkMemory(const Options& options, double bytes, const ProcessGrid& grid);

void addMatrix(SameArguments& same, const torc_linalg_matrix* matrix, const char* name);

/// The bits of a number, to compare it on all ranks.
template <typename T>
std::int64_t bitsOf(T value) {
  std::int64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}

/// The local matrix at `data`; empty on layers other than 0, where `data` is ignored.
template <typename T>
LocalMatrix<T> localMatrix(const ProcessGrid& grid, const torc_linalg_matrix* matrix, T* data,
                           std::int64_t leading, const std::string& name) {
  if (matrix == nullptr) throw Failure{TORC_LINALG_ERR_ARGUMENT, name + " has no descriptor"};
  checkMatrix(*matrix, grid.rows, grid.columns, name);
  const std::int64_t rows = rowsOf(*matrix, grid.rows).count(grid.row);
  const std::int64_t columns = columnsOf(*matrix, grid.columns).count(grid.column);
  if (grid.layer > 0) return {nullptr, 0, 0, 1};
  if (data == nullptr && rows > 0 && columns > 0)
    throw Failure{TORC_LINALG_ERR_ARGUMENT, name + " is null"};
  if (leading < std::max<std::int64_t>(1, rows) || leading > INT32_MAX)
    throw Failure{TORC_LINALG_ERR_ARGUMENT, name + " has the leading dimension " +
                                                std::to_string(leading) + " for " +
                                                std::to_string(rows) + " local rows"};
  return {data, rows, columns, leading};
}

}  // namespace torc::linalg

#endif  // TORC_LINALG_API_API_CALL_H_
