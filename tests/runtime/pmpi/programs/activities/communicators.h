// The communicators of a random program: every rank makes and frees them in the same order, and may
// be outside of some of them.
#ifndef TORC_TESTS_RUNTIME_PMPI_PROGRAMS_ACTIVITIES_COMMUNICATORS_H_
#define TORC_TESTS_RUNTIME_PMPI_PROGRAMS_ACTIVITIES_COMMUNICATORS_H_

#include <memory>
#include <string>
#include <vector>

#include <mpi.h>

#include "tests/runtime/pmpi/programs/random/random.h"

namespace programs {

struct Communicator {
  int identity = 0;  // the same on every rank
  std::string name;
  MPI_Comm handle = MPI_COMM_NULL;  // null: without this rank
  int rank = 0;
  std::vector<int> members;  // ranks of MPI_COMM_WORLD, in the communicator's order
  bool is_grid = false;      // of two dimensions, by MPI_Cart_create
  /// Of MPI_Comm_idup, which is under way until the communicator is used.
  MPI_Request request = MPI_REQUEST_NULL;
  /// Persistent calls on it: it is not freed before they are.
  int persistent_calls = 0;

  bool hasMe() const { return handle != MPI_COMM_NULL || request != MPI_REQUEST_NULL; }
  int size() const { return static_cast<int>(members.size()); }
};

class Communicators {
 public:
  /// `world` and `self`: MPI_COMM_WORLD and MPI_COMM_SELF, or what a thread has instead of them.
  Communicators(MPI_Comm world, MPI_Comm self);
  /// Frees those made.
  ~Communicators();
  Communicators(const Communicators&) = delete;
  Communicators& operator=(const Communicators&) = delete;

  /// The same number on every rank.
  int drawIndex(Random& common);
  /// That of a grid, if there is one.
  int drawGrid(Random& common);
  /// Completes an MPI_Comm_idup.
  Communicator& use(int index, int call);
  /// The one that was made last.
  Communicator& useLast(int call) { return use(static_cast<int>(all_.size()) - 1, call); }
  /// Sets on every rank, also those outside, that `change` persistent calls more are on it.
  void countPersistent(int identity, int change);
  int worldSize() const { return all_.front()->size(); }

  /// Makes another one out of one of them. Returns its name.
  std::string make(Random& common, int call);
  /// Frees one that this program made, though operations on it are under way. Returns its name, or
  /// an empty one: not every draw hits one.
  std::string freeOne(Random& common, int call);

 private:
  // Never moved: MPI_Comm_idup holds the address of a handle.
  std::vector<std::unique_ptr<Communicator>> all_;
  int next_identity_ = 0;
};

}  // namespace programs

#endif  // TORC_TESTS_RUNTIME_PMPI_PROGRAMS_ACTIVITIES_COMMUNICATORS_H_
