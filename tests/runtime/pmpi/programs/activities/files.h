// Files, whose calls are MPI's, while collectives are under way.
#ifndef TORC_TESTS_RUNTIME_PMPI_PROGRAMS_ACTIVITIES_FILES_H_
#define TORC_TESTS_RUNTIME_PMPI_PROGRAMS_ACTIVITIES_FILES_H_

#include "tests/runtime/pmpi/mpi_calls/random.h"
#include "tests/runtime/pmpi/programs/activities/communicators.h"

namespace programs {

/// Writes a file together, reads what another rank wrote, and deletes it. The file is in
/// TEST_TMPDIR, or in /tmp.
void useFile(Random& common, const Communicator& communicator, int number);

}  // namespace programs

#endif  // TORC_TESTS_RUNTIME_PMPI_PROGRAMS_ACTIVITIES_FILES_H_
