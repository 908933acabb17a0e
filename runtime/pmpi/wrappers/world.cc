// Functions in which MPI_COMM_WORLD is special: hand-written replacements of the generated wrappers
// (generate_wrappers.cc).
//
// Not wrapped are functions without a communicator: groups, windows and files come from
// communicators; MPI_Comm_c2f and MPI_Comm_f2c, whose numbers for MPI_COMM_WORLD are Fortran's
// constants; and MPI_Comm_free and MPI_Comm_disconnect, which MPI refuses for MPI_COMM_WORLD.
#include <algorithm>
#include <iterator>

#include <mpi.h>

#include "runtime/dedicated/program_world.h"

using torc::runtime::dedicated::actual;
using torc::runtime::dedicated::program_world;

namespace {

bool isReplaced(MPI_Comm comm) {
  return program_world != MPI_COMM_NULL && comm == MPI_COMM_WORLD;
}

/// Whether MPI predefines the attribute, on its own MPI_COMM_WORLD.
bool isPredefined(int keyval) {
  const int predefined[] = {MPI_TAG_UB,        MPI_HOST,   MPI_IO,          MPI_WTIME_IS_GLOBAL,
                            MPI_UNIVERSE_SIZE, MPI_APPNUM, MPI_LASTUSEDCODE};
  return std::ranges::find(predefined, keyval) != std::end(predefined);
}

}  // namespace

extern "C" {

int MPI_Abort(MPI_Comm comm, int code) {
  return PMPI_Abort(comm, code);
}

int MPI_Comm_get_attr(MPI_Comm comm, int keyval, void* value, int* flag) {
  if (!isReplaced(comm) || !isPredefined(keyval)) {
    return PMPI_Comm_get_attr(actual(comm), keyval, value, flag);
  }
  const int code = PMPI_Comm_get_attr(comm, keyval, value, flag);
  if (code != MPI_SUCCESS || !*flag || keyval != MPI_UNIVERSE_SIZE) return code;
  // The maximal number of ranks of the program, without the hidden ones.
  static int universe = 0;
  int size = 1, all = 1;
  PMPI_Comm_size(program_world, &size);
  PMPI_Comm_size(MPI_COMM_WORLD, &all);
  universe = std::max(**static_cast<int**>(value) - (all - size), size);
  *static_cast<int**>(value) = &universe;
  return code;
}

int MPI_Attr_get(MPI_Comm comm, int keyval, void* value, int* flag) {
  return MPI_Comm_get_attr(comm, keyval, value, flag);
}

/// MPI reports errors of calls without a communicator to its own MPI_COMM_WORLD.
int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler) {
  const int code = PMPI_Comm_set_errhandler(actual(comm), handler);
  return code == MPI_SUCCESS && isReplaced(comm) ? PMPI_Comm_set_errhandler(comm, handler) : code;
}

#if MPI_VERSION >= 4
/// The ranks of the set that belong to the program.
int MPI_Group_from_session_pset(MPI_Session session, const char* name, MPI_Group* group) {
  const int code = PMPI_Group_from_session_pset(session, name, group);
  if (code != MPI_SUCCESS || program_world == MPI_COMM_NULL) return code;
  MPI_Group own = MPI_GROUP_NULL, all = *group;
  PMPI_Comm_group(program_world, &own);
  const int result = PMPI_Group_intersection(all, own, group);
  PMPI_Group_free(&own);
  PMPI_Group_free(&all);
  return result;
}
#endif

}  // extern "C"
