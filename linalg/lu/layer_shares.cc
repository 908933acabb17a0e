#include "linalg/lu/layer_shares.h"

#include <algorithm>

namespace torc::linalg {
namespace {

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
void LayerShares<T>::order(const std::vector<std::int64_t>& row_at, const LocalMatrix<T>& from,
                           T* to) {
  for (std::int64_t j = 0; j < from.columns; ++j) {
    const T* const column = from.at(0, j);
    for (const std::int64_t row : row_at)
      *to++ = column[row];
  }
}

template <typename T>
void LayerShares<T>::spreadColumns(Messages& messages, const std::vector<std::int64_t>& row_at,
                                   const LocalMatrix<T>& share, const std::vector<int>& layer_of,
                                   const LocalMatrix<T>& own, const LocalMatrix<T>& whole) {
  const int layers = grid_.layers;
  const std::int64_t rows = whole.rows, step = columnsOfPiece(2 * rows);
  const bool is_first = grid_.layer == 0;
  std::int64_t own_done = 0;
  for (std::int64_t first = 0; first < share.columns && rows > 0; first += step) {
    const std::int64_t last = std::min(first + step, share.columns);
    const auto of = [&](int layer) {
      return std::count(layer_of.begin() + first, layer_of.begin() + last, layer);
    };
    const std::int64_t mine = of(grid_.layer);
    Layout sent, received;
    for (int layer = 0; layer < layers; ++layer) {
      sent.add(share.rows * (of(layer) + (layer == 0 ? last - first : 0)));
      received.add(dealtTo(rows, layers, layer) * (mine + (is_first ? last - first : 0)));
    }
    sent_.resize(sent.all);
    received_.resize(received.all);
    T* to = sent_.data();
    const auto pack = [&](std::int64_t j) {
      order(row_at, share.part(0, j, share.rows, 1), to);
      to += share.rows;
    };
    for (int layer = 0; layer < layers; ++layer) {
      for (std::int64_t j = first; j < last; ++j) {
        if (layer_of[static_cast<std::size_t>(j)] == layer) pack(j);
      }
      for (std::int64_t j = first; layer == 0 && j < last; ++j)
        pack(j);
    }
    exchangeAll(messages, grid_.depth_line, sent_.data(), sent, received_.data(), received);
    const T* from = received_.data();
    for (int layer = 0; layer < layers; ++layer) {
      const auto unpack = [&](const LocalMatrix<T>& columns) {
        for (std::int64_t j = 0; j < columns.columns; ++j) {
          for (std::int64_t i = layer; i < rows; i += layers)
            *columns.at(i, j) = *from++;
        }
      };
      unpack(own.part(0, own_done, rows, mine));
      if (is_first) unpack(whole.part(0, first, rows, last - first));
    }
    own_done += mine;
  }
}

template <typename T>
void LayerShares<T>::spreadRows(Messages& messages, const LocalMatrix<T>& share,
                                const std::vector<int>& layer_of, const LocalMatrix<T>& own,
                                const LocalMatrix<T>& whole) {
  const int layers = grid_.layers;
  const bool is_first = grid_.layer == 0;
  const std::int64_t rows = share.rows, most = shareOf(own.columns, layers, layers - 1).size();
  const std::int64_t step = columnsOfPiece(2 * rows);
  for (std::int64_t first = 0; first < most && rows > 0; first += step) {
    Layout sent, received;
    const Share mine = inRound({0, share.columns}, first, step);
    for (int layer = 0; layer < layers; ++layer) {
      sent.add((std::count(layer_of.begin(), layer_of.end(), layer) + (layer == 0 ? rows : 0)) *
               mine.size());
      received.add((own.rows + (is_first ? rows : 0)) *
                   inRound(shareOf(own.columns, layers, layer), first, step).size());
    }
    sent_.resize(sent.all);
    received_.resize(received.all);
    T* to = sent_.data();
    for (int layer = 0; layer < layers; ++layer) {
      for (std::int64_t j = mine.begin; j < mine.end; ++j) {
        for (std::int64_t i = 0; i < rows; ++i) {
          if (layer_of[static_cast<std::size_t>(i)] == layer) *to++ = *share.at(i, j);
        }
        if (layer == 0) to = std::copy_n(share.at(0, j), rows, to);
      }
    }
    exchangeAll(messages, grid_.depth_line, sent_.data(), sent, received_.data(), received);
    const T* from = received_.data();
    for (int layer = 0; layer < layers; ++layer) {
      const Share theirs = inRound(shareOf(own.columns, layers, layer), first, step);
      for (std::int64_t j = theirs.begin; j < theirs.end; ++j) {
        std::copy_n(from, own.rows, own.at(0, j));
        from += own.rows;
        if (!is_first) continue;
        std::copy_n(from, rows, whole.at(0, j));
        from += rows;
      }
    }
  }
}

template <typename T>
void LayerShares<T>::gatherColumns(Messages& messages, const LocalMatrix<T>& own,
                                   const std::vector<int>& owner, const LocalMatrix<T>& thin) {
  if (thin.rows == 0) return;
  // Destinations of each process's columns.
  std::vector<std::vector<std::int64_t>> of(static_cast<std::size_t>(grid_.columns));
  std::int64_t most = 0;
  for (std::size_t x = 0; x < owner.size(); ++x) {
    std::vector<std::int64_t>& theirs = of[static_cast<std::size_t>(owner[x])];
    theirs.push_back(static_cast<std::int64_t>(x));
    most = std::max(most, static_cast<std::int64_t>(theirs.size()));
  }
  const std::int64_t step = columnsOfPiece(thin.rows * grid_.columns);
  for (std::int64_t first = 0; first < most; first += step) {
    Layout received;
    for (const std::vector<std::int64_t>& theirs : of)
      received.add(thin.rows *
                   inRound({0, static_cast<std::int64_t>(theirs.size())}, first, step).size());
    received_.resize(received.all);
    gatherAll(messages, grid_.row_line, own.at(0, std::min(first, own.columns)), received_.data(),
              received);
    const T* from = received_.data();
    for (const std::vector<std::int64_t>& theirs : of) {
      const Share round = inRound({0, static_cast<std::int64_t>(theirs.size())}, first, step);
      for (std::int64_t x = round.begin; x < round.end; ++x, from += thin.rows)
        std::copy_n(from, thin.rows, thin.at(0, theirs[static_cast<std::size_t>(x)]));
    }
  }
}

template <typename T>
void LayerShares<T>::gatherRows(Messages& messages, const LocalMatrix<T>& own,
                                const std::vector<int>& owner, const LocalMatrix<T>& thin) {
  const std::int64_t step = columnsOfPiece(thin.rows);
  for (std::int64_t first = 0; first < thin.columns && thin.rows > 0; first += step) {
    const std::int64_t columns = std::min(step, thin.columns - first);
    Layout received;
    for (int row = 0; row < grid_.rows; ++row)
      received.add(std::count(owner.begin(), owner.end(), row) * columns);
    received_.resize(received.all);
    gatherAll(messages, grid_.column_line, own.at(0, first), received_.data(), received);
    const T* from = received_.data();
    for (int row = 0; row < grid_.rows; ++row) {
      for (std::int64_t j = first; j < first + columns; ++j) {
        for (std::int64_t x = 0; x < thin.rows; ++x) {
          if (owner[static_cast<std::size_t>(x)] == row) *thin.at(x, j) = *from++;
        }
      }
    }
  }
}

template <typename T>
void LayerShares<T>::gatherThin(Messages& messages, const LocalMatrix<T>& thin,
                                const LocalMatrix<T>& all) {
  const int layers = grid_.layers;
  if (all.rows == 0) return;
  const std::int64_t step = columnsOfPiece(all.rows * layers);
  for (std::int64_t first = 0; first < dealtTo(all.columns, layers, 0); first += step) {
    Layout received;
    const auto round = [&](int layer) {
      return inRound({0, dealtTo(all.columns, layers, layer)}, first, step);
    };
    for (int layer = 0; layer < layers; ++layer)
      received.add(all.rows * round(layer).size());
    const Share mine = round(grid_.layer);
    sent_.resize(static_cast<std::size_t>(all.rows * mine.size()));
    received_.resize(received.all);
    copy(thin.part(0, mine.begin, all.rows, mine.size()), matrixIn(sent_, all.rows, mine.size()));
    gatherAll(messages, grid_.depth_line, sent_.data(), received_.data(), received);
    const T* from = received_.data();
    for (int layer = 0; layer < layers; ++layer) {
      const Share theirs = round(layer);
      for (std::int64_t x = theirs.begin; x < theirs.end; ++x, from += all.rows)
        std::copy_n(from, all.rows, all.at(0, x * layers + layer));
    }
  }
}

template class LayerShares<double>;
template class LayerShares<float>;

}  // namespace torc::linalg
