// Unseen start: a program that starts MPI without torc's wrapper of MPI_Init. It finds MPI's
// functions by dlsym in MPI's own library, as Julia and Python's ctypes do, or a tool does so for
// it. Torc is then off, and prints a warning when the process ends.
#ifndef TORC_RUNTIME_PMPI_PROCESS_UNSEEN_START_H_
#define TORC_RUNTIME_PMPI_PROCESS_UNSEEN_START_H_

namespace torc::runtime::pmpi {

/// torc's wrapper is about to initialise MPI.
void noteStart();

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_PROCESS_UNSEEN_START_H_
