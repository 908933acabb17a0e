#include "linalg/lu/tournament.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "linalg/local/blas.h"

namespace torc::linalg {
namespace {

/// The order of `count` rows after the exchanges `pivots`.
std::vector<std::int64_t> orderOf(const std::vector<int>& pivots, std::int64_t count) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = 0; i < pivots.size(); ++i)
    std::swap(order[i], order[static_cast<std::size_t>(pivots[i])]);
  return order;
}

template <typename T>
void match(void* in, void* inout, int* count, MPI_Datatype* type) {
  int bytes = 0;
  MPI_Type_size(*type, &bytes);
  for (int set = 0; set < *count; ++set) {
    const Candidates<T> first(static_cast<char*>(in) + std::int64_t{set} * bytes);
    const Candidates<T> second(static_cast<char*>(inout) + std::int64_t{set} * bytes);
    const bool finite = first.head().finite != 0 && second.head().finite != 0;
    if (!finite) {
      second.head().finite = 0;
      second.head().count = 0;
      continue;
    }
    if (first.head().count == 0) continue;
    if (second.head().count == 0) {
      std::memcpy(inout, in, static_cast<std::size_t>(bytes));
      continue;
    }
    const std::int64_t width = first.head().width;
    const std::int64_t both = first.head().count + second.head().count;
    std::vector<T> room;
    const LocalMatrix<T> rows = matrixIn(room, both, width);
    copy(first.values(), rows.part(0, 0, first.head().count, width));
    copy(second.values(), rows.part(first.head().count, 0, second.head().count, width));
    std::vector<std::int64_t> ids(first.ids(), first.ids() + first.head().count);
    ids.insert(ids.end(), second.ids(), second.ids() + second.head().count);
    chooseCandidates(rows, ids, inout);
  }
}

}  // namespace

template <typename T>
std::int64_t candidateBytes(std::int64_t width) {
  const std::int64_t bytes = static_cast<std::int64_t>(sizeof(CandidateHead)) +
                             width * static_cast<std::int64_t>(sizeof(std::int64_t)) +
                             width * width * static_cast<std::int64_t>(sizeof(T));
  return (bytes + 7) / 8 * 8;
}

template <typename T>
void chooseCandidates(const LocalMatrix<T>& rows, const std::vector<std::int64_t>& ids,
                      void* buffer) {
  const Candidates<T> chosen(buffer);
  chosen.head() = {rows.columns, std::min(rows.rows, rows.columns), 1, -1};
  if (!allFinite(rows)) {
    chosen.head().count = 0;
    chosen.head().finite = 0;
    return;
  }
  const std::int64_t count = chosen.head().count;
  if (count == 0) return;
  std::vector<T> room;
  const LocalMatrix<T> factors = matrixIn(room, rows.rows, rows.columns);
  copy(rows, factors);
  std::vector<int> pivots;
  factorWithPivots(factors, pivots);
  const std::vector<std::int64_t> order = orderOf(pivots, rows.rows);
  const LocalMatrix<T> values = chosen.values();
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t from = order[static_cast<std::size_t>(i)];
    chosen.ids()[i] = ids[static_cast<std::size_t>(from)];
    for (std::int64_t j = 0; j < rows.columns; ++j)
      *values.at(i, j) = *rows.at(from, j);
  }
}

template <typename T>
void factorCandidates(void* buffer) {
  const Candidates<T> set(buffer);
  std::vector<int> pivots;
  set.head().zero = factorWithPivots(set.values(), pivots);
  for (std::size_t i = 0; i < pivots.size(); ++i)
    std::swap(set.ids()[i], set.ids()[pivots[i]]);
  set.head().finite = allFinite(set.values()) ? 1 : 0;
}

template <typename T>
MPI_Op createMatch() {
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(match<T>, 1, &op);
  return op;
}

template <typename T>
MPI_Datatype candidateType(std::int64_t width) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(static_cast<int>(candidateBytes<T>(width)), MPI_BYTE, &type);
  MPI_Type_commit(&type);
  return type;
}

template std::int64_t candidateBytes<double>(std::int64_t);
template std::int64_t candidateBytes<float>(std::int64_t);
template void chooseCandidates(const LocalMatrix<double>&, const std::vector<std::int64_t>&, void*);
template void chooseCandidates(const LocalMatrix<float>&, const std::vector<std::int64_t>&, void*);
template void factorCandidates<double>(void*);
template void factorCandidates<float>(void*);
template MPI_Op createMatch<double>();
template MPI_Op createMatch<float>();
template MPI_Datatype candidateType<double>(std::int64_t);
template MPI_Datatype candidateType<float>(std::int64_t);

}  // namespace torc::linalg
