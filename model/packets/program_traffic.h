// The traffic of a schedule: the messages of all ranks' programs, packet by packet, each after its
// dependences.
//
// Messages start as in the link simulator (model/simulator/simulator.h): when both ends are ready
// or, up to `eager` bytes, when the send is; after alpha and L. Then the packets of a node's
// messages leave in rotation, each on the links of its dimensions in order, X first, in the
// schedule's direction. Reductions and copies keep the processor busy.
#ifndef TORC_MODEL_PACKETS_PROGRAM_TRAFFIC_H_
#define TORC_MODEL_PACKETS_PROGRAM_TRAFFIC_H_

#include <memory>

#include "model/machines/machine.h"
#include "model/packets/network.h"
#include "model/packets/traffic.h"
#include "model/simulator/simulation_graph.h"

namespace torc::model {

/// All must outlive it. `graph` is one of ranks, which are the network's nodes.
std::unique_ptr<Traffic> programTraffic(const PacketNetwork& network, const SimulationGraph& graph,
                                        const Machine& machine);

}  // namespace torc::model

#endif  // TORC_MODEL_PACKETS_PROGRAM_TRAFFIC_H_
