// The virtual mesh (Kumar and Heidelberger, section 4.2): all blocks for a column go to its node in
// the own row in one message, then from row messages to one message for each node of the column.
#ifndef TORC_MODEL_PACKETS_VIRTUAL_MESH_TRAFFIC_H_
#define TORC_MODEL_PACKETS_VIRTUAL_MESH_TRAFFIC_H_

#include <memory>

#include "model/packets/alltoall_traffic.h"

namespace torc::model {

/// `network` must outlive it.
std::unique_ptr<Traffic> virtualMeshTraffic(const PacketNetwork& network,
                                            const AlltoallOptions& options);

}  // namespace torc::model

#endif  // TORC_MODEL_PACKETS_VIRTUAL_MESH_TRAFFIC_H_
