#include "linalg/lu/factorization.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "linalg/local/overlap.h"
#include "linalg/lu/tournament.h"

namespace torc::linalg {
namespace {

/// Columns of a panel of `width` that `layer` updates with.
std::pair<std::int64_t, std::int64_t> thinPanel(std::int64_t width, int layers, int layer) {
  return {width * layer / layers, width * (layer + 1) / layers};
}

/// A contiguous matrix in `room`.
template <typename T>
LocalMatrix<T> matrixIn(std::vector<T>& room, std::int64_t rows, std::int64_t columns) {
  return {room.data(), rows, columns, std::max<std::int64_t>(1, rows)};
}

/// L := A U^-1, where U has zeros on its diagonal: what is left of A in such a column is zero but
/// for rounding, and so is the column of L.
template <typename T>
void solveSingular(const LocalMatrix<T>& u, const LocalMatrix<T>& a) {
  for (std::int64_t s = 0; s < a.columns; ++s) {
    multiplyAdd(T{-1}, a.part(0, 0, a.rows, s), u.part(0, s, s, 1), a.part(0, s, a.rows, 1));
    const T pivot = *u.at(s, s);
    for (std::int64_t i = 0; i < a.rows; ++i)
      *a.at(i, s) = pivot == 0 ? T{0} : *a.at(i, s) / pivot;
  }
}

}  // namespace

template <typename T>
Factorization<T>::Factorization(const ProcessGrid& grid, const LuShape& shape,
                                const LocalMatrix<T>& a)
    : grid_(grid),
      rows_(rowsOf(shape.matrix, grid.rows)),
      columns_(columnsOf(shape.matrix, grid.columns)),
      shape_(shape),
      a_(a),
      row_exchange_(grid, rows_) {}

template <typename T>
void Factorization<T>::allocate() {
  const std::int64_t m = rows_.count(grid_.row);
  const std::int64_t n = columns_.count(grid_.column);
  const std::int64_t width = shape_.width();
  const std::int64_t thin = (width + grid_.layers - 1) / grid_.layers;
  if (grid_.layer > 0) {
    sums_.assign(static_cast<std::size_t>(m * n), T{0});
    a_ = matrixIn(sums_, m, n);
  }
  panel_.resize(static_cast<std::size_t>(m * width));
  thin_l_.resize(static_cast<std::size_t>(m * thin));
  u_.resize(static_cast<std::size_t>(width * n));
  thin_u_.resize(static_cast<std::size_t>(thin * n));
  const std::int64_t words =
      candidateBytes<T>(width) / static_cast<std::int64_t>(sizeof(std::int64_t));
  factors_.resize(static_cast<std::size_t>(words));
  best_.resize(static_cast<std::size_t>(words));
  if (shape_.pivoting) row_exchange_.reserve(2 * width, n + width);
  exchanges_.reserve(static_cast<std::size_t>(std::min(rows_.size, columns_.size)));
}

template <typename T>
typename Factorization<T>::PanelPlace Factorization<T>::place(std::int64_t begin) const {
  PanelPlace panel;
  panel.begin = begin;
  panel.end = std::min({begin + shape_.panel, (begin / columns_.block + 1) * columns_.block,
                        rows_.size, columns_.size});
  panel.row = rows_.owner(begin);
  panel.column = columns_.owner(begin);
  panel.top = rows_.before(grid_.row, begin);
  panel.below = rows_.before(grid_.row, panel.end);
  panel.left = columns_.before(grid_.column, begin);
  panel.right = columns_.before(grid_.column, panel.end);
  return panel;
}

template <typename T>
void Factorization<T>::sumPanel(Messages& messages, const PanelPlace& panel) {
  const LocalMatrix<T> sum = matrixIn(panel_, a_.rows - panel.top, panel.width());
  copy(a_.part(panel.top, panel.left, sum.rows, sum.columns), sum);
  sumToAll(messages, grid_.depth_line, sum, room_);
}

template <typename T>
void Factorization<T>::holdTournament(Messages& messages, const PanelPlace& panel) {
  const LocalMatrix<T> all = matrixIn(panel_, a_.rows - panel.top, panel.width());
  const std::int64_t begin = all.rows * grid_.layer / grid_.layers;
  const std::int64_t end = all.rows * (grid_.layer + 1) / grid_.layers;
  std::vector<std::int64_t> ids;
  for (std::int64_t i = begin; i < end; ++i)
    ids.push_back(rows_.global(grid_.row, panel.top + i));
  chooseCandidates(all.part(begin, 0, end - begin, all.columns), ids, factors_.data());

  MPI_Op op = createMatch<T>();
  MPI_Datatype type = candidateType<T>(panel.width());
  const auto reduce = [&](MPI_Comm line, int root) {
    int size = 1;
    MPI_Comm_size(line, &size);
    if (size == 1) return;
    messages.run(line, [&] { MPI_Reduce(factors_.data(), best_.data(), 1, type, op, root, line); });
    std::swap(factors_, best_);
  };
  reduce(grid_.column_line, panel.row);
  if (grid_.row == panel.row) reduce(grid_.depth_line, 0);
  MPI_Type_free(&type);
  MPI_Op_free(&op);
}

template <typename T>
void Factorization<T>::factorDiagonal(const PanelPlace& panel) {
  const Candidates<T> set(factors_.data());
  if (shape_.pivoting) {
    if (set.head().finite != 0) factorCandidates<T>(factors_.data());
    return;
  }
  set.head() = {panel.width(), panel.width(), 1, -1};
  std::iota(set.ids(), set.ids() + panel.width(), panel.begin);
  copy(
      matrixIn(panel_, a_.rows - panel.top, panel.width()).part(0, 0, panel.width(), panel.width()),
      set.values());
  set.head().zero = factorWithoutPivots(set.values());
  set.head().finite = allFinite(set.values()) ? 1 : 0;
}

template <typename T>
void Factorization<T>::startPanel(Messages& messages, const PanelPlace& panel) {
  const std::int64_t all = candidateBytes<T>(panel.width());
  const std::int64_t numbers = static_cast<std::int64_t>(sizeof(CandidateHead)) +
                               panel.width() * static_cast<std::int64_t>(sizeof(std::int64_t));
  const auto spread = [&](MPI_Comm line, int root) {
    int size = 1;
    MPI_Comm_size(line, &size);
    if (size > 1)
      messages.run(
          line, [&] { MPI_Bcast(factors_.data(), static_cast<int>(all), MPI_BYTE, root, line); });
  };
  if (grid_.column == panel.column) {
    sumPanel(messages, panel);
    if (shape_.pivoting) holdTournament(messages, panel);
    if (grid_.row == panel.row && grid_.layer == 0) factorDiagonal(panel);
    if (grid_.row == panel.row) spread(grid_.depth_line, 0);
    spread(grid_.column_line, panel.row);
  }
  if (grid_.columns == 1) return;
  // The rows of U are solved for on the diagonal's process row alone.
  const std::int64_t bytes = grid_.row == panel.row ? all : numbers;
  messages.gather(grid_.row_line);
  messages.inMpi([&] {
    MPI_Ibcast(factors_.data(), static_cast<int>(bytes), MPI_BYTE, panel.column, grid_.row_line,
               &spreading_);
  });
}

template <typename T>
void Factorization<T>::exchangeRows(Messages& messages, const PanelPlace& panel) {
  const std::vector<std::int64_t> exchanges =
      exchangesFor(panel.begin, Candidates<T>(factors_.data()).ids(), panel.width());
  exchanges_.insert(exchanges_.end(), exchanges.begin(), exchanges.end());
  if (!shape_.pivoting) return;
  std::vector<MovedColumns<T>> columns;
  // What is left of the panel is finished, and layer 0 alone keeps it.
  if (grid_.layer == 0) columns.push_back({a_.part(0, 0, a_.rows, panel.left), 0});
  if (grid_.column == panel.column)
    columns.push_back({matrixIn(panel_, a_.rows - panel.top, panel.width()), panel.top});
  columns.push_back({a_.part(0, panel.right, a_.rows, a_.columns - panel.right), 0});
  row_exchange_.run(messages, movesOf(panel.begin, exchanges.data(), panel.width()), columns);
}

template <typename T>
void Factorization<T>::computeL(const PanelPlace& panel) {
  const LocalMatrix<T> all = matrixIn(panel_, a_.rows - panel.top, panel.width());
  const Candidates<T> set(factors_.data());
  const std::int64_t diagonal = panel.below - panel.top;
  copy(set.values().part(0, 0, diagonal, diagonal > 0 ? panel.width() : 0), all);
  const LocalMatrix<T> rest = all.part(diagonal, 0, all.rows - diagonal, all.columns);
  if (set.head().zero >= 0)
    solveSingular(set.values(), rest);
  else
    solveTriangle(CblasRight, CblasUpper, CblasNonUnit, set.values(), rest);
  if (grid_.layer == 0) copy(all, a_.part(panel.top, panel.left, all.rows, all.columns));
}

template <typename T>
void Factorization<T>::computeU(Messages& messages, const PanelPlace& panel) {
  const std::int64_t columns = a_.columns - panel.right;
  const LocalMatrix<T> u = matrixIn(u_, panel.width(), columns);
  const LocalMatrix<T> place = a_.part(panel.top, panel.right, panel.width(), columns);
  copy(place, u);
  sumToAll(messages, grid_.depth_line, u, room_);
  solveTriangle(CblasLeft, CblasLower, CblasUnit, Candidates<T>(factors_.data()).values(), u);
  if (grid_.layer == 0) copy(u, place);
}

template <typename T>
void Factorization<T>::update(Messages& messages, const PanelPlace& panel, bool is_last) {
  const auto [begin, end] = thinPanel(panel.width(), grid_.layers, grid_.layer);
  const std::int64_t rows = a_.rows - panel.below, columns = a_.columns - panel.right;
  const LocalMatrix<T> l = matrixIn(thin_l_, rows, end - begin);
  const LocalMatrix<T> u = matrixIn(thin_u_, end - begin, columns);
  if (grid_.column == panel.column)
    copy(matrixIn(panel_, a_.rows - panel.top, panel.width())
             .part(panel.below - panel.top, begin, rows, end - begin),
         l);
  broadcast(messages, grid_.row_line, panel.column, l, room_);
  if (grid_.row == panel.row)
    copy(matrixIn(u_, panel.width(), columns).part(begin, 0, end - begin, columns), u);
  broadcast(messages, grid_.column_line, panel.row, u, room_);
  std::int64_t ahead = 0;  // columns of the next panel, which are the first ones where it is
  if (!is_last) {
    const PanelPlace next = place(panel.end);
    if (grid_.column == next.column) {
      ahead = next.right - next.left;
      multiplyAdd(T{-1}, l, u.part(0, 0, u.rows, ahead),
                  a_.part(panel.below, panel.right, rows, ahead));
    }
    startPanel(messages, next);
  }
  multiplyAddBeside(messages, &spreading_, 1, T{-1}, l, u.part(0, ahead, u.rows, columns - ahead),
                    a_.part(panel.below, panel.right + ahead, rows, columns - ahead));
}

template <typename T>
Status Factorization<T>::run(Messages& messages, const Progress& progress) {
  const std::int64_t pivots = std::min(rows_.size, columns_.size);
  Status status;
  if (pivots > 0) startPanel(messages, place(0));
  for (std::int64_t begin = 0; begin < pivots;) {
    const PanelPlace panel = place(begin);
    messages.inMpi([&] { MPI_Wait(&spreading_, MPI_STATUS_IGNORE); });
    const CandidateHead head = Candidates<T>(factors_.data()).head();
    if (head.zero >= 0 && zero_column_ < 0) {
      zero_column_ = begin + head.zero;
      status = failure(TORC_LINALG_SINGULAR,
                       "the pivot of column " + std::to_string(zero_column_) + " is zero");
    }
    if (head.zero >= 0 && !shape_.pivoting) return status;
    if (head.finite == 0)
      return failure(TORC_LINALG_NOT_FINITE, "infinities or NaN in columns " +
                                                 std::to_string(begin) + " to " +
                                                 std::to_string(panel.end - 1));
    exchangeRows(messages, panel);
    if (grid_.column == panel.column) computeL(panel);
    if (grid_.row == panel.row) computeU(messages, panel);
    update(messages, panel, panel.end >= pivots);
    begin = panel.end;
    const double left = static_cast<double>(pivots - begin) / static_cast<double>(pivots);
    progress(1 - left * left * left);
  }
  int finite = grid_.layer > 0 || allFinite(a_) ? 1 : 0;
  messages.run(grid_.all,
               [&] { MPI_Allreduce(MPI_IN_PLACE, &finite, 1, MPI_INT, MPI_MIN, grid_.all); });
  if (finite == 0) return failure(TORC_LINALG_NOT_FINITE, "the factors have infinities or NaN");
  return status;
}

template class Factorization<double>;
template class Factorization<float>;

}  // namespace torc::linalg
