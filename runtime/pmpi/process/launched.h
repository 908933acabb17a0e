// Rank and size of this process from the launcher's variables, before MPI can be called.
#ifndef TORC_RUNTIME_PMPI_PROCESS_LAUNCHED_H_
#define TORC_RUNTIME_PMPI_PROCESS_LAUNCHED_H_

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace torc::runtime::pmpi {

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

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_PROCESS_LAUNCHED_H_
