// Communicators of every make over a grid of ranks.
#ifndef TORC_TESTS_RUNTIME_PMPI_CONFORMANCE_COMMUNICATORS_H_
#define TORC_TESTS_RUNTIME_PMPI_CONFORMANCE_COMMUNICATORS_H_

#include <string>
#include <vector>

#include <mpi.h>

namespace conformance {

/// Sizes of the grid on which MPI_COMM_WORLD's ranks lie, the first the fastest.
using Grid = std::vector<int>;

/// "2x3x2"; the product must be the number of ranks. Aborts otherwise.
Grid parseGrid(const char* text);

struct Communicator {
  std::string name;
  MPI_Comm handle = MPI_COMM_NULL;  // null on ranks outside
  /// Its members are a box of the grid with two ranks or more, for certain: a line, a plane, all.
  bool is_box = false;
  bool is_inter = false;

  bool hasMe() const { return handle != MPI_COMM_NULL; }
};

/// Makes them all; collective over MPI_COMM_WORLD. The first is MPI_COMM_WORLD itself.
std::vector<Communicator> makeCommunicators(const Grid& grid);

/// Frees all but the predefined ones.
void freeCommunicators(std::vector<Communicator>& communicators);

}  // namespace conformance

#endif  // TORC_TESTS_RUNTIME_PMPI_CONFORMANCE_COMMUNICATORS_H_
