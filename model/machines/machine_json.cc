// Reads and writes the JSON of a machine (docs/schemas/machine.schema.json): every key is known,
// every number in a sensible range, damage is inside the torus and leaves the live nodes connected.
// The first fault is reported in one line: file, key, value.
#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/Twine.h>

#include "ir/json/strict_reader.h"
#include "model/machines/machine_fields.h"
#include "model/machines/packet_parameters.h"

namespace torc::model {
namespace {

using ir::JsonNode;
using ir::shownValue;

class MachineReader : public ir::StrictReader {
 public:
  MachineReader() : StrictReader(Faults::kWithValues) {}

  Machine read(const JsonNode& root) {
    keys(root, {"name", "dimensions"},
         {"description", "packet", "router", "dead_links", "dead_nodes", "sources"},
         kMachineFields);
    machine_.name = line(root.member("name"));
    if (machine_.name.empty()) fail(root.member("name"), "must not be empty");
    if (root.has("description")) machine_.description = line(root.member("description"));
    dimensions(root.member("dimensions"));
    if (root.has("packet")) {
      keys(root.member("packet"), {}, {}, kPacketFields);
      fieldsOf(root.member("packet"), machine_.packet, kPacketFields);
    }
    if (root.has("router")) router(root.member("router"));
    fieldsOf(root, machine_, kMachineFields);
    double fastest = 0;
    for (const MachineDimension& dimension : machine_.dimensions)
      fastest = std::max(fastest, dimension.bandwidth);
    if (machine_.gap > 0 && machine_.gap * fastest < 1 - 1e-9) {
      fail(root.member("gap"), numberText(machine_.gap) + " seconds per byte is faster than the " +
                                   "fastest dimension, " + numberText(fastest) + " bytes/s");
    }
    damage(root, "dead_links", kMaxDeadLinks, "link", &MachineReader::deadLink,
           machine_.dead_links);
    damage(root, "dead_nodes", kMaxDeadNodes, "node", &MachineReader::coordinates,
           machine_.dead_nodes);
    connected(root);
    if (root.has("sources")) sources(root, root.member("sources"));
    return std::move(machine_);
  }

 private:
  std::string line(const JsonNode& node) const {
    std::string value = string(node);
    if (value.find_first_of("\n\r") != std::string::npos) fail(node, "must be one line");
    return value;
  }

  template <typename Record, typename Fields>
  void fieldsOf(const JsonNode& node, Record& record, const Fields& fields) const {
    const auto read = [&](const JsonNode& member, auto& value, const auto& field) {
      using Value = std::remove_reference_t<decltype(value)>;
      if constexpr (std::is_same_v<Value, bool>) {
        value = member.value() == "torus";
        if (!value && member.value() != "mesh")
          fail(member, "must be \"torus\" or \"mesh\", not " + shownValue(member.value()));
      } else if constexpr (std::is_same_v<Value, double>) {
        value = number(member, field.lowest, field.highest, field.unit);
      } else {
        value = integer<Value>(member, static_cast<std::int64_t>(field.lowest),
                               static_cast<std::uint64_t>(field.highest));
      }
    };
    members(node, record, read, fields);
  }

  void dimensions(const JsonNode& node) {
    array(node, 1, kMaxDimensions, "dimensions");
    machine_.dimensions.resize(node.value().size());
    std::uint64_t nodes = 1;
    for (std::size_t i = 0; i < machine_.dimensions.size(); ++i) {
      MachineDimension& dimension = machine_.dimensions[i];
      keys(node.element(i), {}, {}, kDimensionFields);
      fieldsOf(node.element(i), dimension, kDimensionFields);
      nodes *= dimension.size;
      if (nodes > kMaxNodes) {
        fail(node, "the sizes multiply to more than " + llvm::Twine(kMaxNodes) + " nodes");
      }
    }
  }

  void router(const JsonNode& node) {
    PacketParameters& parameters = machine_.router.emplace();
    llvm::SmallVector<std::string_view, 32> names;
    for (const PacketParameterRow& row : packetParameterRows())
      names.push_back(row.name);
    object(node, {}, names);
    for (const PacketParameterRow& row : packetParameterRows()) {
      if (node.has(row.name))
        parameters.*row.member = number(node.member(row.name), 0, 1e9, row.unit);
    }
    if (llvm::Error error = checkPacketParameters(parameters))
      fail(node, toString(std::move(error)));
  }

