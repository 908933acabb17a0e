// Names of communicators: a number that all ranks of a communicator compute without a message, from
// its creation on. Messages between ranks use it to name a communicator that is not set up yet.
#ifndef TORC_RUNTIME_PMPI_ENGINE_COMMUNICATOR_NAME_H_
#define TORC_RUNTIME_PMPI_ENGINE_COMMUNICATOR_NAME_H_

#include <cstdint>

#include <mpi.h>

namespace torc::runtime::pmpi {

/// Makes `keyval`, of the attribute that holds the name, and names MPI_COMM_WORLD.
void openNames(int& keyval);

/// After a collective creation of all ranks of `parent`: names `child`, unless it is MPI_COMM_NULL.
/// False: the parent has no name.
bool nameChild(MPI_Comm parent, MPI_Comm child);

/// The same on all ranks, and unique but for a probability of 2^-44; 0: no name.
std::uint64_t nameOf(MPI_Comm comm);

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_ENGINE_COMMUNICATOR_NAME_H_
