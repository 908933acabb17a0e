// Roles: splits a job into ranks of the program and dedicated ones, and assigns the former to the
// latter (Sancho et al., Sections IV.A and IV.B and Figure 4).
#ifndef TORC_RUNTIME_DEDICATED_ROLES_H_
#define TORC_RUNTIME_DEDICATED_ROLES_H_

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "settings/dedicated_ranks.h"
#include "support/status.h"

namespace torc::runtime::dedicated {

/// The same on all ranks.
struct Roles {
  std::vector<int> servers;         // dedicated ranks, by their index
  std::vector<int> applications;    // by rank in the program
  std::vector<int> server_of;       // by rank in the program: an index into `servers`
  std::vector<int> node_of_server;  // by index; servers of a node are consecutive

  /// Whether MPI's counts can hold a server's part of an all-to-all, for these bytes of one rank's
  /// vector.
  bool canExchange(std::uint64_t vector_bytes) const {
    const std::uint64_t most_served = (applications.size() + servers.size() - 1) / servers.size();
    return vector_bytes <= std::numeric_limits<int>::max() / most_served;
  }
};

/// Dedicated ranks are distributed evenly over the nodes, or fill the last ones (@nodes), and are
/// the last ranks of their nodes. The numbers of ranks that they serve differ by at most one; ranks
/// of the same node come first, then those of the next nodes. `node_of_rank` has a number for every
/// rank, equal for ranks of one node. Time and memory are linear in the ranks. Errors: those of
/// dedicatedCount.
StatusOr<Roles> assignRoles(const DedicatedRanks& wanted, std::span<const int> node_of_rank);

}  // namespace torc::runtime::dedicated

#endif  // TORC_RUNTIME_DEDICATED_ROLES_H_
