#include "linalg/lu/row_exchange.h"

#include <algorithm>
#include <map>

namespace torc::linalg {

std::vector<std::int64_t> exchangesFor(std::int64_t first, const std::int64_t* winners,
                                       std::int64_t count) {
  // The places of displaced rows, and the rows at changed places.
  std::map<std::int64_t, std::int64_t> place_of, row_at;
  const auto find = [](const std::map<std::int64_t, std::int64_t>& map, std::int64_t key) {
    const auto it = map.find(key);
    return it == map.end() ? key : it->second;
  };
  std::vector<std::int64_t> exchanges;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t place = find(place_of, winners[i]);
    const std::int64_t displaced = find(row_at, first + i);
    exchanges.push_back(place);
    row_at[place] = displaced;
    place_of[displaced] = place;
    row_at[first + i] = winners[i];
    place_of[winners[i]] = first + i;
  }
  return exchanges;
}

std::vector<RowMove> movesOf(std::int64_t first, const std::int64_t* exchanges,
                             std::int64_t count) {
  std::map<std::int64_t, std::int64_t> row_at;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto here = row_at.try_emplace(first + i, first + i).first;
    const auto there = row_at.try_emplace(exchanges[i], exchanges[i]).first;
    std::swap(here->second, there->second);
  }
  std::vector<RowMove> moves;
  for (const auto& [to, from] : row_at) {
    if (to != from) moves.push_back({to, from});
  }
  return moves;
}

template <typename T>
void RowExchange<T>::reserve(std::int64_t moves, std::int64_t columns) {
  sent_.reserve(static_cast<std::size_t>(pieceRoom(moves, columns)));
  received_.reserve(static_cast<std::size_t>(pieceRoom(moves, columns)));
}

template <typename T>
void RowExchange<T>::run(Messages& messages, const std::vector<RowMove>& moves,
                         const std::vector<MovedColumns<T>>& columns) {
  if (moves.empty()) return;
  std::int64_t all_columns = 0;
  for (const MovedColumns<T>& part : columns)
    all_columns += part.matrix.columns;

  if (grid_.rows == 1) {
    // One column at a time, for the cache.
    received_.resize(moves.size());
    for (const MovedColumns<T>& part : columns) {
      for (std::int64_t j = 0; j < part.matrix.columns; ++j) {
        T* const column = part.matrix.at(0, j) - part.first_row;
        T* moved = received_.data();
        for (const RowMove& move : moves)
          *moved++ = column[move.from];
        moved = received_.data();
        for (const RowMove& move : moves)
          column[move.to] = *moved++;
      }
    }
    return;
  }

  // The moves from and to this process by peer, in the order of `moves`, which both sides know.
  std::vector<std::vector<std::int64_t>> to_peer(static_cast<std::size_t>(grid_.rows));
  std::vector<std::vector<std::int64_t>> from_peer(to_peer.size());
  for (const RowMove& move : moves) {
    const int to = rows_.owner(move.to);
    const int from = rows_.owner(move.from);
    if (from == grid_.row) to_peer[static_cast<std::size_t>(to)].push_back(rows_.local(move.from));
    if (to == grid_.row) from_peer[static_cast<std::size_t>(from)].push_back(rows_.local(move.to));
  }
  // Columns of one round; several rounds are needed only for large moves.
  const std::int64_t most = std::min(columnsOfPiece(static_cast<std::int64_t>(moves.size())),
                                     std::max<std::int64_t>(1, all_columns));
  for (std::int64_t begin = 0; begin < all_columns; begin += most) {
    const std::int64_t end = std::min(all_columns, begin + most);
    const auto each = [&](auto&& visit) {
      std::int64_t at = 0;
      for (const MovedColumns<T>& part : columns) {
        const std::int64_t low = std::max(begin, at),
                           high = std::min(end, at + part.matrix.columns);
        for (std::int64_t j = low; j < high; ++j)
          visit(part.matrix.at(0, j - at), part.first_row, j - begin);
        at += part.matrix.columns;
      }
    };
    Layout sent, received;
    for (std::size_t peer = 0; peer < to_peer.size(); ++peer) {
      sent.add(static_cast<std::int64_t>(to_peer[peer].size()) * (end - begin));
      received.add(static_cast<std::int64_t>(from_peer[peer].size()) * (end - begin));
    }
    sent_.resize(sent.all);
    received_.resize(received.all);
    each([&](T* column, std::int64_t first, std::int64_t j) {
      for (std::size_t peer = 0; peer < to_peer.size(); ++peer) {
        T* to =
            sent_.data() + sent.places[peer] + j * static_cast<std::int64_t>(to_peer[peer].size());
        for (const std::int64_t row : to_peer[peer])
          *to++ = column[row - first];
      }
    });
    exchangeAll(messages, grid_.column_line, sent_.data(), sent, received_.data(), received);
    each([&](T* column, std::int64_t first, std::int64_t j) {
      for (std::size_t peer = 0; peer < from_peer.size(); ++peer) {
        const T* from = received_.data() + received.places[peer] +
                        j * static_cast<std::int64_t>(from_peer[peer].size());
        for (const std::int64_t row : from_peer[peer])
          column[row - first] = *from++;
      }
    });
  }
}

template class RowExchange<double>;
template class RowExchange<float>;

}  // namespace torc::linalg
