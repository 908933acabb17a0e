// MPI's own operations during active collectives: point-to-point messages to the next rank and from
// the previous one, files and windows.
#ifndef TORC_TESTS_RUNTIME_PMPI_PROGRAMS_ACTIVITIES_MPIS_OWN_H_
#define TORC_TESTS_RUNTIME_PMPI_PROGRAMS_ACTIVITIES_MPIS_OWN_H_

#include "tests/runtime/pmpi/mpi_calls/random.h"
#include "tests/runtime/pmpi/programs/activities/communicators.h"
#include "tests/runtime/pmpi/programs/activities/pending.h"

namespace programs {

/// Sends and receives one message, blocking or not; incomplete operations are added to `pending`.
void exchangeMessages(Random& common, const Communicator& communicator, int number,
                      Pending& pending);

/// Writes a file together, reads another rank's data, and deletes it. The file is in TEST_TMPDIR,
/// or in /tmp.
void useFile(Random& common, const Communicator& communicator, int number);

/// Makes a window, puts and accumulates into other ranks' parts, checks its own, and frees it.
void useWindow(Random& common, const Communicator& communicator, int number);

}  // namespace programs

#endif  // TORC_TESTS_RUNTIME_PMPI_PROGRAMS_ACTIVITIES_MPIS_OWN_H_
