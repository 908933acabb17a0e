// The collectives of a call, on lines of a grid, with their times. MPI counts in `int`: columns of
// a local matrix travel in pieces that fit.
#ifndef TORC_LINALG_GRID_MESSAGES_H_
#define TORC_LINALG_GRID_MESSAGES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include <mpi.h>

namespace torc::linalg {

template <typename T>
MPI_Datatype mpiType();
template <>
inline MPI_Datatype mpiType<double>() {
  return MPI_DOUBLE;
}
template <>
inline MPI_Datatype mpiType<float>() {
  return MPI_FLOAT;
}

/// A local matrix, stored by columns.
template <typename T>
struct LocalMatrix {
  T* data = nullptr;
  std::int64_t rows = 0, columns = 0;
  std::int64_t leading = 1;  // elements from a column to the next

  T* at(std::int64_t row, std::int64_t column) const { return data + row + column * leading; }
  bool contiguous() const { return leading == rows || columns <= 1; }
  LocalMatrix part(std::int64_t row, std::int64_t column, std::int64_t row_count,
                   std::int64_t column_count) const {
    return {at(row, column), row_count, column_count, leading};
  }
};

/// A contiguous matrix in `room`, which grows where it is too small.
template <typename T>
LocalMatrix<T> matrixIn(std::vector<T>& room, std::int64_t rows, std::int64_t columns) {
  const auto elements = static_cast<std::size_t>(rows * columns);
  if (room.size() < elements) room.resize(elements);
  return {room.data(), rows, columns, std::max<std::int64_t>(1, rows)};
}

template <typename T>
void copy(const LocalMatrix<T>& from, const LocalMatrix<T>& to) {
  for (std::int64_t j = 0; j < from.columns; ++j)
    std::copy_n(from.at(0, j), from.rows, to.at(0, j));
}

/// Seconds of a process, since the construction.
class Messages {
 public:
  /// `barriers`: a barrier precedes each collective, and its time counts as idle.
  explicit Messages(bool barriers) : barriers_(barriers), start_(MPI_Wtime()) {}

  /// Runs the MPI call `call`, after a barrier of `line` if idle time is measured.
  template <typename Call>
  void run(MPI_Comm line, Call&& call) {
    gather(line);
    inMpi(std::forward<Call>(call));
  }

  /// Waits for the other ranks of `line`, if idle time is measured.
  void gather(MPI_Comm line) {
    if (!barriers_) return;
    const double begin = MPI_Wtime();
    MPI_Barrier(line);
    idle_ += MPI_Wtime() - begin;
  }

  /// Runs `call`, and counts its time as communication.
  template <typename Call>
  void inMpi(Call&& call) {
    const double begin = MPI_Wtime();
    call();
    communicate_ += MPI_Wtime() - begin;
  }

  double communicate() const { return communicate_; }
  double idle() const { return idle_; }
  double total() const { return MPI_Wtime() - start_; }

