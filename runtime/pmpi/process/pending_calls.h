// Pending calls: whether a program can have collectives under way while it waits for something
// else, and what else its code says of it.
#ifndef TORC_RUNTIME_PMPI_PROCESS_PENDING_CALLS_H_
#define TORC_RUNTIME_PMPI_PROCESS_PENDING_CALLS_H_

#include <string_view>

namespace torc::runtime::pmpi {

/// Whether a symbol is a nonblocking or persistent function of a collective that torc serves, by
/// whichever name it has in C or Fortran: MPI_Iallreduce, MPI_Allreduce_init_c, mpi_iallgather_.
bool isNonblockingCollective(std::string_view symbol);

/// Whether an object that is loaded in this process now, the program itself or a library of its,
/// MPI and torc excepted, calls one. Code that is loaded later, and finds such a function by dlsym,
/// is not seen.
bool importsNonblockingCollectives();

/// Whether one of these makes error handlers of its own.
bool importsErrorHandlers();

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_PROCESS_PENDING_CALLS_H_
