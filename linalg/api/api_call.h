// Shared by the functions of the C API: the text of the last failure, containment of exceptions,
// and checks of arguments.
#ifndef TORC_LINALG_API_API_CALL_H_
#define TORC_LINALG_API_API_CALL_H_

#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>

#include "linalg/grid/grid_agreement.h"
#include "linalg/grid/layout.h"
#include "linalg/grid/messages.h"
#include "linalg/grid/process_grid.h"
#include "linalg/status.h"
#include "linalg/torc_linalg.h"

struct torc_linalg_grid {
  std::unique_ptr<torc::linalg::ProcessGrid> grid;
};

namespace torc::linalg {

/// Keeps the text of `status`, if it failed, for torc_linalg_error_message(), and returns its code.
int finish(const Status& status);

/// Runs `body`, which returns a Status; exceptions become a Status.
template <typename Body>
Status contained(Body&& body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return failure(TORC_LINALG_ERR_MEMORY, "memory ran out");
  } catch (const std::exception& e) {
    return failure(TORC_LINALG_ERR_MEMORY, std::string("memory ran out: ") + e.what());
  }
}

template <typename Body>
int guarded(Body&& body) {
  return finish(contained(body));
}

/// The same on the grid of a handle.
template <typename Body>
int guarded(const torc_linalg_grid* handle, Body&& body) {
  return guarded([&]() -> Status {
    if (handle == nullptr) return failure(TORC_LINALG_ERR_ARGUMENT, "grid is null");
    return body(*handle->grid);
  });
}

/// Collective: runs `allocate` on all ranks, and fails on all of them if one is out of memory.
template <typename Allocate>
Status allocated(MPI_Comm comm, Allocate&& allocate) {
  const Status own = contained([&]() -> Status {
    allocate();
    return {};
  });
  return agree(comm, own, {});
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
Status checkMemory(const Options& options, double bytes, const ProcessGrid& grid);

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
Status localMatrix(const ProcessGrid& grid, const torc_linalg_matrix* matrix, T* data,
                   std::int64_t leading, const std::string& name, LocalMatrix<T>* local) {
  if (matrix == nullptr) return failure(TORC_LINALG_ERR_ARGUMENT, name + " has no descriptor");
  if (Status status = checkMatrix(*matrix, grid.rows, grid.columns, name); !status.ok())
    return status;
  const std::int64_t rows = rowsOf(*matrix, grid.rows).count(grid.row);
  const std::int64_t columns = columnsOf(*matrix, grid.columns).count(grid.column);
  *local = {nullptr, 0, 0, 1};
  if (grid.layer > 0) return {};
  if (data == nullptr && rows > 0 && columns > 0)
    return failure(TORC_LINALG_ERR_ARGUMENT, name + " is null");
  if (leading < std::max<std::int64_t>(1, rows) || leading > INT32_MAX)
    return failure(TORC_LINALG_ERR_ARGUMENT, name + " has the leading dimension " +
                                                 std::to_string(leading) + " for " +
                                                 std::to_string(rows) + " local rows");
  *local = {data, rows, columns, leading};
  return {};
}

/// The first status that failed.
inline Status firstOf(std::initializer_list<Status> statuses) {
  for (const Status& status : statuses) {
    if (!status.ok()) return status;
  }
  return {};
}

}  // namespace torc::linalg

#endif  // TORC_LINALG_API_API_CALL_H_
