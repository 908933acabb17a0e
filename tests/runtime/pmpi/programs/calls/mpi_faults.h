// What MPICH 4.0.2 and Open MPI 4.1.4 themselves get wrong: random programs do without.
#ifndef TORC_TESTS_RUNTIME_PMPI_PROGRAMS_CALLS_MPI_FAULTS_H_
#define TORC_TESTS_RUNTIME_PMPI_PROGRAMS_CALLS_MPI_FAULTS_H_

#include "tests/runtime/pmpi/programs/calls/shape.h"

namespace programs {

/// MPI_Allgatherv on one rank takes the displacement for 0.
bool ignoresDisplacements(const Collective& collective, int size);

/// Takes out of all programs what MPI gets wrong whatever the call. MPICH's windows and files wait
/// for other ranks with a lock held that other threads want. Open MPI crashes where what is under
/// way is freed, and in MPI_Comm_idup.
void avoidFaults(Options& options, int threads);

/// Takes out of a shape what MPI gets wrong.
void avoidFaults(Shape& shape, bool trusted);

}  // namespace programs

#endif  // TORC_TESTS_RUNTIME_PMPI_PROGRAMS_CALLS_MPI_FAULTS_H_
