// Windows, whose calls are MPI's, while collectives are under way.
#ifndef TORC_TESTS_RUNTIME_PMPI_PROGRAMS_ACTIVITIES_WINDOWS_H_
#define TORC_TESTS_RUNTIME_PMPI_PROGRAMS_ACTIVITIES_WINDOWS_H_

#include "tests/runtime/pmpi/mpi_calls/random.h"
#include "tests/runtime/pmpi/programs/activities/communicators.h"

namespace programs {

/// Makes a window, puts and accumulates into other ranks' parts, checks its own, and frees it.
void useWindow(Random& common, const Communicator& communicator, int number);

}  // namespace programs

#endif  // TORC_TESTS_RUNTIME_PMPI_PROGRAMS_ACTIVITIES_WINDOWS_H_
