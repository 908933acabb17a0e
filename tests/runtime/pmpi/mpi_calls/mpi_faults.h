// What MPICH 4.0.2 and Open MPI 4.1.4 themselves get wrong: programs that must be right without
// torc do without.
#ifndef TORC_TESTS_RUNTIME_PMPI_MPI_CALLS_MPI_FAULTS_H_
#define TORC_TESTS_RUNTIME_PMPI_MPI_CALLS_MPI_FAULTS_H_

#include <string>
#include <vector>

#include "tests/runtime/pmpi/mpi_calls/shape.h"

namespace mpi_calls {

/// MPI_Allgatherv on one rank takes the displacement for 0, and so do Open MPI's exchanges.
bool ignoresDisplacements(const Collective& collective, int size);

/// Habits of whole programs that MPI gets wrong whatever the call. MPICH's windows and files wait
/// for other ranks with a lock held that other threads want. Open MPI crashes where what is under
/// way is freed, and in MPI_Comm_idup.
std::vector<std::string> faultyHabits(int threads);

/// Takes out of a shape what MPI gets wrong, and what MPI does not have between groups. `trusted`:
/// torc serves the call if it has data.
void avoidFaults(Shape& shape, bool trusted, bool is_inter = false);

}  // namespace mpi_calls

#endif  // TORC_TESTS_RUNTIME_PMPI_MPI_CALLS_MPI_FAULTS_H_
