// Heat: what links and queues did in one run of the packet simulator, over time, as a drawing.
#ifndef TORC_MODEL_PACKETS_HEAT_H_
#define TORC_MODEL_PACKETS_HEAT_H_

#include <string>

#include <llvm/ADT/StringRef.h>

#include "model/packets/packet_simulator.h"
#include "schedules/topology/topology.h"

namespace torc::model {

/// An SVG: a row for the links of each direction (the share of time in which they were busy), for
/// each kind of queue (how full, the mean of all nodes), and for what arrived; columns are time.
std::string heatSvg(const Topology& topology, const PacketParameters& parameters,
                    const PacketResult& result, llvm::StringRef title);

}  // namespace torc::model

#endif  // TORC_MODEL_PACKETS_HEAT_H_
