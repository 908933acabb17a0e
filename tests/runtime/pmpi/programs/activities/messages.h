// Point-to-point messages to the next rank and from the previous one, while collectives are under
// way.
#ifndef TORC_TESTS_RUNTIME_PMPI_PROGRAMS_ACTIVITIES_MESSAGES_H_
#define TORC_TESTS_RUNTIME_PMPI_PROGRAMS_ACTIVITIES_MESSAGES_H_

#include "tests/runtime/pmpi/mpi_calls/random.h"
#include "tests/runtime/pmpi/programs/activities/communicators.h"
#include "tests/runtime/pmpi/programs/activities/pending.h"

namespace programs {

/// Sends and receives one message, blocking or not; what is not complete is added to `pending`.
void exchangeMessages(Random& common, const Communicator& communicator, int number,
                      Pending& pending);

}  // namespace programs

#endif  // TORC_TESTS_RUNTIME_PMPI_PROGRAMS_ACTIVITIES_MESSAGES_H_
