#include "linalg/lu/panel_factorization.h"

#include <algorithm>
#include <numeric>

#include "linalg/local/blas.h"
#include "linalg/lu/layer_shares.h"

namespace torc::linalg {
namespace {

/// L := A U^-1; if U has a zero on its diagonal, the remaining column of A is zero up to rounding,
/// and so is the column of L.
template <typename T>
void solveSingular(const LocalMatrix<T>& u, const LocalMatrix<T>& a) {
  for (std::int64_t s = 0; s < a.columns; ++s) {
    multiplyAdd(T{-1}, a.part(0, 0, a.rows, s), u.part(0, s, s, 1), a.part(0, s, a.rows, 1));
    const T pivot = *u.at(s, s);
    for (std::int64_t i = 0; i < a.rows; ++i)
      *a.at(i, s) = pivot == 0 ? T{0} : *a.at(i, s) / pivot;
  }
}

/// Bytes of one message, whose count is an `int`.
constexpr std::int64_t kPieceBytes = std::int64_t{1} << 30;

}  // namespace

template <typename T>
PanelFactorization<T>::PanelFactorization(const ProcessGrid& grid, const LuShape& shape)
    : grid_(grid),
      shape_(shape),
      rows_(rowsOf(shape.matrix, grid.rows)),
      columns_(columnsOf(shape.matrix, grid.columns)) {}

template <typename T>
void PanelFactorization<T>::allocate() {
  const std::int64_t rows = dealtTo(rows_.count(grid_.row), grid_.layers, 0);
  const std::int64_t width = shape_.width(grid_), outer = shape_.outerWidth(grid_);
  const std::int64_t local = shape_.outerColumns(grid_);
  const auto elements = [](std::int64_t count) { return static_cast<std::size_t>(count); };
  const std::int64_t set = candidateBytes<T>(width) / 8;
  factors_.resize(elements(set));
  if (grid_.columns > 1)
    factors_.resize(elements(set + (rows * width * static_cast<std::int64_t>(sizeof(T)) + 7) / 8));
  best_.resize(elements(set));
  if (!alone() || !shape_.pivoting) {
    for (std::vector<T>* room : {&own_rows_, &line_rows_, &all_rows_, &u_})
      room->resize(elements(width * std::max(width, local)));
  }
  places_.reserve(elements(rows));
  row_at_.reserve(elements(rows));
  winners_.reserve(elements(outer));
}

template <typename T>
typename PanelFactorization<T>::Panel PanelFactorization<T>::panelAt(std::int64_t begin) const {
  Panel panel;
  panel.begin = begin;
  panel.end = shape_.panelEnd(grid_, begin, place_.end);
  panel.row = rows_.owner(begin);
  panel.column = columns_.owner(begin);
  panel.left = columns_.before(grid_.column, begin) - place_.left;
  panel.right = columns_.before(grid_.column, panel.end) - place_.left;
  return panel;
}

template <typename T>
void PanelFactorization<T>::start(Messages& messages, const PanelPlace& place,
                                  const LocalMatrix<T>& share) {
  place_ = place;
  share_ = share;
  chosen_ = 0;
  finite_ = true;
  zero_column_ = -1;
  winners_.clear();
  places_.resize(static_cast<std::size_t>(share.rows));
  std::iota(places_.begin(), places_.end(), 0);
  row_at_ = places_;
  for (std::int64_t begin = place.begin;;) {
    panel_ = panelAt(begin);
    if (grid_.column == panel_.column) factorPanel(messages, panel_);
    spread(messages, panel_);
    begin = panel_.end;
    if (begin >= place.end) return;
    arrive(messages);
    if (stopped()) return;
    updateRest(messages, panel_);
  }
}

template <typename T>
void PanelFactorization<T>::finish(Messages& messages) {
  if (!stopped()) arrive(messages);
}

template <typename T>
void PanelFactorization<T>::factorPanel(Messages& messages, const Panel& panel) {
  const LocalMatrix<T> rows =
      share_.part(chosen_, panel.left, share_.rows - chosen_, panel.width());
  if (!shape_.pivoting)
    takeDiagonal(messages, panel);
  else if (alone())
    factorAlone(rows);
  else
    holdTournament(messages, panel, rows);
  const CandidateHead head = factors().head();
  if (head.finite == 0) return;
  findSwaps();
  if (shape_.pivoting && alone()) return;  // with rows already divided and in order
  bringForward(share_.part(0, panel.left, share_.rows, panel.width()));
  const LocalMatrix<T> factors_here = factors().values();
  const auto count = static_cast<std::int64_t>(swaps_.size());
  const LocalMatrix<T> rest = rows.part(count, 0, rows.rows - count, rows.columns);
  if (head.zero >= 0)
    solveSingular(factors_here, rest);
  else
    solveTriangle(CblasRight, CblasUpper, CblasNonUnit, factors_here, rest);
  for (const Swap& swap : swaps_)
    copy(factors_here.part(swap.winner, 0, 1, rows.columns),
         share_.part(swap.to, panel.left, 1, rows.columns));
}

template <typename T>
void PanelFactorization<T>::factorAlone(const LocalMatrix<T>& rows) {
  const Candidates<T> set = factors();
  set.head() = {rows.columns, rows.columns, allFinite(rows) ? 1 : 0, -1};
  if (set.head().finite == 0) return;
  std::vector<int> pivots;
  set.head().zero = factorWithPivots(rows, pivots);
  std::vector<std::int64_t> order(places_.begin() + chosen_, places_.end());
  for (std::size_t i = 0; i < pivots.size(); ++i) {
    std::swap(order[i], order[static_cast<std::size_t>(pivots[i])]);
    set.ids()[i] = rowOf(order[i]);
  }
  copy(rows.part(0, 0, rows.columns, rows.columns), set.values());
}

template <typename T>
void PanelFactorization<T>::holdTournament(Messages& messages, const Panel& panel,
                                           const LocalMatrix<T>& rows) {
  std::vector<std::int64_t> ids;
  for (std::int64_t x = chosen_; x < share_.rows; ++x)
    ids.push_back(rowOf(places_[static_cast<std::size_t>(x)]));
  chooseCandidates(rows, ids, factors_.data());

  const std::int64_t bytes = candidateBytes<T>(panel.width());
  MPI_Op op = createMatch<T>();
  MPI_Datatype type = candidateType<T>(panel.width());
  const auto reduce = [&](MPI_Comm line, int rank, int root) {
    if (ranksOf(line) == 1) return;
    messages.run(line, [&] { MPI_Reduce(factors_.data(), best_.data(), 1, type, op, root, line); });
    if (rank == root) std::copy_n(best_.begin(), bytes / 8, factors_.begin());
  };
  const auto broadcast = [&](MPI_Comm line, int root) {
    if (ranksOf(line) == 1) return;
    messages.run(
        line, [&] { MPI_Bcast(factors_.data(), static_cast<int>(bytes), MPI_BYTE, root, line); });
  };
  reduce(grid_.column_line, grid_.row, panel.row);
  if (grid_.row == panel.row) {
    reduce(grid_.depth_line, grid_.layer, 0);
    if (grid_.layer == 0 && factors().head().finite != 0) factorCandidates<T>(factors_.data());
    broadcast(grid_.depth_line, 0);
  }
  broadcast(grid_.column_line, panel.row);
  MPI_Type_free(&type);
  MPI_Op_free(&op);
}

/// Without pivoting the rows of the diagonal block are the winners, and all processes of the column
/// factor it.
template <typename T>
void PanelFactorization<T>::takeDiagonal(Messages& messages, const Panel& panel) {
  const Candidates<T> set = factors();
  set.head() = {panel.width(), panel.width(), 1, -1};
  std::iota(set.ids(), set.ids() + panel.width(), panel.begin);
  copy(gatherRows(messages, set.ids(), panel.width(),
                  share_.part(0, panel.left, share_.rows, panel.width())),
       set.values());
  set.head().zero = factorWithoutPivots(set.values());
  set.head().finite = allFinite(set.values()) ? 1 : 0;
}

/// Finds the winners among the rows of the share, and moves them before the other rows.
template <typename T>
void PanelFactorization<T>::findSwaps() {
  const Candidates<T> set = factors();
  swaps_.clear();
  for (std::int64_t winner = 0; winner < set.head().width; ++winner) {
    const std::int64_t id = set.ids()[winner];
    const std::int64_t dealt_to = rows_.local(id) - place_.top;
    if (rows_.owner(id) != grid_.row || dealt_to % grid_.layers != grid_.layer) continue;
    const auto place = static_cast<std::size_t>(dealt_to / grid_.layers);
    const std::int64_t from = row_at_[place], to = chosen_++;
    swaps_.push_back({to, from, winner});
    const std::int64_t displaced = places_[static_cast<std::size_t>(to)];
    std::swap(places_[static_cast<std::size_t>(to)], places_[static_cast<std::size_t>(from)]);
    row_at_[static_cast<std::size_t>(displaced)] = from;
    row_at_[place] = to;
  }
}

template <typename T>
void PanelFactorization<T>::bringForward(const LocalMatrix<T>& columns) {
  for (std::int64_t j = 0; j < columns.columns; ++j) {
    T* const column = columns.at(0, j);
    for (const Swap& swap : swaps_)
      std::swap(column[swap.to], column[swap.from]);
  }
}

/// Sends the factors along rows. The last panel's serve only the numbers of its rows: no columns
/// are updated with them.
template <typename T>
std::int64_t PanelFactorization<T>::setBytes(const Panel& panel) const {
  if (panel.end < place_.end) return candidateBytes<T>(panel.width());
  return static_cast<std::int64_t>(sizeof(CandidateHead)) +
         panel.width() * static_cast<std::int64_t>(sizeof(std::int64_t));
}

template <typename T>
void PanelFactorization<T>::spread(Messages& messages, const Panel& panel) {
  under_way_.clear();
  if (grid_.columns == 1) return;
  // All rows of the share not chosen before this panel: receivers do not know those of this one
  // yet.
  const bool mine = grid_.column == panel.column;
  const std::int64_t before =
      chosen_ -
      (mine && factors().head().finite != 0 ? static_cast<std::int64_t>(swaps_.size()) : 0);
  const std::int64_t rows = share_.rows - before;
  const std::int64_t set = setBytes(panel);
  char* const message = reinterpret_cast<char*>(factors_.data());
  if (mine)
    copy(share_.part(before, panel.left, rows, panel.width()),
         LocalMatrix<T>{reinterpret_cast<T*>(message + set), rows, panel.width(), rows});
  const std::int64_t bytes = set + rows * panel.width() * static_cast<std::int64_t>(sizeof(T));
  messages.gather(grid_.row_line);
  for (std::int64_t at = 0; at < bytes; at += kPieceBytes) {
    under_way_.push_back(MPI_REQUEST_NULL);
    messages.inMpi([&] {
      MPI_Ibcast(message + at, static_cast<int>(std::min(kPieceBytes, bytes - at)), MPI_BYTE,
                 panel.column, grid_.row_line, &under_way_.back());
    });
  }
}

template <typename T>
void PanelFactorization<T>::arrive(Messages& messages) {
  if (!under_way_.empty())
    messages.inMpi([&] {
      MPI_Waitall(static_cast<int>(under_way_.size()), under_way_.data(), MPI_STATUSES_IGNORE);
    });
  const Candidates<T> set = factors();
  if (set.head().zero >= 0 && zero_column_ < 0) zero_column_ = panel_.begin + set.head().zero;
  finite_ = set.head().finite != 0;
  if (stopped()) return;
  winners_.insert(winners_.end(), set.ids(), set.ids() + panel_.width());
  const bool mine = grid_.column == panel_.column;
  if (!mine) findSwaps();
  const std::int64_t before = chosen_ - static_cast<std::int64_t>(swaps_.size());
  const std::int64_t rows = share_.rows - before;
  bringForward(share_.part(0, 0, share_.rows, panel_.left));
  bringForward(share_.part(0, panel_.right, share_.rows, share_.columns - panel_.right));
  T* const arrived =
      reinterpret_cast<T*>(reinterpret_cast<char*>(factors_.data()) + setBytes(panel_));
  l_ = mine ? share_.part(before, panel_.left, rows, panel_.width())
            : LocalMatrix<T>{arrived, rows, panel_.width(), rows};
}

template <typename T>
void PanelFactorization<T>::updateRest(Messages& messages, const Panel& panel) {
  const std::int64_t columns = share_.columns - panel.right;
  if (columns == 0) return;
  const Candidates<T> set = factors();
  LocalMatrix<T> u = share_.part(chosen_ - panel.width(), panel.right, panel.width(), columns);
  if (!alone())
    u = gatherRows(messages, set.ids(), panel.width(),
                   share_.part(0, panel.right, share_.rows, columns));
  solveTriangle(CblasLeft, CblasLower, CblasUnit, set.values(), u);
  if (!alone()) {
    for (const Swap& swap : swaps_)
      copy(u.part(swap.winner, 0, 1, columns), share_.part(swap.to, panel.right, 1, columns));
  }
  const std::int64_t rest = share_.rows - chosen_;
  multiplyAdd(T{-1}, l_.part(l_.rows - rest, 0, rest, panel.width()), u,
              share_.part(chosen_, panel.right, rest, columns));
}

/// Gathers rows of the matrix, distributed over the shares of this process's column, in `columns`
/// of the share: along the depth, then along the column.
template <typename T>
LocalMatrix<T> PanelFactorization<T>::gatherRows(Messages& messages, const std::int64_t* winners,
                                                 std::int64_t count,
                                                 const LocalMatrix<T>& columns) {
  const auto layers = static_cast<std::size_t>(grid_.layers);
  // The winners of each process, by process row, then layer.
  std::vector<std::vector<std::int64_t>> of(static_cast<std::size_t>(grid_.rows) * layers);
  for (std::int64_t p = 0; p < count; ++p) {
    const int row = rows_.owner(winners[p]);
    const std::int64_t dealt_to = rows_.local(winners[p]) - rows_.before(row, place_.begin);
    of[static_cast<std::size_t>(row) * layers + static_cast<std::size_t>(dealt_to % grid_.layers)]
        .push_back(p);
  }
  const auto own = static_cast<std::size_t>(grid_.row) * layers;
  const std::vector<std::int64_t>& mine = of[own + static_cast<std::size_t>(grid_.layer)];
  T* to = own_rows_.data();
  for (std::int64_t j = 0; j < columns.columns; ++j) {
    for (const std::int64_t p : mine) {
      const std::int64_t place = (rows_.local(winners[p]) - place_.top) / grid_.layers;
      *to++ = *columns.at(row_at_[static_cast<std::size_t>(place)], j);
    }
  }
  const T* data = own_rows_.data();
  const auto gather = [&](MPI_Comm line, std::vector<T>& room, auto&& count_of) {
    const int size = ranksOf(line);
    if (size == 1) return;
    Layout received;
    for (int r = 0; r < size; ++r)
      received.add(count_of(static_cast<std::size_t>(r)) * columns.columns);
    gatherAll(messages, line, data, room.data(), received);
    data = room.data();
  };
  gather(grid_.depth_line, line_rows_,
         [&](std::size_t layer) { return static_cast<std::int64_t>(of[own + layer].size()); });
  gather(grid_.column_line, all_rows_, [&](std::size_t row) {
    std::int64_t sum = 0;
    for (std::size_t layer = 0; layer < layers; ++layer)
      sum += static_cast<std::int64_t>(of[row * layers + layer].size());
    return sum;
  });
  const LocalMatrix<T> all = matrixIn(u_, count, columns.columns);
  for (const std::vector<std::int64_t>& rows : of) {
    for (std::int64_t j = 0; j < columns.columns; ++j) {
      for (const std::int64_t p : rows)
        *all.at(p, j) = *data++;
    }
  }
  return all;
}

template class PanelFactorization<double>;
template class PanelFactorization<float>;

}  // namespace torc::linalg
