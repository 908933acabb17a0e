#include "linalg/multiply/summa.h"

#include <algorithm>
#include <string>

#include "linalg/local/overlap.h"

namespace torc::linalg {
namespace {

std::string shapeText(const torc_linalg_matrix& matrix) {
  return std::to_string(matrix.rows) + " x " + std::to_string(matrix.columns);
}

}  // namespace

std::vector<Panel> panelsOfLayer(std::int64_t k, std::int64_t block_of_a, std::int64_t block_of_b,
                                 std::int64_t width, int layers, int layer) {
  // k may be near 2^40, and layers are at most 1290: the product fits.
  const std::int64_t end = k * (layer + 1) / layers;
  std::vector<Panel> panels;
  for (std::int64_t at = k * layer / layers; at < end;) {
    const std::int64_t next = std::min(
        {end, at + width, (at / block_of_a + 1) * block_of_a, (at / block_of_b + 1) * block_of_b});
    panels.push_back({at, next});
    at = next;
  }
  return panels;
}

std::int64_t GemmShape::blockOfA(int grid_columns) const {
  return grid_columns == 1 ? std::max<std::int64_t>(1, a.columns) : a.column_block;
}

std::int64_t GemmShape::blockOfB(int grid_rows) const {
  return grid_rows == 1 ? std::max<std::int64_t>(1, b.rows) : b.row_block;
}

std::int64_t GemmShape::width(int grid_rows, int grid_columns) const {
  return std::min({panel, a.columns, blockOfA(grid_columns), blockOfB(grid_rows)});
}

void checkGemm(const GemmShape& shape) {
  const auto& [a, b, c, panel] = shape;
  if (a.columns != b.rows || a.rows != c.rows || b.columns != c.columns)
    throw Failure{TORC_LINALG_ERR_MISMATCH, "A is " + shapeText(a) + ", B " + shapeText(b) +
                                                " and C " + shapeText(c) +
                                                ": C is not of the size of A B"};
  if (a.row_block != c.row_block)
    throw Failure{TORC_LINALG_ERR_MISMATCH, "row blocks of A are " + std::to_string(a.row_block) +
                                                ", those of C " + std::to_string(c.row_block)};
  if (b.column_block != c.column_block)
    throw Failure{TORC_LINALG_ERR_MISMATCH, "column blocks of B are " +
                                                std::to_string(b.column_block) + ", those of C " +
                                                std::to_string(c.column_block)};
  if (panel < 1 && !shape.byCannon())
    throw Failure{TORC_LINALG_ERR_ARGUMENT,
                  "a panel of " + std::to_string(panel) + " columns: it has 1 or more"};
}

double gemmMemory(int rows, int columns, int layers, const GemmShape& shape, int element) {
  const double m = static_cast<double>(rowsOf(shape.c, rows).most());
  const double n = static_cast<double>(columnsOf(shape.c, columns).most());
  const double a = m * static_cast<double>(columnsOf(shape.a, columns).most());
  const double b = n * static_cast<double>(rowsOf(shape.b, rows).most());
  const double width = static_cast<double>(shape.width(rows, columns));
  double elements = a + b + m * n + 2 * width * ((columns > 1 ? m : 0) + (rows > 1 ? n : 0));
  if (layers > 1) {
    // A piece of a matrix whose leading dimension is not its number of rows.
    const auto piece = [](double whole, double column) {
      return std::min(whole, std::max(column, static_cast<double>(kPieceElements)));
    };
    elements += std::max({piece(a, m), piece(b, static_cast<double>(rowsOf(shape.b, rows).most())),
                          piece(m * n, m)});
  }
  return elements * element;
}

double gemmWords(int rows, int columns, int layers, const GemmShape& shape) {
  const double m = static_cast<double>(shape.c.rows) / rows;
  const double n = static_cast<double>(shape.c.columns) / columns;
  const double k = static_cast<double>(shape.a.columns);
  double words = m * k / layers * (columns - 1) / columns + n * k / layers * (rows - 1) / rows;
  if (layers > 1) words += m * k / columns + n * k / rows + m * n;
  return words;
}

template <typename T>
Summa<T>::Summa(const ProcessGrid& grid, const GemmShape& shape, T alpha, const LocalMatrix<T>& a,
                const LocalMatrix<T>& b, T beta, const LocalMatrix<T>& c)
    : grid_(grid),
      shape_(shape),
      a_columns_(columnsOf(shape.a, grid.columns)),
      b_rows_(rowsOf(shape.b, grid.rows)),
      alpha_(alpha),
      beta_(beta),
      a_(a),
      b_(b),
      c_(c) {}

template <typename T>
void Summa<T>::allocate() {
  panels_ = panelsOfLayer(shape_.a.columns, shape_.blockOfA(grid_.columns),
                          shape_.blockOfB(grid_.rows), shape_.panel, grid_.layers, grid_.layer);
  const std::int64_t m = rowsOf(shape_.c, grid_.rows).count(grid_.row);
  const std::int64_t n = columnsOf(shape_.c, grid_.columns).count(grid_.column);
  if (grid_.layer > 0) {
    a_ = matrixIn(a_copy_, m, a_columns_.count(grid_.column));
    b_ = matrixIn(b_copy_, b_rows_.count(grid_.row), n);
    c_ = matrixIn(c_sum_, m, n);
  } else if (grid_.layers > 1) {
    std::int64_t room = 0;
    for (const LocalMatrix<T>& matrix : {a_, b_, c_}) {
      if (!matrix.contiguous()) room = std::max(room, pieceRoom(matrix.rows, matrix.columns));
    }
    room_.resize(static_cast<std::size_t>(room));
  }
  std::int64_t width = 0;
  for (const Panel& panel : panels_)
    width = std::max(width, panel.end - panel.begin);
  for (Slot& slot : slots_) {
    if (grid_.columns > 1) slot.a_room.resize(static_cast<std::size_t>(m * width));
    if (grid_.rows > 1) slot.b_room.resize(static_cast<std::size_t>(n * width));
  }
}

template <typename T>
void Summa<T>::replicate(Messages& messages) {
  // Layer 0 sends its own matrix; the others receive into their copies.
  broadcast(messages, grid_.depth_line, 0, a_, room_);
  broadcast(messages, grid_.depth_line, 0, b_, room_);
}

template <typename T>
void Summa<T>::post(Messages& messages, const Panel& panel, Slot& slot) {
  const std::int64_t width = panel.end - panel.begin;
  const int column = a_columns_.owner(panel.begin);
  const int row = b_rows_.owner(panel.begin);
  const std::int64_t a_place = a_columns_.local(panel.begin);
  const std::int64_t b_place = b_rows_.local(panel.begin);
  if (grid_.columns == 1) {
    slot.a = a_.part(0, a_place, a_.rows, width);
  } else {
    const LocalMatrix<T> room = matrixIn(slot.a_room, a_.rows, width);
    if (grid_.column == column) copy(a_.part(0, a_place, a_.rows, width), room);
    messages.gather(grid_.row_line);
    messages.inMpi([&] {
      MPI_Ibcast(room.data, static_cast<int>(room.rows * width), mpiType<T>(), column,
                 grid_.row_line, &slot.requests[0]);
    });
    slot.a = room;
  }
  if (grid_.rows == 1) {
    slot.b = b_.part(b_place, 0, width, b_.columns);
  } else {
    const LocalMatrix<T> room = matrixIn(slot.b_room, width, b_.columns);
    if (grid_.row == row) copy(b_.part(b_place, 0, width, b_.columns), room);
    messages.gather(grid_.column_line);
    messages.inMpi([&] {
      MPI_Ibcast(room.data, static_cast<int>(width * room.columns), mpiType<T>(), row,
                 grid_.column_line, &slot.requests[1]);
    });
    slot.b = room;
  }
}

template <typename T>
void Summa<T>::multiply(Messages& messages, Slot& current, Slot* next) {
  multiplyAddBeside(messages, next == nullptr ? nullptr : next->requests, next == nullptr ? 0 : 2,
                    alpha_, current.a, current.b, c_);
}

template <typename T>
void Summa<T>::run(Messages& messages, const Progress& progress) {
  replicate(messages);
  if (grid_.layer == 0) scale(beta_, c_);
  if (!panels_.empty()) post(messages, panels_[0], slots_[0]);
  for (std::size_t s = 0; s < panels_.size(); ++s) {
    Slot& current = slots_[s % 2];
    Slot* const next = s + 1 < panels_.size() ? &slots_[(s + 1) % 2] : nullptr;
    messages.inMpi([&] { MPI_Waitall(2, current.requests, MPI_STATUSES_IGNORE); });
    if (next != nullptr) post(messages, panels_[s + 1], *next);
    if (alpha_ != 0) multiply(messages, current, next);
    progress(static_cast<double>(s + 1) / static_cast<double>(panels_.size()));
  }
  sumTo(messages, grid_.depth_line, 0, c_, room_);
}

template class Summa<double>;
template class Summa<float>;

}  // namespace torc::linalg
