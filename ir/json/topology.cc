// Writes a topology as JSON.
#include "ir/json/topology.h"

#include <vector>

#include "ir/json/names.h"

namespace torc::ir {

using Json = nlohmann::ordered_json;

std::string axisNames(const Topology& topology, const std::array<std::uint8_t, kMaxAxes>& order) {
  std::string names;
  for (std::uint32_t i = 0; i < topology.axis_count; ++i)
    names += topology.axes[order[i]].name;
  return names;
}

Json topologyJson(const Topology& topology) {
  Json axes = Json::array();
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    const Axis& axis = topology.axes[i];
    axes.push_back({{"name", std::string(1, axis.name)},
                    {"size", axis.size},
                    {"kind", kAxisKindNames[static_cast<int>(axis.kind)]},
                    {"bandwidth", axis.bandwidth},
                    {"latency", axis.latency}});
  }
  Json json = {{"axes", std::move(axes)}, {"order", topology.orderString()}};
  auto nodeJson = [&](const Coordinates& node) {
    return Json(std::vector(node.begin(), node.begin() + topology.dimensions()));
  };
  for (const DeadLink& link : topology.deadLinks()) {
    json["dead_links"].push_back(
        {{"from", nodeJson(link.from)}, {"axis", std::string(1, topology.axes[link.axis].name)}});
  }
  for (const Coordinates& node : topology.deadNodes())
    json["dead_nodes"].push_back(nodeJson(node));
  return json;
}

}  // namespace torc::ir
