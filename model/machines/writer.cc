// Writes a machine as JSON.
#include <nlohmann/json.hpp>

#include "model/machines/machine.h"

namespace torc::model {
namespace {

nlohmann::ordered_json coordinatesJson(const Machine& machine, const Coordinates& at) {
  auto array = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < machine.dimensions.size(); ++i)
    array.push_back(at[i]);
  return array;
}

}  // namespace

std::string machineJson(const Machine& machine) {
  nlohmann::ordered_json document;
  document["name"] = machine.name;
  if (!machine.description.empty()) document["description"] = machine.description;
  auto& dimensions = document["dimensions"] = nlohmann::ordered_json::array();
  for (const MachineDimension& dimension : machine.dimensions) {
    nlohmann::ordered_json entry{{"size", dimension.size},
                                 {"kind", dimension.torus ? "torus" : "mesh"},
                                 {"bandwidth", dimension.bandwidth},
                                 {"latency", dimension.latency}};
    if (dimension.width > 0) entry["width"] = dimension.width;
    dimensions.push_back(std::move(entry));
  }
  if (machine.packet.payload > 0) {
    document["packet"] = {{"payload", machine.packet.payload},
                          {"header", machine.packet.header},
                          {"acknowledgement", machine.packet.acknowledgement}};
  }
  if (machine.router) {
    auto& router = document["router"];
    for (const PacketParameterRow& row : packetParameterRows())
      router[std::string(row.name)] = (*machine.router).*row.member;
  }
  document["cores"] = machine.cores;
  if (machine.ports > 0) document["ports"] = machine.ports;
  auto add = [&](const char* key, double value) {
    if (value > 0) document[key] = value;
  };
  add("alpha", machine.alpha);
  add("overhead", machine.overhead);
  add("latency", machine.latency);
  add("message_gap", machine.message_gap);
  add("envelope", machine.envelope);
  add("injection", machine.injection);
  add("gap", machine.gap);
  add("gamma", machine.gamma);
  add("eager", machine.eager);
  add("buffered", machine.buffered);
  add("memory_bandwidth", machine.memory_bandwidth);
  for (const DeadLink& link : machine.dead_links) {
    document["dead_links"].push_back({{"from", coordinatesJson(machine, link.from)},
                                      {"axis", std::string(1, kAxisNames[link.axis])}});
  }
  for (const Coordinates& at : machine.dead_nodes)
    document["dead_nodes"].push_back(coordinatesJson(machine, at));
  for (const auto& [key, source] : machine.sources)
    document["sources"][key] = source;
  return document.dump(2);
}

}  // namespace torc::model
