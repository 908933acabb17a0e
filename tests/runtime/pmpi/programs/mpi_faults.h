// What MPICH 4.0.2 itself gets wrong: random programs do without.
#ifndef TORC_TESTS_RUNTIME_PMPI_PROGRAMS_MPI_FAULTS_H_
#define TORC_TESTS_RUNTIME_PMPI_PROGRAMS_MPI_FAULTS_H_

#include "tests/runtime/pmpi/programs/calls/shape.h"

namespace programs {

/// MPI_Allgatherv on one rank takes the displacement for 0.
bool ignoresDisplacements(const Collective& collective, int size);

/// Takes out of a shape what MPICH gets wrong.
void avoidFaults(Shape& shape, bool trusted);

}  // namespace programs

#endif  // TORC_TESTS_RUNTIME_PMPI_PROGRAMS_MPI_FAULTS_H_
