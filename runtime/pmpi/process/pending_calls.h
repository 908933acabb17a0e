// Pending calls: whether a program can have collectives under way during other waits, and whether
// it has error handlers of its own.
#ifndef TORC_RUNTIME_PMPI_PROCESS_PENDING_CALLS_H_
#define TORC_RUNTIME_PMPI_PROCESS_PENDING_CALLS_H_

#include <string_view>

namespace torc::runtime::pmpi {

/// Whether a symbol is a nonblocking or persistent function of a collective that torc serves, by
/// any of its names in C or Fortran: MPI_Iallreduce, MPI_Allreduce_init_c, mpi_iallgather_.
bool isNonblockingCollective(std::string_view symbol);

/// Whether an object that is loaded now, the program or one of its libraries except MPI and torc,
/// calls such a function. Code that is loaded later, and finds such a function by dlsym, is not
/// seen.
bool importsNonblockingCollectives();

/// Whether one of these objects creates error handlers.
bool importsErrorHandlers();

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_PROCESS_PENDING_CALLS_H_
