// Faults of MPICH 4.0.2 and Open MPI 4.1.4 themselves: programs that must be right without torc
// avoid them.
#ifndef TORC_TESTS_RUNTIME_PMPI_MPI_CALLS_MPI_FAULTS_H_
#define TORC_TESTS_RUNTIME_PMPI_MPI_CALLS_MPI_FAULTS_H_

#include <string>
#include <vector>

#include "tests/runtime/pmpi/mpi_calls/shape.h"

namespace mpi_calls {

/// MPI_Allgatherv on one rank takes the displacement for 0, and so do Open MPI's exchanges.
bool ignoresDisplacements(const Collective& collective, int size);

/// Habits of whole programs that MPI handles wrongly in any call. MPICH's windows and files wait
/// for other ranks with a lock held that other threads want. Open MPI crashes if handles of active
/// operations are freed, and in MPI_Comm_idup.
std::vector<std::string> faultyHabits(int threads);

/// Removes from a shape features that MPI handles wrongly, or lacks between groups. `trusted`: torc
/// serves the call if it has data.
void avoidFaults(Shape& shape, bool trusted, bool is_inter = false);

}  // namespace mpi_calls

#endif  // TORC_TESTS_RUNTIME_PMPI_MPI_CALLS_MPI_FAULTS_H_
