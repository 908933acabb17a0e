// What a random program says about a collective call, before a rank fills in its own part.
#ifndef TORC_TESTS_RUNTIME_PMPI_PROGRAMS_CALLS_SHAPE_H_
#define TORC_TESTS_RUNTIME_PMPI_PROGRAMS_CALLS_SHAPE_H_

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "tests/runtime/pmpi/programs/calls/collectives.h"
#include "tests/runtime/pmpi/programs/calls/reductions.h"
#include "tests/runtime/pmpi/programs/random/layouts.h"

namespace programs {

struct Shape {
  const Collective* collective = nullptr;
  Form form = Form::kBlocking;
  bool wide = false;
  bool in_place = false;
  /// Where the communicator has so many ranks: the rank of the communicator is this modulo its
  /// size.
  int root = 0;
  /// Elements of a vector or a block, or about so many, in a reduction. In a movement: units, each
  /// of which is whole elements of every spelling.
  int64_t units = 0;
  std::vector<Layout> spellings;  // movements
  Reduction reduction;            // reductions
  /// From which each rank draws what is its own, and the data.
  uint64_t key = 0;

  /// The lists of counts and displacements are overwritten and freed when the call has returned.
  bool forget_lists = false;
  /// Datatypes and operation are freed when the call has returned.
  bool free_early = false;
  /// Some ranks name the buffer in the datatype, and MPI_BOTTOM in the call.
  bool at_bottom = false;
  /// Some ranks give one address for both buffers.
  bool share_base = false;
  /// Rounds of a persistent call.
  int rounds = 1;

  /// Atoms of a unit.
  int64_t unitAtoms() const {
    int64_t atoms = 1;
    for (const Layout& layout : spellings)
      atoms = std::lcm(atoms, layout.atomCount());
    return atoms;
  }
  std::string describe() const;
};

struct Options {
  bool all_forms = true;
  /// Stems of collectives whose persistent form is served by something better than MPICH 4.0.2.
  std::vector<std::string> trusted;
  /// Stems of the collectives to use; none: all.
  std::vector<std::string> only;
  /// Habits that programs do without: see random_programs.cc.
  std::vector<std::string> without;

  bool trusts(const Collective& collective) const { return contains(trusted, collective.stem); }
  bool uses(const Collective& collective) const {
    return only.empty() || contains(only, collective.stem);
  }
  bool has(const char* habit) const { return !contains(without, habit); }

 private:
  static bool contains(const std::vector<std::string>& names, const char* name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  }
};

/// `entire`: the communicator has all ranks of the job.
Shape drawShape(Random& random, const Options& options, bool entire);

}  // namespace programs

#endif  // TORC_TESTS_RUNTIME_PMPI_PROGRAMS_CALLS_SHAPE_H_
