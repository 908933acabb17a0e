#include "linalg/lu/factorization.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "linalg/local/overlap.h"

namespace torc::linalg {

template <typename T>
Factorization<T>::Factorization(const ProcessGrid& grid, const LuShape& shape,
                                const LocalMatrix<T>& a)
    : grid_(grid),
      rows_(rowsOf(shape.matrix, grid.rows)),
      columns_(columnsOf(shape.matrix, grid.columns)),
      shape_(shape),
      alone_(grid.rows * grid.layers == 1),
      a_(a),
      panel_(grid, shape),
      shares_(grid),
      row_exchange_(grid, rows_) {}

template <typename T>
void Factorization<T>::allocate() {
  const std::int64_t m = rows_.count(grid_.row);
  const std::int64_t n = columns_.count(grid_.column);
  const std::int64_t outer = shape_.outerWidth(grid_);
  const std::int64_t thin = (outer + grid_.layers - 1) / grid_.layers;
  const std::int64_t mine = (n + grid_.layers - 1) / grid_.layers;
  const auto take = [](std::vector<T>& room, std::int64_t elements) {
    room.resize(static_cast<std::size_t>(elements));
  };
  if (grid_.layer > 0) a_ = matrixIn(sums_, m, n);
  if (!alone_) take(share_room_, dealtTo(m, grid_.layers, 0) * shape_.outerColumns(grid_));
  if (!alone_ || grid_.columns > 1) take(thin_l_room_, m * thin);
  if (grid_.layers > 1) {
    take(own_l_room_, m * shape_.mostDealt(shape_.outerColumns(grid_), grid_.layers));
    take(own_u_room_, n * shape_.mostDealt(shape_.outerRows(grid_), grid_.layers));
    take(l_room_, shape_.outerRows(grid_) * outer);
    take(rows_room_, shape_.outerRows(grid_) * mine);
    take(thin_u_room_, thin * n);
  }
  if (grid_.rows > 1) take(u_room_, outer * mine);
  panel_.allocate();
  if (shape_.pivoting) row_exchange_.reserve(2 * outer, n + thin);
  exchanges_.reserve(static_cast<std::size_t>(shape_.pivots()));
  begins_.reserve(static_cast<std::size_t>(shape_.pivots()));
}

template <typename T>
PanelPlace Factorization<T>::place(std::int64_t begin) const {
  PanelPlace outer;
  outer.begin = begin;
  outer.end = shape_.outerEnd(grid_, begin);
  outer.top = rows_.before(grid_.row, begin);
  outer.below = rows_.before(grid_.row, outer.end);
  outer.left = columns_.before(grid_.column, begin);
  outer.right = columns_.before(grid_.column, outer.end);
  return outer;
}

template <typename T>
void Factorization<T>::startPanel(Messages& messages, const PanelPlace& outer) {
  const LocalMatrix<T> columns =
      a_.part(outer.top, outer.left, a_.rows - outer.top, outer.right - outer.left);
  share_ = columns;
  if (!alone_) {
    share_ =
        matrixIn(share_room_, dealtTo(columns.rows, grid_.layers, grid_.layer), columns.columns);
    if (grid_.layers > 1)
      shares_.sumDealtRows(messages, columns, share_);
    else
      copy(columns, share_);
  }
  panel_.start(messages, outer, share_);
}

/// L of the thin panel, and all of the block column on layer 0, with its rows in the old order.
template <typename T>
void Factorization<T>::finishPanel(Messages& messages, const PanelPlace& outer) {
  const std::int64_t rows = a_.rows - outer.top;
  thin_l_ = panel_.l();
  if (alone_ && grid_.columns == 1) return;
  thin_l_ = matrixIn(thin_l_room_, rows, dealtTo(outer.width(), grid_.layers, grid_.layer));
  const LocalMatrix<T> whole = a_.part(outer.top, outer.left, rows, outer.right - outer.left);
  if (alone_) {
    // The next panel's L is received while this one is in use.
    copy(panel_.l(), thin_l_);
  } else if (grid_.layers == 1) {
    LayerShares<T>::order(panel_.rowAt(), panel_.l(), thin_l_.data);
    for (std::int64_t j = 0; j < whole.columns; ++j)
      LayerShares<T>::order(panel_.rowAt(), share_.part(0, j, rows, 1), whole.at(0, j));
  } else {
    const std::vector<int> layer_of =
        layersOf(columns_, grid_.column, outer.left, outer.right, outer);
    const LocalMatrix<T> own =
        matrixIn(own_l_room_, rows, std::count(layer_of.begin(), layer_of.end(), grid_.layer));
    shares_.spreadColumns(messages, panel_.rowAt(), share_, layer_of, own, whole);
    shares_.gatherColumns(messages, own, ownersOf(columns_, outer), thin_l_);
  }
}

/// The layer that updates each of a process's local rows or columns, `begin` to `end`, of a block
/// column: they are distributed cyclically.
template <typename T>
std::vector<int> Factorization<T>::layersOf(const Cyclic& line, int process, std::int64_t begin,
                                            std::int64_t end, const PanelPlace& outer) const {
  std::vector<int> layers;
  for (std::int64_t i = begin; i < end; ++i)
    layers.push_back(static_cast<int>((line.global(process, i) - outer.begin) % grid_.layers));
  return layers;
}

/// The owner, within a line, of each row or column of this layer.
template <typename T>
std::vector<int> Factorization<T>::ownersOf(const Cyclic& line, const PanelPlace& outer) const {
  std::vector<int> owners;
  for (std::int64_t i = outer.begin + grid_.layer; i < outer.end; i += grid_.layers)
    owners.push_back(line.owner(i));
  return owners;
}

template <typename T>
void Factorization<T>::exchangeRows(Messages& messages, const PanelPlace& outer) {
  const std::vector<std::int64_t> exchanges =
      exchangesFor(outer.begin, panel_.winners().data(), outer.width());
  exchanges_.insert(exchanges_.end(), exchanges.begin(), exchanges.end());
  if (!shape_.pivoting) return;
  std::vector<MovedColumns<T>> columns;
  if (!alone_) {
    columns.push_back({thin_l_, outer.top});
    // Finished columns are on layer 0 only.
    if (grid_.layer == 0)
      columns.push_back({a_.part(0, outer.left, a_.rows, outer.right - outer.left), 0});
  }
  columns.push_back({a_.part(0, outer.right, a_.rows, a_.columns - outer.right), 0});
  row_exchange_.run(messages, movesOf(outer.begin, exchanges.data(), outer.width()), columns);
}

/// The rows of L in each block column are permuted by all later pivots at once.
template <typename T>
void Factorization<T>::exchangeRowsOfL(Messages& messages) {
  if (!shape_.pivoting || grid_.layer > 0) return;
  // The row that comes to a place, unless it is its own, and the place of a row.
  std::map<std::int64_t, std::int64_t> row_at, place_of;
  const auto take = [](std::map<std::int64_t, std::int64_t>& map, std::int64_t key) {
    return map.try_emplace(key, key).first;
  };
  std::int64_t end = shape_.pivots();
  for (std::size_t block = begins_.size(); block-- > 1;) {
    // An earlier exchange swaps the places of its two rows.
    for (std::int64_t first = end; first-- > begins_[block];) {
      const std::int64_t second = exchanges_[static_cast<std::size_t>(first)];
      const auto to_first = take(place_of, first), to_second = take(place_of, second);
      std::swap(to_first->second, to_second->second);
      row_at[to_first->second] = first;
      row_at[to_second->second] = second;
    }
    end = begins_[block];
    std::vector<RowMove> moves;
    for (const auto& [to, from] : row_at) {
      if (to != from) moves.push_back({to, from});
    }
    const PanelPlace outer = place(begins_[block - 1]);
    row_exchange_.run(messages, moves,
                      {{a_.part(0, outer.left, a_.rows, outer.right - outer.left), 0}});
  }
}

/// U of the block row `rows`, by blocks of L on its diagonal, which travel along columns of the
/// grid as soon as they are solved. Then thin_u_ has all of it.
template <typename T>
void Factorization<T>::solve(Messages& messages, const PanelPlace& outer, const LocalMatrix<T>& l,
                             const LocalMatrix<T>& rows) {
  thin_u_ = rows;
  if (grid_.rows > 1) thin_u_ = matrixIn(u_room_, outer.width(), rows.columns);
  for (std::int64_t begin = outer.begin; begin < outer.end;) {
    const std::int64_t end =
        grid_.rows == 1 ? outer.end : std::min(outer.end, (begin / rows_.block + 1) * rows_.block);
    const int owner = grid_.rows == 1 ? 0 : rows_.owner(begin);
    const std::int64_t top = rows_.before(grid_.row, begin) - outer.top;
    const std::int64_t below = rows_.before(grid_.row, end) - outer.top;
    const LocalMatrix<T> u = thin_u_.part(begin - outer.begin, 0, end - begin, rows.columns);
    if (grid_.row == owner) {
      const LocalMatrix<T> own = rows.part(top, 0, end - begin, rows.columns);
      solveTriangle(CblasLeft, CblasLower, CblasUnit,
                    l.part(top, begin - outer.begin, end - begin, end - begin), own);
      if (grid_.rows > 1) copy(own, u);
    }
    broadcast(messages, grid_.column_line, owner, u, room_);
    multiplyAdd(T{-1}, l.part(below, begin - outer.begin, rows.rows - below, end - begin), u,
                rows.part(below, 0, rows.rows - below, rows.columns));
    begin = end;
  }
}

template <typename T>
void Factorization<T>::computeU(Messages& messages, const PanelPlace& outer) {
  const std::int64_t columns = a_.columns - outer.right, height = outer.below - outer.top;
  const LocalMatrix<T> place = a_.part(outer.top, outer.right, height, columns);
  if (grid_.layers == 1) {
    solve(messages, outer, thin_l_.part(0, 0, height, outer.width()), place);
    return;
  }
  const LocalMatrix<T> l = matrixIn(l_room_, height, outer.width());
  shares_.gatherThin(messages, thin_l_.part(0, 0, height, thin_l_.columns), l);
  const LocalMatrix<T> rows =
      matrixIn(rows_room_, height, shareOf(columns, grid_.layers, grid_.layer).size());
  shares_.sumColumns(messages, place, rows);
  solve(messages, outer, l, rows);
  const std::vector<int> layer_of = layersOf(rows_, grid_.row, outer.top, outer.below, outer);
  const LocalMatrix<T> own =
      matrixIn(own_u_room_, std::count(layer_of.begin(), layer_of.end(), grid_.layer), columns);
  shares_.spreadRows(messages, rows, layer_of, own, place);
  thin_u_ = matrixIn(thin_u_room_, thin_l_.columns, columns);
  shares_.gatherRows(messages, own, ownersOf(rows_, outer), thin_u_);
}

template <typename T>
void Factorization<T>::update(Messages& messages, const PanelPlace& outer, bool is_last) {
  const std::int64_t rows = a_.rows - outer.below, columns = a_.columns - outer.right;
  const LocalMatrix<T> l = thin_l_.part(outer.below - outer.top, 0, rows, thin_l_.columns);
  const LocalMatrix<T> u = thin_u_;
  std::int64_t ahead = 0;  // columns of the next block column, the first ones
  if (!is_last) {
    const PanelPlace next = place(outer.end);
    ahead = next.right - next.left;
    multiplyAdd(T{-1}, l, u.part(0, 0, u.rows, ahead),
                a_.part(outer.below, outer.right, rows, ahead));
    startPanel(messages, next);
  }
  std::vector<MPI_Request>& under_way = panel_.underWay();
  multiplyAddBeside(messages, under_way.data(), static_cast<int>(under_way.size()), T{-1}, l,
                    u.part(0, ahead, u.rows, columns - ahead),
                    a_.part(outer.below, outer.right + ahead, rows, columns - ahead));
}

template <typename T>
std::int64_t Factorization<T>::run(Messages& messages, const Progress& progress) {
  const std::int64_t pivots = shape_.pivots();
  std::int64_t zero_column = -1;
  if (pivots > 0) startPanel(messages, place(0));
  for (std::int64_t begin = 0; begin < pivots;) {
    const PanelPlace outer = place(begin);
    begins_.push_back(begin);
    panel_.finish(messages);
    if (zero_column < 0) zero_column = panel_.zeroColumn();
    if (zero_column >= 0 && !shape_.pivoting) return zero_column;
    if (!panel_.finite())
      throw Failure{TORC_LINALG_NOT_FINITE, "infinities or NaN in columns " +
                                                std::to_string(begin) + " to " +
                                                std::to_string(outer.end - 1)};
    finishPanel(messages, outer);
    exchangeRows(messages, outer);
    computeU(messages, outer);
    update(messages, outer, outer.end >= pivots);
    begin = outer.end;
    const double left = static_cast<double>(pivots - begin) / static_cast<double>(pivots);
    progress(1 - left * left * left);
  }
  exchangeRowsOfL(messages);
  int finite = grid_.layer > 0 || allFinite(a_) ? 1 : 0;
  messages.run(grid_.all,
               [&] { MPI_Allreduce(MPI_IN_PLACE, &finite, 1, MPI_INT, MPI_MIN, grid_.all); });
  if (finite == 0) throw Failure{TORC_LINALG_NOT_FINITE, "the factors have infinities or NaN"};
  return zero_column;
}

template class Factorization<double>;
template class Factorization<float>;

}  // namespace torc::linalg
