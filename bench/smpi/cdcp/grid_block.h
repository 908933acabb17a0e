// Grid block: a rank's part of the grid of POP's problem x1, cyclic in x, with a ghost cell on
// every side.
#ifndef TORC_BENCH_SMPI_CDCP_GRID_BLOCK_H_
#define TORC_BENCH_SMPI_CDCP_GRID_BLOCK_H_

#include <cstddef>
#include <vector>

#include <mpi.h>

#include "bench/smpi/ranks.h"

namespace torc::cdcp {

/// A value for each cell of a block, ghost cells included, row by row.
using Field = std::vector<double>;

class GridBlock {
 public:
  /// This rank's block; the ranks of `comm` share the grid with the smallest sum of width and
  /// height of the largest block.
  explicit GridBlock(MPI_Comm comm) : comm_(comm) {
    const int size = sizeOf(comm), rank = rankOf(comm);
    const auto sides = [&](int columns) {
      return share(kWidth, columns) + share(kHeight, size / columns);
    };
    int columns = 0;
    for (int each = 1; each <= size; ++each) {
      if (size % each == 0 && kWidth >= each && kHeight >= size / each &&
          (columns == 0 || sides(each) < sides(columns)))
        columns = each;
    }
    const int rows = size / columns, column = rank % columns, row = rank / columns;
    first_x_ = kWidth * column / columns;
    first_y_ = kHeight * row / rows;
    width_ = kWidth * (column + 1) / columns - first_x_;
    height_ = kHeight * (row + 1) / rows - first_y_;
    most_points_ = static_cast<double>(share(kWidth, columns)) * share(kHeight, rows);
    for (int dy = -1; dy <= 1; ++dy) {
      for (int dx = -1; dx <= 1; ++dx) {
        if ((dx == 0 && dy == 0) || row + dy < 0 || row + dy >= rows) continue;
        neighbours_.push_back({(row + dy) * columns + (column + dx + columns) % columns,
                               3 * dy + dx, cells(dx, dy, 0), cells(dx, dy, 1)});
      }
    }
  }
  GridBlock(const GridBlock&) = delete;
  GridBlock& operator=(const GridBlock&) = delete;
  ~GridBlock() {
    for (Neighbour& it : neighbours_) {
      MPI_Type_free(&it.edge);
      MPI_Type_free(&it.ghosts);
    }
  }

  /// Points of the largest block.
  double mostPoints() const { return most_points_; }
  /// Cells from one row to the next.
  std::size_t stride() const { return static_cast<std::size_t>(width_ + 2); }

  /// A point of the grid, by its cell.
  int x(std::size_t cell) const { return first_x_ + static_cast<int>(cell % stride()) - 1; }
  int y(std::size_t cell) const { return first_y_ + static_cast<int>(cell / stride()) - 1; }

  /// Calls `body` with each cell of the block.
  template <typename Body>
  void forEach(const Body& body) const {
    for (int y = 1; y <= height_; ++y) {
      std::size_t cell = static_cast<std::size_t>(y) * stride();
      for (int x = 1; x <= width_; ++x)
        body(++cell);
    }
  }

  Field makeField() const { return Field(static_cast<std::size_t>(height_ + 2) * stride()); }

  /// Fills the ghost cells with the neighbours' values.
  void exchange(Field& field) const {
    constexpr int kTag = 100;  // sums use 0
    std::vector<MPI_Request> requests;
    requests.reserve(2 * neighbours_.size());
    for (const Neighbour& from : neighbours_) {
      MPI_Irecv(field.data(), 1, from.ghosts, from.rank, kTag + from.side, comm_,
                &requests.emplace_back());
    }
    for (const Neighbour& to : neighbours_) {
      MPI_Isend(field.data(), 1, to.edge, to.rank, kTag - to.side, comm_, &requests.emplace_back());
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  }

 private:
  static constexpr int kWidth = 320, kHeight = 384;

  struct Neighbour {
    int rank;
    int side;  // a number for (dx, dy); the opposite one has its negative
    MPI_Datatype edge, ghosts;
  };

  /// Points of the largest of `parts` parts.
  static int share(int points, int parts) { return (points + parts - 1) / parts; }

  /// The cells of a field at the edge (dx, dy) of the block, or `outside` by one beyond it.
  MPI_Datatype cells(int dx, int dy, int outside) const {
    const auto begin = [&](int side, int size) {
      return side == 0 ? 1 : side < 0 ? 1 - outside : size + outside;
    };
    const int sizes[] = {height_ + 2, width_ + 2};
    const int subsizes[] = {dy == 0 ? height_ : 1, dx == 0 ? width_ : 1};
    const int starts[] = {begin(dy, height_), begin(dx, width_)};
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_create_subarray(2, sizes, subsizes, starts, MPI_ORDER_C, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    return type;
  }

  MPI_Comm comm_;
  int first_x_ = 0, first_y_ = 0, width_ = 0, height_ = 0;
  double most_points_ = 0;
  std::vector<Neighbour> neighbours_;
};

}  // namespace torc::cdcp

#endif  // TORC_BENCH_SMPI_CDCP_GRID_BLOCK_H_
