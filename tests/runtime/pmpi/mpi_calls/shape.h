// A collective call as planned by the program, before a rank adds its own part.
#ifndef TORC_TESTS_RUNTIME_PMPI_MPI_CALLS_SHAPE_H_
#define TORC_TESTS_RUNTIME_PMPI_MPI_CALLS_SHAPE_H_

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "tests/runtime/pmpi/mpi_calls/collectives.h"
#include "tests/runtime/pmpi/mpi_calls/operations.h"

namespace mpi_calls {

struct Shape {
  const Collective* collective = nullptr;
  Form form = Form::kBlocking;
  bool wide = false;  // the function with MPI_Count arguments
  /// With a root, on the root only.
  bool in_place = false;
  /// Any number, taken modulo the size of the root's group.
  int root = 0;
  /// Elements of a vector or a block, approximately, in a reduction. In a movement: units, each of
  /// which is whole elements of every spelling.
  int64_t units = 0;
  /// Movements: each rank picks its own spellings for sent and received data.
  std::vector<Layout> spellings{};
  Reduction reduction{};
  /// Seed of each rank's own choices, and of the data.
  uint64_t key = 0;

  /// The lists of counts and displacements are overwritten and freed when the call has returned.
  bool forget_lists = false;
  /// Datatypes and operation are freed when the call has returned.
  bool free_early = false;
  /// Some ranks name the buffer in the datatype, or in displacements, and MPI_BOTTOM in the call.
  bool at_bottom = false;
  /// Some ranks give one address for both buffers.
  bool share_base = false;
  /// Rounds of a persistent call.
  int rounds = 1;

  bool isPersistent() const { return form == Form::kPersistent; }
  /// Atoms of a unit.
  int64_t unitAtoms() const {
    int64_t atoms = 1;
    for (const Layout& layout : spellings)
      atoms = std::lcm(atoms, layout.atomCount());
    return atoms;
  }
  /// Sets about `atoms` atoms for each block of a movement.
  void setAtoms(int64_t atoms);
  /// "MPI_Iallreduce_c(13 x MPI_INT, MPI_SUM, in place)".
  std::string describe() const;
};

/// Sums of doubles; movements of doubles.
Shape simpleShape(const Collective& collective, Form form, int64_t count);
/// The `number`-th of many different calls, with about `count` elements.
Shape variousShape(int number, Form form, int64_t count);

}  // namespace mpi_calls

#endif  // TORC_TESTS_RUNTIME_PMPI_MPI_CALLS_SHAPE_H_
