// A topology in JSON, as in the JSON form of a schedule (docs/schemas/schedule.schema.json).
#ifndef TORC_IR_JSON_TOPOLOGY_JSON_H_
#define TORC_IR_JSON_TOPOLOGY_JSON_H_

#include <nlohmann/json.hpp>

#include "schedules/topology/topology.h"

namespace torc::ir {

nlohmann::ordered_json topologyJson(const Topology& topology);

}  // namespace torc::ir

#endif  // TORC_IR_JSON_TOPOLOGY_JSON_H_
