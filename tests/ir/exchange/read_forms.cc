// Reads GOAL line by line, Chakra field by field, XML tag by tag.
#include "tests/ir/exchange/read_forms.h"

#include <algorithm>
#include <sstream>

namespace torc {
namespace {

/// One rank's lines, up to "}".
std::string readGoalRank(std::istream& lines, std::vector<ReadOperation>& operations) {
  std::map<std::string, std::uint64_t> labels;
  std::string line;
  while (std::getline(lines, line)) {
    if (line == "}") return {};
    std::istringstream words(line);
    std::string label, verb, size, way, word;
    words >> label >> verb;
    if (verb == "requires") {
      std::string before;
      words >> before;
      if (!labels.contains(label) || !labels.contains(before)) return "no such label: " + line;
      operations[labels[label]].after.push_back(labels[before]);
      continue;
    }
    if (label.empty() || label.back() != ':') return "no label: " + line;
    label.pop_back();
    if (!labels.emplace(label, operations.size()).second) return "label twice: " + line;
    ReadOperation operation;
    operation.kind = verb[0] == 'c' ? 'c' : verb[0];
    if (verb == "calc") {
      words >> operation.time;
    } else if (verb == "send" || verb == "recv") {
      words >> operation.bytes >> size >> way >> operation.peer;
      if (size != "b" || way != (verb == "send" ? "to" : "from")) return "no message: " + line;
    } else {
      return "no operation: " + line;
    }
    for (const char* option : {"tag", "cpu", "nic"}) {  // in this order
      if (verb == "calc" && std::string(option) != "cpu") continue;
      std::int64_t value = -1;
      words >> word >> value;
      if (word != option || value < 0) return std::string("no ") + option + ": " + line;
      if (word == "tag") operation.tag = value;
      if (word != "tag" && value > 255) return "no byte: " + line;
    }
    operations.push_back(operation);
  }
  return "a rank does not end";
}

/// Protobuf's wire format.
class Wire {
 public:
  explicit Wire(std::string_view bytes) : bytes_(bytes) {}
  bool atEnd() const { return bytes_.empty() || bad_; }
  bool isBad() const { return bad_; }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64 && !bytes_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes_[0]);
      bytes_.remove_prefix(1);
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
    bad_ = true;
    return 0;
  }
  std::string_view bytes() {
    const std::uint64_t length = varint();
    if (length > bytes_.size()) bad_ = true;
    if (bad_) return {};
    const std::string_view taken = bytes_.substr(0, length);
    bytes_.remove_prefix(length);
    return taken;
  }

 private:
  std::string_view bytes_;
  bool bad_ = false;
};

/// `name` and the number of a field, and its value.
struct Attribute {
  std::string name;
  std::uint64_t field = 0, value = 0;
};

Attribute readAttribute(std::string_view bytes) {
  Attribute attribute;
  for (Wire wire(bytes); !wire.atEnd();) {
    const std::uint64_t tag = wire.varint();
    if (tag == (1 << 3 | 2)) {
      attribute.name = wire.bytes();
    } else {
      attribute.field = tag >> 3;
      if ((tag & 7) == 2) {
        wire.bytes();
      } else {
        attribute.value = wire.varint();
      }
    }
  }
  return attribute;
}

