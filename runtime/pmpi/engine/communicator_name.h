// Names of communicators: a number that all ranks of a communicator know without a message, from
// when it is made. So ranks can tell each other of one that is not set up yet.
#ifndef TORC_RUNTIME_PMPI_ENGINE_COMMUNICATOR_NAME_H_
#define TORC_RUNTIME_PMPI_ENGINE_COMMUNICATOR_NAME_H_

#include <cstdint>

#include <mpi.h>

namespace torc::runtime::pmpi {

/// Makes `keyval`, of the attribute that is a name, and names MPI_COMM_WORLD.
void openNames(int& keyval);

/// After a collective creation of all ranks of `parent`: names `child`, unless it is MPI_COMM_NULL.
/// False: the parent has no name.
bool nameChild(MPI_Comm parent, MPI_Comm child);

/// The same on all ranks, and no other communicator's, but with a probability of 2^-44; 0: none.
std::uint64_t nameOf(MPI_Comm comm);

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_ENGINE_COMMUNICATOR_NAME_H_
