// Start of the process: its folder, and of MPI.
//
// A program may start MPI without torc's wrapper of MPI_Init: it finds MPI's functions by dlsym in
// MPI's own library, as Julia and Python's ctypes do, or a tool does so for it. Torc is then off,
// and prints a warning when the process ends.
#ifndef TORC_RUNTIME_PMPI_PROCESS_START_H_
#define TORC_RUNTIME_PMPI_PROCESS_START_H_

#include <string>

namespace torc::runtime::pmpi {

/// The path relative to the folder in which the process started, as an absolute path: relative
/// paths in variables refer to it, even if the program changes its folder. An empty path stays
/// empty; a relative path stays relative if the folder had no name.
std::string fromStart(const std::string& path);

/// torc's wrapper is about to initialise MPI.
void noteStart();

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_PROCESS_START_H_
