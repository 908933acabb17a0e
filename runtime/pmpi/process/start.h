// Start of the process: its folder, its rank as launched, and the start of MPI.
//
// A program may start MPI without torc's wrapper of MPI_Init: it finds MPI's functions by dlsym in
// MPI's own library, as Julia and Python's ctypes do, or a tool does so for it. Torc is then off,
// and prints a warning when the process ends.
#ifndef TORC_RUNTIME_PMPI_PROCESS_START_H_
#define TORC_RUNTIME_PMPI_PROCESS_START_H_

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>

namespace torc::runtime::pmpi {

/// The path relative to the folder in which the process started, as an absolute path: relative
/// paths in variables refer to it, even if the program changes its folder. An empty path stays
/// empty; a relative path stays relative if the folder had no name.
std::string fromStart(const std::string& path);

/// A process of a launched job.
struct Launched {
  int rank = 0, ranks = 1;
};

/// From the variables of MPICH, Open MPI and PMIx. A launcher that sets only the rank has started
/// more than one process. Without variables there is one process; under another launcher every
/// process therefore sees itself as one.
inline Launched launchedAs() {
  const std::pair<const char*, const char*> kVariables[] = {
      {"PMI_RANK", "PMI_SIZE"},
      {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
      {"PMIX_RANK", "PMIX_SIZE"},
  };
  for (const auto& [rank, ranks] : kVariables) {
    const char* own = std::getenv(rank);
    if (own == nullptr) continue;
    const char* all = std::getenv(ranks);
    return {std::atoi(own), all == nullptr ? 2 : std::max(std::atoi(all), 1)};
  }
  return {};
}

/// torc's wrapper is about to initialise MPI.
void noteStart();

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_PROCESS_START_H_