/// Nodes have the ids 0, 1, ... in this order.
std::string readChakraNode(std::string_view bytes, std::uint64_t expected_id,
                           ReadOperation& operation) {
  std::uint64_t id = 0, type = 0;
  // By name: the member of the attribute's value that readers look at.
  const std::map<std::string, std::uint64_t> members = {{"is_cpu_op", 27}, {"comm_type", 9},
                                                        {"comm_size", 9},  {"comm_src", 7},
                                                        {"comm_dst", 7},   {"comm_tag", 7}};
  std::map<std::string, std::uint64_t> values;
  Wire wire(bytes);
  while (!wire.atEnd()) {
    const std::uint64_t tag = wire.varint();
    switch (tag) {
      case 1 << 3:
        id = wire.varint();
        break;
      case 2 << 3 | 2:
        wire.bytes();
        break;
      case 3 << 3:
        type = wire.varint();
        break;
      case 5 << 3 | 2:
        for (Wire list(wire.bytes()); !list.atEnd();)
          operation.after.push_back(list.varint());
        break;
      case 7 << 3:
        operation.time = wire.varint();
        break;
      case 10 << 3 | 2: {
        const Attribute attribute = readAttribute(wire.bytes());
        const auto member = members.find(attribute.name);
        if (member == members.end() || member->second != attribute.field) {
          return "attribute " + attribute.name;
        }
        values[attribute.name] = attribute.value;
        break;
      }
      default:
        return "field " + std::to_string(tag);
    }
  }
  if (wire.isBad()) return "torn";
  if (id != expected_id) return "id " + std::to_string(id);
  if (!values.contains("is_cpu_op")) return "no is_cpu_op";
  if (type == 4) {
    operation.kind = 'c';
    return {};
  }
  if (type != 5 && type != 6) return "type " + std::to_string(type);
  operation.kind = type == 5 ? 's' : 'r';
  const std::string peer = type == 5 ? "comm_dst" : "comm_src";
  if (values.size() != 5 || !values.contains(peer) || values["comm_type"] != type) {
    return "attributes of a message";
  }
  operation.peer = static_cast<std::int64_t>(values[peer]);
  operation.tag = static_cast<std::int64_t>(values["comm_tag"]);
  operation.bytes = values["comm_size"];
  return {};
}

/// Sorts what operations wait for; what is not above them is a fault.
void settle(ReadProgram& program) {
  for (std::vector<ReadOperation>& operations : program.ranks) {
    for (std::uint64_t i = 0; i < operations.size(); ++i) {
      std::sort(operations[i].after.begin(), operations[i].after.end());
      for (const std::uint64_t before : operations[i].after) {
        if (before >= i) program.fault = "an operation waits for a later one";
      }
    }
  }
}

}  // namespace

ReadProgram readGoal(std::string_view text) {
  ReadProgram program;
  std::istringstream lines{std::string(text)};
  std::string word, brace;
  std::size_t ranks = 0, number = 0;
  lines >> word >> ranks;
  if (word != "num_ranks") return {"no num_ranks", {}};
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    lines >> word >> number >> brace;
    if (word != "rank" || number != rank || brace != "{") return {"no rank", {}};
    std::getline(lines, word);
    program.ranks.emplace_back();
    if (std::string fault = readGoalRank(lines, program.ranks.back()); !fault.empty()) {
      return {fault, {}};
    }
  }
  if (lines >> word) return {"more than the ranks: " + word, {}};
  settle(program);
  return program;
}

ReadProgram readChakra(const std::vector<std::string>& files) {
  ReadProgram program;
  for (const std::string& file : files) {
    Wire wire(file);
    bool has_version = false;
    for (Wire metadata(wire.bytes()); !metadata.atEnd();) {
      if (metadata.varint() == (1 << 3 | 2)) has_version = true;
      metadata.bytes();
    }
    if (!has_version) return {"no version", {}};
    program.ranks.emplace_back();
    while (!wire.atEnd()) {
      ReadOperation operation;
      const std::string fault =
          readChakraNode(wire.bytes(), program.ranks.back().size(), operation);
      if (!fault.empty()) return {fault, {}};
      program.ranks.back().push_back(operation);
    }
    if (wire.isBad()) return {"torn", {}};
  }
  settle(program);
  return program;
}

std::vector<ReadTag> readTags(std::string_view xml) {
  std::vector<ReadTag> tags;
  while (true) {
    const std::size_t open = xml.find('<');
    if (open == std::string_view::npos) return tags;
    const std::size_t close = xml.find('>', open);
    std::string_view inside = xml.substr(open + 1, close - open - 1);
    xml.remove_prefix(close + 1);
    ReadTag tag;
    if (inside.back() == '/') {
      tag.is_empty = true;
      inside.remove_suffix(1);
    }
    tag.name = inside.substr(0, inside.find(' '));
    inside.remove_prefix(tag.name.size());
    for (std::size_t equals; (equals = inside.find("=\"")) != std::string_view::npos;) {
      const std::size_t name = inside.find_first_not_of(' ');
      const std::size_t end = inside.find('"', equals + 2);
      tag.attributes[std::string(inside.substr(name, equals - name))] =
          inside.substr(equals + 2, end - equals - 2);
      inside.remove_prefix(end + 1);
    }
    tags.push_back(std::move(tag));
  }
}

}  // namespace torc
