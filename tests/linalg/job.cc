// Makes grids, and matrices from formulas.
#include "tests/linalg/job.h"

#include <algorithm>

namespace torc::linalg {
namespace {

std::uint64_t mixed(std::int64_t row, std::int64_t column, int seed) {
  std::uint64_t x = static_cast<std::uint64_t>(row) * 0x9e3779b97f4a7c15u +
                    static_cast<std::uint64_t>(column) * 0xc2b2ae3d27d4eb4fu +
                    static_cast<std::uint64_t>(seed) * 0x165667b19e3779f9u + 1;
  x = (x ^ (x >> 31)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 29)) * 0x94d049bb133111ebu;
  return x ^ (x >> 32);
}

}  // namespace

Shape ordinaryShape() {
  return worldSize() < 8 ? Shape{1, 1, 1} : Shape{2, 2, 2};
}

void forEachShape(const std::function<void(const Shape&)>& body) {
  for (const Shape& shape : {Shape{1, 1, 1}, Shape{2, 2, 2}, Shape{2, 3, 2}, Shape{4, 4, 1},
                             Shape{3, 3, 2}, Shape{3, 3, 3}}) {
    const int ranks = shape.rows * shape.columns * shape.layers;
    if (worldRank() < ranks && ranks <= worldSize()) {
      SCOPED_TRACE(testing::Message() << shape.rows << "x" << shape.columns << "x" << shape.layers);
      body(shape);
    }
    sleepUntilAllCome();
  }
}

Grid::Grid(const Shape& shape) {
  MPI_Group world = MPI_GROUP_NULL, group = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  int range[1][3] = {{0, shape.rows * shape.columns * shape.layers - 1, 1}};
  MPI_Group_range_incl(world, 1, range, &group);
  MPI_Comm_create_group(MPI_COMM_WORLD, group, 0, &comm_);
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  EXPECT_LINALG_OK(torc_linalg_grid_create(comm_, shape.rows, shape.columns, shape.layers, &grid_));
  EXPECT_LINALG_OK(torc_linalg_grid_query(grid_, &info));
}

Grid::Grid(const Shape& shape, MPI_Comm comm) {
  MPI_Comm_dup(comm, &comm_);
  EXPECT_LINALG_OK(
      torc_linalg_grid_create_on_torus(comm, shape.rows, shape.columns, shape.layers, &grid_));
  EXPECT_LINALG_OK(torc_linalg_grid_query(grid_, &info));
}

Grid::~Grid() {
  torc_linalg_grid_destroy(grid_);
  MPI_Comm_free(&comm_);
}

void expectError(MPI_Comm comm, int status, int code, const std::string& text,
                 std::source_location place) {
  const std::string message = torc_linalg_error_message();
  std::uint64_t hash = 14695981039346656037u;
  for (const char c : message)
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  std::uint64_t ends[2] = {hash, ~hash};
  MPI_Allreduce(MPI_IN_PLACE, ends, 2, MPI_UINT64_T, MPI_MAX, comm);
  const bool is_same = ends[0] == ~ends[1];
  if (status == code && message.find(text) != std::string::npos && is_same) return;
  ADD_FAILURE_AT(place.file_name(), static_cast<int>(place.line()))
      << "status " << status << ", not " << code << ", '" << message << "', not '" << text << "'"
      << (is_same ? "" : "; other ranks say something else");
}

double wholeNumber(std::int64_t row, std::int64_t column, int seed) {
  return static_cast<double>(mixed(row, column, seed) % 9) - 4;
}

double randomNumber(std::int64_t row, std::int64_t column, int seed) {
  return static_cast<double>(mixed(row, column, seed) >> 11) / (std::uint64_t{1} << 52) - 1;
}

template <typename T>
template <typename Visit>
void Distributed<T>::each(Visit&& visit) const {
  std::int64_t column = 0;
  for (std::int64_t j = 0; info_.layer == 0 && j < matrix_.columns; ++j) {
    if (j / matrix_.column_block % info_.columns != info_.column) continue;
    std::int64_t row = 0;
    for (std::int64_t i = 0; i < matrix_.rows; ++i) {
      if (i / matrix_.row_block % info_.rows == info_.row)
        visit(i, j, static_cast<std::size_t>(row++ + column * leading_));
    }
    ++column;
  }
}

template <typename T>
Distributed<T>::Distributed(const Grid& grid, const torc_linalg_matrix& matrix,
                            const Formula& formula, std::int64_t spare)
    : comm_(grid.comm()), info_(grid.info), matrix_(matrix) {
  std::int64_t rows = 0, columns = 0;
  EXPECT_LINALG_OK(torc_linalg_local_size(grid, &matrix_, &rows, &columns));
  leading_ = std::max<std::int64_t>(1, rows + spare);
  local_.assign(static_cast<std::size_t>(leading_ * columns), T{-77});
  each([&](std::int64_t i, std::int64_t j, std::size_t at) {
    local_[at] = static_cast<T>(formula(i, j));
  });
}

template <typename T>
std::vector<double> Distributed<T>::whole() const {
  std::vector<double> all(static_cast<std::size_t>(matrix_.rows * matrix_.columns), 0.0);
  each([&](std::int64_t i, std::int64_t j, std::size_t at) {
    all[static_cast<std::size_t>(i + j * matrix_.rows)] = static_cast<double>(local_[at]);
  });
  MPI_Allreduce(MPI_IN_PLACE, all.data(), static_cast<int>(all.size()), MPI_DOUBLE, MPI_SUM, comm_);
  return all;
}

template class Distributed<double>;
template class Distributed<float>;

}  // namespace torc::linalg
