// Collectives that torc leaves to MPI: between two groups of ranks, and between neighbours.
#ifndef TORC_TESTS_RUNTIME_PMPI_PROGRAMS_ACTIVITIES_GROUPS_H_
#define TORC_TESTS_RUNTIME_PMPI_PROGRAMS_ACTIVITIES_GROUPS_H_

#include "tests/runtime/pmpi/programs/activities/communicators.h"
#include "tests/runtime/pmpi/programs/activities/pending.h"
#include "tests/runtime/pmpi/programs/random/random.h"

namespace programs {

/// Cuts a communicator in two, calls a few collectives between the halves, and frees what it made;
/// calls may still be under way.
void talkBetweenHalves(Random& common, const Communicator& communicator, int number,
                       Pending& pending);

/// On a grid: each rank's data to its neighbours.
void tellNeighbors(Random& common, const Communicator& communicator, int number, Pending& pending);

}  // namespace programs

#endif  // TORC_TESTS_RUNTIME_PMPI_PROGRAMS_ACTIVITIES_GROUPS_H_
