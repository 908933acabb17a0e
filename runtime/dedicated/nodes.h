// Nodes: the ranks of a job that share a node.
#ifndef TORC_RUNTIME_DEDICATED_NODES_H_
#define TORC_RUNTIME_DEDICATED_NODES_H_

#include <vector>

#include "support/status.h"

namespace torc::runtime::dedicated {

/// Collective over MPI_COMM_WORLD. For every rank the lowest rank of its node, by
/// MPI_Comm_split_type. Errors: MPI errors.
StatusOr<std::vector<int>> findNodes();

/// Whether this rank's node has more ranks than cores.
bool isCrowded(const std::vector<int>& nodes);

}  // namespace torc::runtime::dedicated

#endif  // TORC_RUNTIME_DEDICATED_NODES_H_