 private:
  const bool barriers_;
  const double start_;
  double communicate_ = 0, idle_ = 0;
};

inline int ranksOf(MPI_Comm line) {
  int ranks = 1;
  MPI_Comm_size(line, &ranks);
  return ranks;
}

/// Elements of one message of a local matrix, unless a column has more: 32 MiB of doubles.
inline constexpr std::int64_t kPieceElements = std::int64_t{1} << 22;

inline std::int64_t columnsOfPiece(std::int64_t rows) {
  return std::max<std::int64_t>(1, kPieceElements / std::max<std::int64_t>(1, rows));
}

/// Elements of workspace for the functions below, for a matrix that is not contiguous.
inline std::int64_t pieceRoom(std::int64_t rows, std::int64_t columns) {
  return rows * std::min(columns, columnsOfPiece(rows));
}

/// Calls `collective(data, count)` for pieces of `matrix`, equal on all processes with as many rows
/// and columns. `read`, `write`: whether the call reads and writes them.
template <typename T, typename Collective>
void inPieces(const LocalMatrix<T>& matrix, bool read, bool write, std::vector<T>& room,
              Collective&& collective) {
  const std::int64_t step = columnsOfPiece(matrix.rows);
  if (matrix.rows == 0) return;
  for (std::int64_t j = 0; j < matrix.columns; j += step) {
    const LocalMatrix<T> piece = matrix.part(0, j, matrix.rows, std::min(step, matrix.columns - j));
    const int count = static_cast<int>(piece.rows * piece.columns);
    if (piece.contiguous()) {
      collective(piece.data, count);
      continue;
    }
    const LocalMatrix<T> packed = matrixIn(room, piece.rows, piece.columns);
    if (read) copy(piece, packed);
    collective(packed.data, count);
    if (write) copy(packed, piece);
  }
}

/// Broadcasts `matrix` from rank `root` of `line`; its rows and columns are equal on all ranks.
template <typename T>
void broadcast(Messages& messages, MPI_Comm line, int root, const LocalMatrix<T>& matrix,
               std::vector<T>& room) {
  if (ranksOf(line) == 1) return;
  int rank = 0;
  MPI_Comm_rank(line, &rank);
  inPieces(matrix, rank == root, rank != root, room, [&](T* data, int count) {
    messages.run(line, [&] { MPI_Bcast(data, count, mpiType<T>(), root, line); });
  });
}

/// Sums over `line`, into `matrix` of every rank.
template <typename T>
void sumToAll(Messages& messages, MPI_Comm line, const LocalMatrix<T>& matrix,
              std::vector<T>& room) {
  if (ranksOf(line) == 1) return;
  inPieces(matrix, true, true, room, [&](T* data, int count) {
    messages.run(line,
                 [&] { MPI_Allreduce(MPI_IN_PLACE, data, count, mpiType<T>(), MPI_SUM, line); });
  });
}

/// Sums over `line`, into `matrix` of `root`; others keep theirs.
template <typename T>
void sumTo(Messages& messages, MPI_Comm line, int root, const LocalMatrix<T>& matrix,
           std::vector<T>& room) {
  if (ranksOf(line) == 1) return;
  int rank = 0;
  MPI_Comm_rank(line, &rank);
  inPieces(matrix, true, rank == root, room, [&](T* data, int count) {
    messages.run(line, [&] {
      MPI_Reduce(rank == root ? MPI_IN_PLACE : data, data, count, mpiType<T>(), MPI_SUM, root,
                 line);
    });
  });
}

/// Sums over `line` into `result`; rank r gets counts[r] elements. `data` is contiguous, and has
/// all elements.
template <typename T>
void sumShares(Messages& messages, MPI_Comm line, const T* data, const std::vector<int>& counts,
               T* result) {
  messages.run(
      line, [&] { MPI_Reduce_scatter(data, result, counts.data(), mpiType<T>(), MPI_SUM, line); });
}

/// Elements for, or of, each rank of a line, one after the other: their counts and first places.
struct Layout {
  std::vector<int> counts, places;
  std::size_t all = 0;

  void add(std::int64_t count) {
    places.push_back(static_cast<int>(all));
    counts.push_back(static_cast<int>(count));
    all += static_cast<std::size_t>(count);
  }
};

/// Every rank of `line` gets the elements of all, by `layout`.
template <typename T>
void gatherAll(Messages& messages, MPI_Comm line, const T* data, T* all, const Layout& layout) {
  int rank = 0;
  MPI_Comm_rank(line, &rank);
  messages.run(line, [&] {
    MPI_Allgatherv(data, layout.counts[static_cast<std::size_t>(rank)], mpiType<T>(), all,
                   layout.counts.data(), layout.places.data(), mpiType<T>(), line);
  });
}

/// All-to-all over `line`.
template <typename T>
void exchangeAll(Messages& messages, MPI_Comm line, const T* sent, const Layout& from, T* received,
                 const Layout& to) {
  messages.run(line, [&] {
    MPI_Alltoallv(sent, from.counts.data(), from.places.data(), mpiType<T>(), received,
                  to.counts.data(), to.places.data(), mpiType<T>(), line);
  });
}

}  // namespace torc::linalg

#endif  // TORC_LINALG_GRID_MESSAGES_H_
