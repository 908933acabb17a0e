#include "linalg/multiply/cannon.h"

#include <algorithm>
#include <string>

#include "linalg/local/overlap.h"

namespace torc::linalg {
namespace {

int firstStep(int steps, int layers, int layer) {
  return static_cast<int>(std::int64_t{steps} * layer / layers);
}

/// `distance` further along a line, cyclically.
int along(int place, int distance, int size) {
  return ((place + distance) % size + size) % size;
}

/// A message of a whole matrix, which may exceed MPI's counts: it counts columns.
template <typename T>
MPI_Datatype columnType(const LocalMatrix<T>& matrix) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(static_cast<int>(matrix.rows), mpiType<T>(), &type);
  MPI_Type_commit(&type);
  return type;
}

template <typename T>
void shift(const LocalMatrix<T>& from, const LocalMatrix<T>& to, int source, int destination,
           MPI_Comm line, MPI_Request* requests) {
  MPI_Datatype type = columnType(to);
  MPI_Irecv(to.data, static_cast<int>(to.columns), type, source, 0, line, &requests[0]);
  MPI_Type_free(&type);
  type = columnType(from);
  MPI_Isend(from.data, static_cast<int>(from.columns), type, destination, 0, line, &requests[1]);
  MPI_Type_free(&type);
}

}  // namespace

void checkCannon(int rows, int columns, const GemmShape& shape) {
  if (rows != columns)
    throw Failure{TORC_LINALG_ERR_GRID, "Cannon's algorithm needs square layers, not " +
                                            std::to_string(rows) + " x " + std::to_string(columns)};
  if (rows > 1 && shape.a.column_block != shape.b.row_block)
    throw Failure{TORC_LINALG_ERR_MISMATCH,
                  "column blocks of A are " + std::to_string(shape.a.column_block) +
                      ", row blocks of B " + std::to_string(shape.b.row_block) +
                      ": Cannon's algorithm needs the same"};
}

double cannonMemory(int rows, int columns, int layers, const GemmShape& shape, int element) {
  const double m = static_cast<double>(rowsOf(shape.c, rows).most());
  const double n = static_cast<double>(columnsOf(shape.c, columns).most());
  const double k = static_cast<double>(columnsOf(shape.a, columns).most());
  const double pack =
      layers > 1 ? std::min(m * n, std::max(m, static_cast<double>(kPieceElements))) : 0;
  return (3 * (m * k + k * n) + m * n + pack) * element;
}

double cannonWords(int rows, int columns, int layers, const GemmShape& shape) {
  const double m = static_cast<double>(shape.c.rows) / rows;
  const double n = static_cast<double>(shape.c.columns) / columns;
  const double k = static_cast<double>(shape.a.columns) / columns;
  const int steps = rows == 1 ? 0 : rows / layers + (rows % layers != 0 ? 1 : 0);
  double words = steps * (m * k + k * n);
  if (layers > 1) words += m * k + k * n + m * n;
  return words;
}

template <typename T>
Cannon<T>::Cannon(const ProcessGrid& grid, const GemmShape& shape, T alpha, const LocalMatrix<T>& a,
                  const LocalMatrix<T>& b, T beta, const LocalMatrix<T>& c)
    : grid_(grid),
      k_(columnsOf(shape.a, grid.columns)),
      rows_(rowsOf(shape.c, grid.rows)),
      columns_(columnsOf(shape.c, grid.columns)),
      begin_(firstStep(grid.columns, grid.layers, grid.layer)),
      end_(firstStep(grid.columns, grid.layers, grid.layer + 1)),
      alpha_(alpha),
      beta_(beta),
      a_(a),
      b_(b),
      c_(c) {}

template <typename T>
void Cannon<T>::allocate() {
  const std::int64_t m = rows_.count(grid_.row), n = columns_.count(grid_.column);
  for (Slot& slot : slots_) {
    matrixIn(slot.a_room, m, k_.most());
    matrixIn(slot.b_room, k_.most(), n);
  }
  if (grid_.layer > 0) {
    c_ = matrixIn(c_sum_, m, n);
  } else if (grid_.layers > 1 && !c_.contiguous()) {
    room_.resize(static_cast<std::size_t>(pieceRoom(m, n)));
  }
}

/// Copies one of the parts of a set of k to `slot`.
template <typename T>
void Cannon<T>::take(Slot& slot, int set) const {
  const std::int64_t m = rows_.count(grid_.row), k = k_.count(set),
                     n = columns_.count(grid_.column);
  slot.a = matrixIn(slot.a_room, m, k);
  slot.b = matrixIn(slot.b_room, k, n);
}

/// Broadcasts the processes' own parts from layer 0 to all layers: those of A into slot 0, likewise
/// those of B, whose sets of k differ off the diagonal.
template <typename T>
void Cannon<T>::replicate(Messages& messages) {
  take(slots_[0], grid_.column);
  const LocalMatrix<T> a = slots_[0].a;
  take(slots_[0], grid_.row);
  slots_[0].a = a;
  if (grid_.layer == 0) {
    copy(a_, a);
    copy(b_, slots_[0].b);
  }
  broadcast(messages, grid_.depth_line, 0, a, room_);
  broadcast(messages, grid_.depth_line, 0, slots_[0].b, room_);
}

/// Starts the transfer of the parts of `step` into `to`: A from `a_distance` columns to the right,
/// B from `b_distance` rows below.
template <typename T>
void Cannon<T>::post(const Slot& from, Slot& to, int step, int a_distance, int b_distance,
                     MPI_Request* requests) {
  const int size = grid_.columns;
  take(to, setOf(step));
  shift(from.a, to.a, along(grid_.column, a_distance, size), along(grid_.column, -a_distance, size),
        grid_.row_line, requests);
  shift(from.b, to.b, along(grid_.row, b_distance, size), along(grid_.row, -b_distance, size),
        grid_.column_line, requests + 2);
}

template <typename T>
void Cannon<T>::run(Messages& messages, const Progress& progress) {
  replicate(messages);
  if (grid_.layer == 0) scale(beta_, c_);
  MPI_Request requests[4];
  // The skew: in the layer's first step column q of row r has set r + q + begin of A, initially in
  // that column.
  messages.gather(grid_.row_line);
  messages.inMpi([&] {
    post(slots_[0], slots_[1], begin_, grid_.row + begin_, grid_.column + begin_, requests);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  });
  for (int step = begin_; step < end_; ++step) {
    Slot& current = slots_[(step - begin_ + 1) % 2];
    Slot& next = slots_[(step - begin_) % 2];
    std::fill_n(requests, 4, MPI_REQUEST_NULL);
    if (step + 1 < end_) {
      messages.gather(grid_.row_line);
      messages.inMpi([&] { post(current, next, step + 1, 1, 1, requests); });
    }
    if (alpha_ != 0) multiplyAddBeside(messages, requests, 4, alpha_, current.a, current.b, c_);
    messages.inMpi([&] { MPI_Waitall(4, requests, MPI_STATUSES_IGNORE); });
    progress(static_cast<double>(step + 1 - begin_) / (end_ - begin_));
  }
  sumTo(messages, grid_.depth_line, 0, c_, room_);
}

template class Cannon<double>;
template class Cannon<float>;

}  // namespace torc::linalg
