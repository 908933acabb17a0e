// Writes a machine as JSON.
#include <type_traits>

#include <nlohmann/json.hpp>

#include "model/machines/machine_fields.h"

namespace torc::model {
namespace {

nlohmann::ordered_json coordinatesJson(const Machine& machine, const Coordinates& at) {
  auto array = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < machine.dimensions.size(); ++i)
    array.push_back(at[i]);
  return array;
}

template <typename Record, typename Fields>
void addFields(nlohmann::ordered_json& object, const Record& record, const Fields& fields) {
  const auto add = [&](const auto& field) {
    const auto& value = record.*field.member;
    if constexpr (std::is_same_v<decltype(value), const bool&>) {
      object[field.key] = value ? "torus" : "mesh";
    } else if (field.written || value > 0) {
      object[field.key] = value;
    }
  };
  std::apply([&](const auto&... field) { (add(field), ...); }, fields);
}

}  // namespace

std::string machineJson(const Machine& machine) {
  nlohmann::ordered_json document;
  document["name"] = machine.name;
  if (!machine.description.empty()) document["description"] = machine.description;
  auto& dimensions = document["dimensions"] = nlohmann::ordered_json::array();
  for (const MachineDimension& dimension : machine.dimensions)
    addFields(dimensions.emplace_back(), dimension, kDimensionFields);
  if (machine.packet.payload > 0) addFields(document["packet"], machine.packet, kPacketFields);
  if (machine.router) {
    auto& router = document["router"];
    for (const PacketParameterRow& row : packetParameterRows())
      router[std::string(row.name)] = (*machine.router).*row.member;
  }
  addFields(document, machine, kMachineFields);
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