  Coordinates coordinates(const JsonNode& node) const {
    Coordinates at{};
    const std::size_t count = machine_.dimensions.size();
    array(node, count, count, "coordinates");
    for (std::size_t i = 0; i < count; ++i) {
      const nlohmann::json& value = node.element(i).value();
      const std::uint32_t last = machine_.dimensions[i].size - 1;
      if (value.is_number_unsigned() && value.get<std::uint64_t>() > last) {
        fail(node.element(i), "outside the machine: " + llvm::Twine(kAxisNames[i]) + " goes to " +
                                  llvm::Twine(last) + ", not " + shownValue(value));
      }
      at[i] = integer<std::int32_t>(node.element(i), 0, last);
    }
    return at;
  }

  template <typename Thing>
  void damage(const JsonNode& root, llvm::StringRef key, std::size_t most, llvm::StringRef thing,
              Thing (MachineReader::*read)(const JsonNode&) const, std::vector<Thing>& things) {
    if (!root.has(key)) return;
    const JsonNode node = root.member(key);
    array(node, 0, most, ("dead " + thing + "s").str());
    for (std::size_t i = 0; i < node.value().size(); ++i) {
      const Thing one = (this->*read)(node.element(i));
      if (llvm::is_contained(things, one)) {
        fail(node.element(i),
             "this " + thing + " is in the list already: " + shownValue(node.element(i).value()));
      }
      things.push_back(one);
    }
  }

  DeadLink deadLink(const JsonNode& node) const {
    object(node, {"from", "axis"});
    DeadLink link{.from = coordinates(node.member("from"))};
    const JsonNode axis = node.member("axis");
    const llvm::StringRef names(kAxisNames.data(), machine_.dimensions.size());
    std::string name;
    if (axis.value().is_string()) name = axis.value().get<std::string>();
    if (name.size() != 1 || !names.contains(name[0])) {
      fail(axis, "must be one letter of " + names + ", not " + shownValue(axis.value()));
    }
    link.axis = static_cast<std::uint32_t>(names.find(name[0]));
    const MachineDimension& dimension = machine_.dimensions[link.axis];
    const bool at_end = link.from[link.axis] + 1 == static_cast<std::int32_t>(dimension.size);
    if (dimension.size == 1) fail(axis, name + " has one node, hence no link");
    if (at_end && !dimension.torus) {
      fail(node, "no link leads up along " + name + " from its last node, " +
                     llvm::Twine(link.from[link.axis]) + ": it is a mesh");
    }
    // Both ways round share the only cable.
    if (dimension.torus && dimension.size == 2 && dimension.cables() == 1) link.from[link.axis] = 0;
    return link;
  }

  void connected(const JsonNode& root) const {
    if (!machine_.damaged()) return;
    const llvm::StringRef key = machine_.dead_links.empty() ? "dead_nodes" : "dead_links";
    auto failed = [&](llvm::StringRef what) {
      what.consume_front("topology: ");
      fail(root.member(key), what + " (" + llvm::Twine(machine_.dead_links.size()) +
                                 " dead links, " + llvm::Twine(machine_.dead_nodes.size()) +
                                 " dead nodes of " + llvm::Twine(machine_.nodes()) + ")");
    };
    llvm::Expected<Topology> topology = topologyOf(machine_);
    if (!topology) failed(toString(topology.takeError()));
    const Status status = topology->validate();
    if (!status.ok()) failed(status.message());
  }

  void sources(const JsonNode& root, const JsonNode& node) {
    object(node);
    const auto isDimensionKey = [](std::string_view key) {
      return std::apply([&](const auto&... fields) { return ((fields.key == key) || ...); },
                        kDimensionFields);
    };
    for (const auto& [key, value] : node.value().items()) {
      // `packet.header` is a key of an object, `dimensions.bandwidth` of each of an array's.
      const auto [outer, inner] = llvm::StringRef(key).split('.');
      bool known = root.has(outer) && outer != "sources" && outer != "name";
      if (known && key.find('.') != std::string::npos) {
        known = ((outer == "packet" || outer == "router") && root.member(outer).has(inner)) ||
                (outer == "dimensions" && isDimensionKey(inner));
      }
      if (!known) fail(node, "names " + ir::shownName(key) + ", which the machine does not have");
      machine_.sources.emplace_back(key, line(node.member(key)));
    }
  }

  Machine machine_;
};

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

llvm::Expected<Machine> parseMachine(llvm::StringRef json, llvm::StringRef origin) {
  llvm::Expected<nlohmann::json> document = ir::parseJson(json, origin);
  if (!document) return llvm::make_error<MachineFault>(toString(document.takeError()));
  try {
    return MachineReader().read(JsonNode(*document));
  } catch (Thrown& fault) {
    return llvm::make_error<MachineFault>(origin + ": " + toString(std::move(fault.error)));
  }
}

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
