// Reads the JSON of a machine (docs/schemas/machine.schema.json): every key is known, every
// number in a range that makes sense, damage is inside the torus and leaves the live nodes
// connected. The first fault is told in one line: file, key, value.
#include <cmath>
#include <cstdint>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/Twine.h>
#include <llvm/Support/Format.h>
#include <llvm/Support/raw_ostream.h>

#include "ir/json/document.h"
#include "model/machines/machine.h"
#include "model/machines/machine_ranges.h"
#include "model/machines/packet_parameters.h"

namespace torc::model {
namespace {

using Keys = llvm::ArrayRef<llvm::StringRef>;

constexpr std::uint32_t kMaxCores = 1u << 20;

/// The range of a number, both ends included.
struct Range {
  double lowest;
  double highest;
  llvm::StringRef unit;
};
constexpr Range kBandwidth{kMinBandwidth, kMaxBandwidth, "bytes/s"};
constexpr Range kTime{0, kMaxSeconds, "seconds"};
constexpr Range kTimePerByte{0, 1, "seconds per byte"};
constexpr Range kPacketBytes{0, 1e9, "bytes"};

/// Every number of the top level that is not an integer.
struct TopLevelNumber {
  llvm::StringRef key;
  double Machine::*value;
  Range range;
};
constexpr TopLevelNumber kNumbers[] = {
    {"alpha", &Machine::alpha, kTime},
    {"overhead", &Machine::overhead, kTime},
    {"latency", &Machine::latency, kTime},
    {"message_gap", &Machine::message_gap, kTime},
    {"envelope", &Machine::envelope, {0, 1e9, "bytes"}},
    {"injection", &Machine::injection, {0, kMaxBandwidth, "bytes/s"}},
    {"gap", &Machine::gap, kTimePerByte},
    {"eager", &Machine::eager, {0, 1e12, "bytes"}},
    {"buffered", &Machine::buffered, {0, 1e12, "bytes"}},
    {"gamma", &Machine::gamma, kTimePerByte},
    {"memory_bandwidth", &Machine::memory_bandwidth, {0, kMaxBandwidth, "bytes/s"}},
};
constexpr llvm::StringLiteral kDimensionKeys[] = {"size", "kind", "bandwidth", "latency", "width"};
constexpr llvm::StringLiteral kPacketKeys[] = {"payload", "header", "acknowledgement"};

std::string shown(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%g", value);
  return text;
}

/// A value of the document for a message, cut if long.
std::string shown(const nlohmann::json& value) {
  constexpr std::size_t kLongest = 40;
  const std::string text =
      value.dump(-1, ' ', /*ensure_ascii=*/true, nlohmann::json::error_handler_t::replace);
  return text.size() > kLongest ? text.substr(0, kLongest) + "..." : text;
}

char axisName(std::size_t dimension) {
  return kAxisNames[dimension];
}

/// Functions return whether all was well; the first fault is in error().
class MachineReader {
 public:
  bool read(const ir::JsonNode& root);
  Machine take() { return std::move(machine_); }
  const std::string& error() const { return error_; }

 private:
  bool fail(const ir::JsonNode& node, const llvm::Twine& what) {
    if (error_.empty()) error_ = (node.path() + ": " + what).str();
    return false;
  }

  /// An object with all `required` keys and no others than these and `optional` ones.
  bool object(const ir::JsonNode& node, Keys required, Keys optional);
  bool array(const ir::JsonNode& node, std::size_t lowest, std::size_t highest,
             llvm::StringRef elements);
  bool number(const ir::JsonNode& node, const Range& range, double& value);
  bool integer(const ir::JsonNode& node, std::uint32_t lowest, std::uint32_t highest,
               std::uint32_t& value);
  bool string(const ir::JsonNode& node, std::string& value);

  bool dimensions(const ir::JsonNode& node);
  bool dimension(const ir::JsonNode& node, MachineDimension& dimension);
  bool packet(const ir::JsonNode& node);
  bool router(const ir::JsonNode& node);
  bool coordinates(const ir::JsonNode& node, Coordinates& at);
  bool deadLinks(const ir::JsonNode& node);
  bool deadLink(const ir::JsonNode& node, DeadLink& link);
  bool deadNodes(const ir::JsonNode& node);
  bool sources(const ir::JsonNode& root, const ir::JsonNode& node);
  bool connected(const ir::JsonNode& root);

