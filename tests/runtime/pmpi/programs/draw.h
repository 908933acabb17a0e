// Draws random calls, and lists habits that programs avoid.
#ifndef TORC_TESTS_RUNTIME_PMPI_PROGRAMS_DRAW_H_
#define TORC_TESTS_RUNTIME_PMPI_PROGRAMS_DRAW_H_

#include <algorithm>
#include <string>
#include <vector>

#include "tests/runtime/pmpi/mpi_calls/shape.h"

namespace programs {

using namespace mpi_calls;

struct Options {
  /// Stems of the collectives to use; none: all.
  std::vector<std::string> only;
  /// Avoided habits: see random_programs.cc.
  std::vector<std::string> without;

  bool uses(const Collective& collective) const {
    return only.empty() || contains(only, collective.stem);
  }
  bool has(const char* habit) const { return !contains(without, habit); }

 private:
  static bool contains(const std::vector<std::string>& names, const char* name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  }
};

/// Members of a call.
enum class Among { kRanks, kGroups, kNeighbors };

Shape drawShape(Random& random, const Options& options, Among among);

}  // namespace programs

#endif  // TORC_TESTS_RUNTIME_PMPI_PROGRAMS_DRAW_H_
