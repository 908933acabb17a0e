// The communicators of a random program: every rank makes and frees them in the same order, and may
// be outside of some of them.
#ifndef TORC_TESTS_RUNTIME_PMPI_PROGRAMS_ACTIVITIES_COMMUNICATORS_H_
#define TORC_TESTS_RUNTIME_PMPI_PROGRAMS_ACTIVITIES_COMMUNICATORS_H_

#include <memory>
#include <string>
#include <vector>

#include <mpi.h>

#include "tests/runtime/pmpi/mpi_calls/communicators.h"
#include "tests/runtime/pmpi/mpi_calls/random.h"

namespace programs {

using namespace mpi_calls;

class Communicators {
 public:
  /// `world` and `self`: MPI_COMM_WORLD and MPI_COMM_SELF, or a thread's substitutes.
  Communicators(MPI_Comm world, MPI_Comm self);
  /// Frees those made.
  ~Communicators();
  Communicators(const Communicators&) = delete;
  Communicators& operator=(const Communicators&) = delete;

  /// The same number on every rank.
  int drawIndex(Random& common);
  /// The index of a grid, if there is one.
  int drawGrid(Random& common);
  /// Completes an MPI_Comm_idup.
  const Communicator& use(int index);
  /// The most recent one.
  void useLast() { use(static_cast<int>(all_.size()) - 1); }
  int identityOf(int index) const { return all_[index]->identity; }
  /// Adds `change` to its number of persistent calls, on every rank, also those outside.
  void countPersistent(int identity, int change);

  /// Makes another one from one of them. Returns its name.
  std::string make(Random& common);
  /// Frees one that this program made, even with active operations on it. Returns its name, or an
  /// empty one: not every draw hits one.
  std::string freeOne(Random& common);

 private:
  struct Known {
    int identity = 0;  // the same on every rank
    Communicator communicator;
    /// On it: they prevent its release.
    int persistent_calls = 0;
  };

  // Never moved: MPI_Comm_idup holds the address of a handle.
  std::vector<std::unique_ptr<Known>> all_;
  int next_identity_ = 0;
};

}  // namespace programs

#endif  // TORC_TESTS_RUNTIME_PMPI_PROGRAMS_ACTIVITIES_COMMUNICATORS_H_
