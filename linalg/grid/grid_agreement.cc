#include "linalg/grid/grid_agreement.h"

#include <algorithm>
#include <exception>
#include <new>
#include <string>

namespace torc::linalg {

Failure failureOf(const std::function<void()>& body) {
  try {
    body();
    return {};
  } catch (const Failure& failure) {
    return failure;
  } catch (const std::bad_alloc&) {
    return {TORC_LINALG_ERR_MEMORY, "memory ran out"};
  } catch (const std::exception& e) {
    return {TORC_LINALG_ERR_MEMORY, std::string("memory ran out: ") + e.what()};
  }
}

void agree(MPI_Comm comm, const std::function<void()>& check, const SameArguments& same) {
  const Failure own = failureOf(check);
  const bool ok = own.code == TORC_LINALG_OK;
  int rank = 0, size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);

  // Minima, and minima of the complements, which give the maxima: one allreduce for both. The first
  // two values are the first rank that failed, and the first that did not.
  std::vector<std::int64_t> values = {ok ? size : rank, ok ? rank : size};
  for (const auto& [name, value] : same) {
    values.push_back(value);
    values.push_back(~value);
  }
  MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_INT64_T, MPI_MIN,
                comm);
  const int failed = static_cast<int>(values[0]);
  if (failed < size) {
    int head[2] = {own.code, static_cast<int>(own.message.size())};
    MPI_Bcast(head, 2, MPI_INT, failed, comm);
    std::string message = own.message;
    message.resize(static_cast<std::size_t>(head[1]));
    MPI_Bcast(message.data(), head[1], MPI_CHAR, failed, comm);
    if (values[1] < size) message = "rank " + std::to_string(failed) + ": " + message;
    throw Failure{static_cast<torc_linalg_result>(head[0]), message};
  }
  for (std::size_t i = 0; i < same.size(); ++i) {
    const std::int64_t smallest = values[2 + 2 * i];
    const std::int64_t largest = ~values[3 + 2 * i];
    if (smallest != largest)
      throw Failure{TORC_LINALG_ERR_MISMATCH,
                    std::string(same[i].first) + " is not the same on all ranks: from " +
                        std::to_string(smallest) + " to " + std::to_string(largest)};
  }
}

}  // namespace torc::linalg
