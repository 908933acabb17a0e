// Halo exchanges as in programs, on Cartesian communicators: every neighbourhood collective in
// every form. At the end of a dimension, the result stays unchanged.
//
//   neighbours SLOW FAST   the grid's sizes
#include <cstdlib>

#include <mpi.h>

#include "tests/runtime/pmpi/mpi_calls/call.h"
#include "tests/runtime/pmpi/mpi_calls/checks.h"
#include "tests/runtime/pmpi/mpi_calls/mpi_faults.h"

namespace {

using namespace mpi_calls;

void exchange(const Communicator& grid) {
  const std::vector<Layout> one = {Layout::predefined(Kind::kInt32)};
  const std::vector<Layout> several = {one.front(), Layout::vector(2, 1, 2, Kind::kInt32),
                                       Layout::contiguous(3, Kind::kInt32)};
  for (const Collective& collective : collectives()) {
    if (!collective.isOfNeighbours()) continue;
    for (const Form form : kForms) {
      for (uint64_t turn = 0; turn < 4; ++turn) {
        Shape shape{&collective, form};
        shape.spellings = turn % 2 == 0 ? one : several;
        shape.units = 30;
        shape.key = turn;
        shape.forget_lists = form != Form::kBlocking && turn > 1;
        avoidFaults(shape, std::getenv("TORC_LIBRARY") != nullptr);
        Call call(shape, grid);
        for (int round = 0; round < (call.isPersistent() ? 2 : 1); ++round)
          call.run();
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  MPI_Init(&argc, &argv);
  for (int ends = 0; ends < 4; ++ends) {
    const int sizes[] = {std::atoi(argv[1]), std::atoi(argv[2])}, periods[] = {ends % 2, ends / 2};
    Communicator grid{"a grid, periodic " + std::to_string(ends)};
    MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, periods, 0, &grid.handle);
    exchange(grid);
    MPI_Comm_free(&grid.handle);
  }
  const int status = summarize("neighbours");
  MPI_Finalize();
  return status;
}
