// Communicators of every make.
#ifndef TORC_TESTS_RUNTIME_PMPI_MPI_CALLS_COMMUNICATORS_H_
#define TORC_TESTS_RUNTIME_PMPI_MPI_CALLS_COMMUNICATORS_H_

#include <cstdint>
#include <string>
#include <vector>

#include <mpi.h>

namespace mpi_calls {

/// Sizes of the grid of MPI_COMM_WORLD's ranks, the first the fastest.
using Grid = std::vector<int>;

/// "2x3x2"; the product must be the number of ranks. Aborts otherwise.
Grid parseGrid(const char* text);

struct Communicator {
  std::string name;
  MPI_Comm handle = MPI_COMM_NULL;  // null on ranks outside
  /// Its members are surely a box of the grid with two ranks or more: a line, a plane, all.
  bool is_box = false;
  bool is_inter = false;
  bool is_grid = false;  // made by MPI_Cart_create
  /// Of MPI_Comm_idup, pending until the communicator is used.
  MPI_Request request = MPI_REQUEST_NULL;
  /// Ranks of MPI_COMM_WORLD, in the communicator's order, once known.
  std::vector<int> members{};
  int rank = 0;

  bool hasMe() const { return handle != MPI_COMM_NULL || request != MPI_REQUEST_NULL; }
  int size() const { return static_cast<int>(members.size()); }
  /// Determines this rank's place and the other members.
  void learn();
  /// Completes an MPI_Comm_idup.
  void complete();
};

/// The members of a communicator, or of the other group of an intercommunicator, in MPI_COMM_WORLD.
std::vector<int> worldRanks(MPI_Comm comm, bool remote);

/// Number of ways to make a communicator from another one, by any of its ranks.
constexpr int kWays = 18;
/// Those that reorder ranks.
constexpr int kFirstReordered = 6, kLastReordered = 9;
/// Makes a communicator from `parent` in one of kWays ways; every member of the parent calls it.
/// `key`: a random number, the same on all ranks. MPI_Comm_idup holds the address of the handle.
void makeFrom(const Communicator& parent, int way, uint64_t key, Communicator& made);
/// Even and odd ranks, or both halves, facing each other.
Communicator makeInter(const Communicator& parent, bool by_parity);

/// Makes all of them from MPI_COMM_WORLD, and boxes of the grid; collective over it. The first is
/// MPI_COMM_WORLD itself.
std::vector<Communicator> makeCommunicators(const Grid& grid);

/// Frees all but the predefined ones.
void freeCommunicators(std::vector<Communicator>& communicators);

}  // namespace mpi_calls

#endif  // TORC_TESTS_RUNTIME_PMPI_MPI_CALLS_COMMUNICATORS_H_
