#include "linalg/lu/layer_shares.h"

#include <algorithm>

namespace torc::linalg {
namespace {

/// Counts of a line's ranks, and where each begins.
struct Layout {
  std::vector<int> counts, places;
  std::size_t all = 0;

  void add(std::int64_t count) {
    places.push_back(static_cast<int>(all));
    counts.push_back(static_cast<int>(count));
    all += static_cast<std::size_t>(count);
  }
};

/// The columns of `share` that are in a round of columns.
Share inRound(const Share& share, std::int64_t first, std::int64_t columns) {
  return {std::min(share.end, share.begin + first),
          std::min(share.end, share.begin + first + columns)};
}

}  // namespace

template <typename T>
void LayerShares<T>::sumDealtRows(Messages& messages, const LocalMatrix<T>& matrix,
                                  const LocalMatrix<T>& share) {
  const int layers = grid_.layers;
  const std::int64_t step = columnsOfPiece(matrix.rows);
  for (std::int64_t first = 0; first < matrix.columns && matrix.rows > 0; first += step) {
    const std::int64_t columns = std::min(step, matrix.columns - first);
    std::vector<int> counts;
    sent_.resize(static_cast<std::size_t>(matrix.rows * columns));
    T* to = sent_.data();
    for (int layer = 0; layer < layers; ++layer) {
      counts.push_back(static_cast<int>(dealtTo(matrix.rows, layers, layer) * columns));
      for (std::int64_t j = 0; j < columns; ++j) {
        const T* const column = matrix.at(0, first + j);
        for (std::int64_t i = layer; i < matrix.rows; i += layers)
          *to++ = column[i];
      }
    }
    sumShares(messages, grid_.depth_line, sent_.data(), counts, share.at(0, first));
  }
}

template <typename T>
void LayerShares<T>::sumColumns(Messages& messages, const LocalMatrix<T>& matrix,
                                const LocalMatrix<T>& share) {
  const int layers = grid_.layers;
  const std::int64_t most = shareOf(matrix.columns, layers, layers - 1).size();
  const std::int64_t step = std::max<std::int64_t>(1, columnsOfPiece(matrix.rows) / layers);
  for (std::int64_t first = 0; first < most && matrix.rows > 0; first += step) {
    std::vector<int> counts;
    sent_.resize(static_cast<std::size_t>(matrix.rows * std::min(matrix.columns, step * layers)));
    T* to = sent_.data();
    for (int layer = 0; layer < layers; ++layer) {
      const Share columns = inRound(shareOf(matrix.columns, layers, layer), first, step);
      counts.push_back(static_cast<int>(matrix.rows * columns.size()));
      copy(matrix.part(0, columns.begin, matrix.rows, columns.size()),
           LocalMatrix<T>{to, matrix.rows, columns.size(), matrix.rows});
      to += counts.back();
    }
    sumShares(messages, grid_.depth_line, sent_.data(), counts, share.at(0, first));
  }
}

template <typename T>
void LayerShares<T>::spreadL(Messages& messages, const std::vector<std::int64_t>& row_at,
                             const LocalMatrix<T>& l, const LocalMatrix<T>& panel,
                             const LocalMatrix<T>& thin_l, const LocalMatrix<T>& whole_panel) {
  const int layers = grid_.layers;
  const auto pack = [&](const LocalMatrix<T>& from, const Share& columns, T* to) {
    for (std::int64_t j = columns.begin; j < columns.end; ++j) {
      const T* const column = from.at(0, j);
      for (const std::int64_t row : row_at)
        *to++ = column[row];
    }
    return to;
  };
  const auto unpack = [&](const T* from, int layer, const LocalMatrix<T>& to,
                          const Share& columns) {
    for (std::int64_t j = columns.begin; j < columns.end; ++j) {
      T* const column = to.at(0, j);
      for (std::int64_t i = layer; i < to.rows; i += layers)
        column[i] = *from++;
    }
    return from;
  };
  if (layers == 1) {
    for (std::int64_t j = 0; j < l.columns; ++j)
      pack(l, {j, j + 1}, thin_l.at(0, j));
    for (std::int64_t j = 0; j < panel.columns; ++j)
      pack(panel, {j, j + 1}, whole_panel.at(0, j));
    return;
  }
  if (thin_l.rows == 0) return;
  const Share own_columns = {0, thin_l.columns};
  const Share panel_columns = {0, panel.columns};
  const std::int64_t most = std::max(shareOf(l.columns, layers, layers - 1).size(), panel.columns);
  const std::int64_t step = std::max<std::int64_t>(1, columnsOfPiece(thin_l.rows) / 2);
  for (std::int64_t first = 0; first < most; first += step) {
    Layout sent, received;
    const Share thin = inRound(own_columns, first, step),
                whole = inRound(panel_columns, first, step);
    for (int layer = 0; layer < layers; ++layer) {
      const auto rows = static_cast<std::int64_t>(row_at.size());
      sent.add(rows * (inRound(shareOf(l.columns, layers, layer), first, step).size() +
                       (layer == 0 ? whole.size() : 0)));
      received.add(dealtTo(thin_l.rows, layers, layer) *
                   (thin.size() + (grid_.layer == 0 ? whole.size() : 0)));
    }
    sent_.resize(sent.all);
    received_.resize(received.all);
    T* to = sent_.data();
    for (int layer = 0; layer < layers; ++layer) {
      to = pack(l, inRound(shareOf(l.columns, layers, layer), first, step), to);
      if (layer == 0) to = pack(panel, whole, to);
    }
    exchangeAll(messages, grid_.depth_line, sent_.data(), sent.counts, sent.places,
                received_.data(), received.counts, received.places);
    const T* from = received_.data();
    for (int layer = 0; layer < layers; ++layer) {
      from = unpack(from, layer, thin_l, thin);
      if (grid_.layer == 0) from = unpack(from, layer, whole_panel, whole);
    }
  }
}

template <typename T>
void LayerShares<T>::spreadU(Messages& messages, const LocalMatrix<T>& u,
                             const LocalMatrix<T>& rows, const LocalMatrix<T>& thin_u,
                             const LocalMatrix<T>& whole_rows) {
  const int layers = grid_.layers;
  const std::int64_t columns = thin_u.columns;
  const std::int64_t most = shareOf(columns, layers, layers - 1).size();
  const std::int64_t step = std::max<std::int64_t>(1, columnsOfPiece(u.rows) / 2);
  for (std::int64_t first = 0; first < most; first += step) {
    Layout sent, received;
    const Share mine = inRound({0, u.columns}, first, step);
    for (int layer = 0; layer < layers; ++layer) {
      sent.add((shareOf(u.rows, layers, layer).size() + (layer == 0 ? rows.rows : 0)) *
               mine.size());
      received.add((thin_u.rows + (grid_.layer == 0 ? rows.rows : 0)) *
                   inRound(shareOf(columns, layers, layer), first, step).size());
    }
    sent_.resize(sent.all);
    received_.resize(received.all);
    for (int layer = 0; layer < layers; ++layer) {
      const Share thin = shareOf(u.rows, layers, layer);
      T* const to = sent_.data() + sent.places[static_cast<std::size_t>(layer)];
      const std::int64_t all = thin.size() + (layer == 0 ? rows.rows : 0);
      copy(u.part(thin.begin, mine.begin, thin.size(), mine.size()),
           LocalMatrix<T>{to, thin.size(), mine.size(), all});
      if (layer == 0)
        copy(rows.part(0, mine.begin, rows.rows, mine.size()),
             LocalMatrix<T>{to + thin.size(), rows.rows, mine.size(), all});
    }
    exchangeAll(messages, grid_.depth_line, sent_.data(), sent.counts, sent.places,
                received_.data(), received.counts, received.places);
    for (int layer = 0; layer < layers; ++layer) {
      const Share theirs = inRound(shareOf(columns, layers, layer), first, step);
      T* const from = received_.data() + received.places[static_cast<std::size_t>(layer)];
      const std::int64_t all = thin_u.rows + (grid_.layer == 0 ? rows.rows : 0);
      copy(LocalMatrix<T>{from, thin_u.rows, theirs.size(), all},
           thin_u.part(0, theirs.begin, thin_u.rows, theirs.size()));
      if (grid_.layer == 0)
        copy(LocalMatrix<T>{from + thin_u.rows, rows.rows, theirs.size(), all},
             whole_rows.part(0, theirs.begin, rows.rows, theirs.size()));
    }
  }
}

template <typename T>
void LayerShares<T>::gatherThin(Messages& messages, const LocalMatrix<T>& thin,
                                const LocalMatrix<T>& all) {
  const int layers = grid_.layers;
  if (all.rows == 0) return;
  const std::int64_t step = std::max<std::int64_t>(1, columnsOfPiece(all.rows) / layers);
  const std::int64_t most = shareOf(all.columns, layers, layers - 1).size();
  for (std::int64_t first = 0; first < most; first += step) {
    Layout received;
    for (int layer = 0; layer < layers; ++layer)
      received.add(all.rows * inRound(shareOf(all.columns, layers, layer), first, step).size());
    const Share mine = inRound({0, thin.columns}, first, step);
    sent_.resize(static_cast<std::size_t>(all.rows * mine.size()));
    received_.resize(received.all);
    copy(thin.part(0, mine.begin, all.rows, mine.size()), matrixIn(sent_, all.rows, mine.size()));
    gatherAll(messages, grid_.depth_line, sent_.data(), received_.data(), received.counts,
              received.places);
    for (int layer = 0; layer < layers; ++layer) {
      const Share theirs = inRound(shareOf(all.columns, layers, layer), first, step);
      copy(LocalMatrix<T>{received_.data() + received.places[static_cast<std::size_t>(layer)],
                          all.rows, theirs.size(), all.rows},
           all.part(0, theirs.begin, all.rows, theirs.size()));
    }
  }
}

template class LayerShares<double>;
template class LayerShares<float>;

}  // namespace torc::linalg