  Machine machine_;
  std::string error_;
};

bool MachineReader::object(const ir::JsonNode& node, Keys required, Keys optional) {
  if (!node.value().is_object()) {
    return fail(node, "expected an object, not " + shown(node.value()));
  }
  for (llvm::StringRef key : required) {
    if (!node.has(key)) return fail(node, "missing key '" + key + "'");
  }
  for (const auto& [key, value] : node.value().items()) {
    if (llvm::is_contained(required, key) || llvm::is_contained(optional, key)) continue;
    llvm::SmallVector<llvm::StringRef> known(required.begin(), required.end());
    known.append(optional.begin(), optional.end());
    return fail(node, ir::unknownKey(key, known));
  }
  return true;
}

bool MachineReader::array(const ir::JsonNode& node, std::size_t lowest, std::size_t highest,
                          llvm::StringRef elements) {
  if (!node.value().is_array()) {
    return fail(node, "expected an array, not " + shown(node.value()));
  }
  const std::size_t size = node.value().size();
  if (size >= lowest && size <= highest) return true;
  return fail(node, "has " + llvm::Twine(size) + " " + elements + ", must have " +
                        (lowest == highest ? llvm::Twine(lowest)
                                           : llvm::Twine(lowest) + " to " + llvm::Twine(highest)));
}

bool MachineReader::number(const ir::JsonNode& node, const Range& range, double& value) {
  if (node.value().is_number()) {
    value = node.value().get<double>();
    if (value >= range.lowest && value <= range.highest) {
      value += 0.0;  // no negative zero
      return true;
    }
  }
  return fail(node, "must be a number from " + shown(range.lowest) + " to " + shown(range.highest) +
                        " " + range.unit + ", not " + shown(node.value()));
}

bool MachineReader::integer(const ir::JsonNode& node, std::uint32_t lowest, std::uint32_t highest,
                            std::uint32_t& value) {
  if (node.value().is_number_unsigned()) {
    const auto number = node.value().get<std::uint64_t>();
    if (number >= lowest && number <= highest) {
      value = static_cast<std::uint32_t>(number);
      return true;
    }
  }
  return fail(node, "must be an integer from " + llvm::Twine(lowest) + " to " +
                        llvm::Twine(highest) + ", not " + shown(node.value()));
}

bool MachineReader::string(const ir::JsonNode& node, std::string& value) {
  if (!node.value().is_string()) {
    return fail(node, "expected a string, not " + shown(node.value()));
  }
  value = node.value().get_ref<const std::string&>();
  if (value.find_first_of("\n\r") != std::string::npos) return fail(node, "must be one line");
  return true;
}

bool MachineReader::read(const ir::JsonNode& root) {
  llvm::SmallVector<llvm::StringRef, 16> optional = {
      "description", "packet", "router", "cores", "ports", "dead_links", "dead_nodes", "sources"};
  for (const TopLevelNumber& number : kNumbers)
    optional.push_back(number.key);
  if (!object(root, {"name", "dimensions"}, optional)) return false;
  if (!string(root.member("name"), machine_.name)) return false;
  if (machine_.name.empty()) return fail(root.member("name"), "must not be empty");
  if (root.has("description") && !string(root.member("description"), machine_.description)) {
    return false;
  }
  if (!dimensions(root.member("dimensions"))) return false;
  if (root.has("packet") && !packet(root.member("packet"))) return false;
  if (root.has("router") && !router(root.member("router"))) return false;
  if (root.has("cores") && !integer(root.member("cores"), 1, kMaxCores, machine_.cores)) {
    return false;
  }
  if (root.has("ports") && !integer(root.member("ports"), 1, 2 * kMaxDimensions, machine_.ports)) {
    return false;
  }
  for (const TopLevelNumber& each : kNumbers) {
    if (root.has(each.key) && !number(root.member(each.key), each.range, machine_.*each.value)) {
      return false;
    }
  }
  double fastest = 0;
  for (const MachineDimension& dimension : machine_.dimensions)
    fastest = std::max(fastest, dimension.bandwidth);
  if (machine_.gap > 0 && machine_.gap * fastest < 1 - 1e-9) {
    return fail(root.member("gap"), shown(machine_.gap) + " seconds per byte is faster than the " +
                                        "fastest dimension, " + shown(fastest) + " bytes/s");
  }
  if (root.has("dead_links") && !deadLinks(root.member("dead_links"))) return false;
  if (root.has("dead_nodes") && !deadNodes(root.member("dead_nodes"))) return false;
  if (!connected(root)) return false;
  return !root.has("sources") || sources(root, root.member("sources"));
}

bool MachineReader::dimensions(const ir::JsonNode& node) {
  if (!array(node, 1, kMaxDimensions, "dimensions")) return false;
  machine_.dimensions.resize(node.value().size());
  std::uint64_t nodes = 1;
  for (std::size_t i = 0; i < machine_.dimensions.size(); ++i) {
    if (!dimension(node.element(i), machine_.dimensions[i])) return false;
    nodes *= machine_.dimensions[i].size;
    if (nodes > kMaxNodes) {
      return fail(node, "the sizes multiply to more than " + llvm::Twine(kMaxNodes) + " nodes");
    }
  }
  return true;
}

bool MachineReader::dimension(const ir::JsonNode& node, MachineDimension& dimension) {
  if (!object(node, {"size", "bandwidth"}, {"kind", "latency", "width"})) return false;
  if (!integer(node.member("size"), 1, kMaxNodes, dimension.size)) return false;
  if (!number(node.member("bandwidth"), kBandwidth, dimension.bandwidth)) return false;
  if (node.has("kind")) {
    std::string kind;
    const ir::JsonNode member = node.member("kind");
    if (member.value().is_string()) kind = member.value().get<std::string>();
    if (kind != "torus" && kind != "mesh") {
      return fail(member, "must be \"torus\" or \"mesh\", not " + shown(member.value()));
    }
    dimension.torus = kind == "torus";
  }
  if (node.has("latency") && !number(node.member("latency"), kTime, dimension.latency)) {
    return false;
  }
  return !node.has("width") || integer(node.member("width"), 1, 64, dimension.width);
}

bool MachineReader::packet(const ir::JsonNode& node) {
  MachinePacket& packet = machine_.packet;
  if (!object(node, {"payload"}, {"header", "acknowledgement"})) return false;
  if (!number(node.member("payload"), {1, 1e9, "bytes"}, packet.payload)) return false;
  if (node.has("header") && !number(node.member("header"), kPacketBytes, packet.header)) {
    return false;
  }
  return !node.has("acknowledgement") ||
         number(node.member("acknowledgement"), kPacketBytes, packet.acknowledgement);
}

bool MachineReader::router(const ir::JsonNode& node) {
  PacketParameters& parameters = machine_.router.emplace();
  llvm::SmallVector<llvm::StringRef, 32> names;
  for (const PacketParameterRow& row : packetParameterRows())
    names.push_back(row.name);
  if (!object(node, {}, names)) return false;
  for (const PacketParameterRow& row : packetParameterRows()) {
    const Range range{0, 1e9, llvm::StringRef(row.unit)};
    if (node.has(row.name) && !number(node.member(row.name), range, parameters.*row.member))
      return false;
  }
  if (llvm::Error error = checkPacketParameters(parameters))
    return fail(node, toString(std::move(error)));
  return true;
}

bool MachineReader::coordinates(const ir::JsonNode& node, Coordinates& at) {
  const std::size_t count = machine_.dimensions.size();
  if (!array(node, count, count, "coordinates")) return false;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t coordinate = 0;
    const std::uint32_t size = machine_.dimensions[i].size;
    if (node.element(i).value().is_number_unsigned() &&
        node.element(i).value().get<std::uint64_t>() >= size) {
      return fail(node.element(i), "outside the machine: " + llvm::Twine(axisName(i)) +
                                       " goes to " + llvm::Twine(size - 1) + ", not " +
                                       shown(node.element(i).value()));
    }
    if (!integer(node.element(i), 0, size - 1, coordinate)) return false;
    at[i] = static_cast<std::int32_t>(coordinate);
  }
  return true;
}

bool MachineReader::deadLinks(const ir::JsonNode& node) {
  if (!array(node, 0, kMaxDeadLinks, "dead links")) return false;
  for (std::size_t i = 0; i < node.value().size(); ++i) {
    DeadLink link;
    if (!deadLink(node.element(i), link)) return false;
    if (llvm::is_contained(machine_.dead_links, link)) {
      return fail(node.element(i),
                  "this link is in the list already: " + shown(node.element(i).value()));
    }
    machine_.dead_links.push_back(link);
  }
  return true;
}

bool MachineReader::deadLink(const ir::JsonNode& node, DeadLink& link) {
  if (!object(node, {"from", "axis"}, {}) || !coordinates(node.member("from"), link.from)) {
    return false;
  }
  const ir::JsonNode axis = node.member("axis");
  const llvm::StringRef names(kAxisNames.data(), machine_.dimensions.size());
  std::string name;
  if (axis.value().is_string()) name = axis.value().get<std::string>();
  if (name.size() != 1 || !names.contains(name[0])) {
    return fail(axis, "must be one letter of " + names + ", not " + shown(axis.value()));
  }
  link.axis = static_cast<std::uint32_t>(names.find(name[0]));
  const MachineDimension& dimension = machine_.dimensions[link.axis];
  const bool at_end = link.from[link.axis] + 1 == static_cast<std::int32_t>(dimension.size);
  if (dimension.size == 1) return fail(axis, name + " has one node, hence no link");
  if (at_end && !dimension.torus) {
    return fail(node, "no link leads up along " + name + " from its last node, " +
                          llvm::Twine(link.from[link.axis]) + ": it is a mesh");
  }
  // Both ways round share the only cable.
  if (dimension.torus && dimension.size == 2 && dimension.cables() == 1) link.from[link.axis] = 0;
  return true;
}

bool MachineReader::deadNodes(const ir::JsonNode& node) {
  if (!array(node, 0, kMaxDeadNodes, "dead nodes")) return false;
  for (std::size_t i = 0; i < node.value().size(); ++i) {
    Coordinates at{};
    if (!coordinates(node.element(i), at)) return false;
    if (llvm::is_contained(machine_.dead_nodes, at)) {
      return fail(node.element(i),
                  "this node is in the list already: " + shown(node.element(i).value()));
    }
    machine_.dead_nodes.push_back(at);
  }
  return true;
}

bool MachineReader::connected(const ir::JsonNode& root) {
  if (!machine_.damaged()) return true;
  const llvm::StringRef key = machine_.dead_links.empty() ? "dead_nodes" : "dead_links";
  auto failed = [&](llvm::StringRef what) {
    what.consume_front("topology: ");
    return fail(root.member(key), what + " (" + llvm::Twine(machine_.dead_links.size()) +
                                      " dead links, " + llvm::Twine(machine_.dead_nodes.size()) +
                                      " dead nodes of " + llvm::Twine(machine_.nodes()) + ")");
  };
  llvm::Expected<Topology> topology = topologyOf(machine_);
  if (!topology) return failed(toString(topology.takeError()));
  const Status status = topology->validate();
  return status.ok() || failed(status.message());
}

bool MachineReader::sources(const ir::JsonNode& root, const ir::JsonNode& node) {
  if (!node.value().is_object()) {
    return fail(node, "expected an object, not " + shown(node.value()));
  }
  for (const auto& [key, value] : node.value().items()) {
    // `packet.header` is a key of an object, `dimensions.bandwidth` of each of an array's.
    const auto [outer, inner] = llvm::StringRef(key).split('.');
    bool known = root.has(outer) && outer != "sources" && outer != "name";
    if (known && key.find('.') != std::string::npos) {
      known = ((outer == "packet" || outer == "router") && root.member(outer).has(inner)) ||
              (outer == "dimensions" && llvm::is_contained(kDimensionKeys, inner));
    }
    if (!known)
      return fail(node, "names " + ir::shownName(key) + ", which the machine does not have");
    std::string source;
    if (!string(node.member(key), source)) return false;
    machine_.sources.emplace_back(key, source);
  }
  return true;
}

}  // namespace

llvm::Expected<Machine> parseMachine(llvm::StringRef json, llvm::StringRef origin) {
  llvm::Expected<nlohmann::json> document = ir::parseJson(json, origin);
  if (!document) return llvm::make_error<MachineFault>(toString(document.takeError()));
  MachineReader reader;
  if (reader.read(ir::JsonNode(*document))) return reader.take();
  return llvm::make_error<MachineFault>(origin + ": " + reader.error());
}

}  // namespace torc::model
