// Chakra execution traces, one file a rank, as ASTRA-sim 2 runs them as custom collectives
// (mlcommons/chakra schema/protobuf/et_def.proto; astra-sim
// astra-sim/system/astraccl/custom_collectives/CustomAlgorithm.cc).
//
// A file is a row of protobuf messages, each after its length: GlobalMetadata, then Nodes. A
// message is a COMM_SEND or COMM_RECV node; the sum after a receive is a COMP node, as are copies,
// in whole microseconds. ASTRA-sim executes no other kinds. Dependences of an operation are its
// data_deps.
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Support/LEB128.h>

#include "ir/exchange/writers/call_writers.h"

namespace torc::ir {
namespace {

/// A protobuf message under construction. Its variable-length integers are LEB128, written by LLVM.
/// A field begins with its number and its wire type.
class Message {
 public:
  Message& number(std::uint32_t field, std::uint64_t value) {
    return integer(field << 3).integer(value);
  }
  Message& text(std::uint32_t field, llvm::StringRef bytes) {
    integer(field << 3 | 2).integer(bytes.size());
    bytes_.append(bytes);
    return *this;
  }
  Message& message(std::uint32_t field, const Message& inner) { return text(field, inner.bytes_); }
  /// A list of numbers; nothing if it is empty.
  Message& packed(std::uint32_t field, llvm::ArrayRef<std::uint64_t> values) {
    Message list;
    for (const std::uint64_t value : values)
      list.integer(value);
    return values.empty() ? *this : message(field, list);
  }
  /// Writes the length, then the message, as in files.
  void write(llvm::raw_ostream& out) const {
    llvm::encodeULEB128(bytes_.size(), out);
    out << bytes_;
  }

 private:
  Message& integer(std::uint64_t value) {
    std::uint8_t bytes[10];
    bytes_.append(bytes, bytes + llvm::encodeULEB128(value, bytes));
    return *this;
  }

  std::string bytes_;
};

// Fields and values of et_def.proto.
enum GlobalMetadataField : std::uint32_t { kVersion = 1, kMetadataAttribute = 2 };
enum NodeField : std::uint32_t {
  kId = 1,
  kName = 2,
  kType = 3,
  kDataDependences = 5,
  kDurationMicros = 7,
  kAttribute = 10,
};
enum NodeType : std::uint32_t { kComputation = 4, kCommSend = 5, kCommRecv = 6 };
/// The member of an attribute that holds its value; readers use only this one.
enum AttributeField : std::uint32_t {
  kAttributeName = 1,
  kInt32 = 7,
  kInt64 = 9,
  kBool = 27,
  kString = 29,
};

Message attribute(llvm::StringRef name) {
  return Message().text(kAttributeName, name);
}

/// A node without its dependences. Zeros are omitted, as in proto3.
Message node(std::uint64_t id, llvm::StringRef name, NodeType type,
             llvm::ArrayRef<std::uint64_t> after) {
  Message result;
  if (id > 0) result.number(kId, id);
  return result.text(kName, name).number(kType, type).packed(kDataDependences, after);
}

}  // namespace

void writeChakraRank(const ExportedCall& call, const FlatProgram& program, llvm::raw_ostream& out) {
  const std::string_view collective = rowOf(call.schedule().collective).name;
  Message()
      .text(kVersion, "0.0.4")
      .message(kMetadataAttribute, attribute("schema").text(kString, "1.0.2-chakra.0.0.4"))
      .message(kMetadataAttribute, attribute("collective").text(kString, collective))
      .write(out);
  std::uint64_t id = 0;
  std::vector<std::uint64_t> complete_with;  // by operation: its last node
  for (std::size_t i = 0; i < program.operations.size(); ++i) {
    const FlatOperation& operation = program.operations[i];
    const std::string name = std::string(torc::name(operation.kind)) + '_' + std::to_string(i);
    std::vector<std::uint64_t> after;
    for (const std::uint32_t before : program.dependencesOf(operation))
      after.push_back(complete_with[before]);
    const bool is_message = operation.peer >= 0;
    if (is_message) {
      const bool sending = sends(operation.kind);
      const NodeType type = sending ? kCommSend : kCommRecv;
      const auto peer = static_cast<std::uint64_t>(operation.peer);
      node(id, name, type, after)
          .message(kAttribute, attribute("is_cpu_op").number(kBool, 0))
          .message(kAttribute, attribute("comm_type").number(kInt64, type))
          .message(kAttribute, attribute("comm_size").number(kInt64, call.bytesOf(operation)))
          .message(kAttribute, attribute(sending ? "comm_dst" : "comm_src").number(kInt32, peer))
          .message(kAttribute, attribute("comm_tag").number(kInt32, operation.tag))
          .write(out);
      after = {id++};
    }
    if (!is_message || operation.kind == OperationKind::kRecvReduce) {
      const auto micros = static_cast<std::uint64_t>(std::llround(call.secondsOf(operation) * 1e6));
      Message computation = node(id, name, kComputation, after);
      if (micros > 0) computation.number(kDurationMicros, micros);
      computation.message(kAttribute, attribute("is_cpu_op").number(kBool, 0)).write(out);
      ++id;
    }
    complete_with.push_back(id - 1);
  }
}

}  // namespace torc::ir
