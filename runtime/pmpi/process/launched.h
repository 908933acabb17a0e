// What the launcher says of this process, before MPI can be asked.
#ifndef TORC_RUNTIME_PMPI_PROCESS_LAUNCHED_H_
#define TORC_RUNTIME_PMPI_PROCESS_LAUNCHED_H_

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace torc::runtime::pmpi {

/// A process among those that it was started with.
struct Launched {
  int rank = 0, ranks = 1;
};

/// By MPICH's, Open MPI's and PMIx's variables. A launcher that tells the rank alone has started
/// more than one. Where nothing is said there is one process; of another launcher every process
/// takes itself for that.
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
