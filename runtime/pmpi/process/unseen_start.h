// Unseen start: a program whose MPI_Init torc's wrapper is not called for. It finds MPI's functions
// by dlsym in MPI's own library, as Julia and Python's ctypes do, or a tool does so for it. Torc is
// then off, and says so when the process ends.
#ifndef TORC_RUNTIME_PMPI_PROCESS_UNSEEN_START_H_
#define TORC_RUNTIME_PMPI_PROCESS_UNSEEN_START_H_

namespace torc::runtime::pmpi {

/// MPI is about to be initialised by torc's wrapper.
void noteStart();

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_PROCESS_UNSEEN_START_H_
