// Strict reading of a document's values: every key is known and present, every value of its type
// and in its range. The first fault is kept.
#ifndef TORC_IR_JSON_STRICT_READER_H_
#define TORC_IR_JSON_STRICT_READER_H_

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/Twine.h>

#include "ir/json/document.h"

namespace torc::ir {

/// A value of a document for a message, cut if long.
std::string shownValue(const nlohmann::json& value);

/// Functions return true on success; otherwise the first fault is in error().
class StrictReader {
 public:
  using Names = llvm::ArrayRef<std::string_view>;

  /// `/operations/17/stream: expected a string`.
  const std::string& error() const { return error_; }

 protected:
  /// kWithValues: a message ends with the value: ", not 7".
  enum class Faults { kAlone, kWithValues };

  explicit StrictReader(Faults faults) : faults_(faults) {}

  bool fail(const JsonNode& node, const llvm::Twine& what);

  /// An object with all `required` keys and no others than these and `optional` ones.
  bool object(const JsonNode& node, Names required, Names optional = {});
  bool object(const JsonNode& node);
  /// The same with the keys of the fields in `lists`, which are tuples of structs with `key`,
  /// `member` and `optional`.
  template <typename... Lists>
  bool keys(const JsonNode& node, Names required, Names optional, const Lists&... lists);
  /// Reads these fields by `read(node, member of record, field)`.
  template <typename Record, typename Read, typename... Lists>
  bool members(const JsonNode& node, Record& record, Read read, const Lists&... lists);
  bool array(const JsonNode& node);
  /// `elements` is the plural noun for a message about their number.
  bool array(const JsonNode& node, std::size_t lowest, std::size_t highest,
             std::string_view elements);
  /// An array, each element of which `read` reads into a new one of `records`.
  template <typename Record, typename Read>
  bool list(const JsonNode& node, std::vector<Record>& records, Read read);
  bool string(const JsonNode& node, std::string& value);
  /// One of `names`; `value` becomes its number.
  bool name(const JsonNode& node, Names names, std::size_t& value);
  bool number(const JsonNode& node, double& value);
  /// Both ends are included.
  bool number(const JsonNode& node, double& value, double lowest, double highest,
              std::string_view unit);
  template <typename T>
  bool integer(const JsonNode& node, T& value, std::int64_t lowest = std::numeric_limits<T>::min(),
               std::uint64_t highest = std::numeric_limits<T>::max());

 private:
  bool expected(const JsonNode& node, const llvm::Twine& what);
  bool isInteger(const JsonNode& node, std::int64_t lowest, std::uint64_t highest);

  const Faults faults_;
  std::string error_;
};

template <typename... Lists>
bool StrictReader::keys(const JsonNode& node, Names required, Names optional,
                        const Lists&... lists) {
  llvm::SmallVector<std::string_view, 24> all_required(required), all_optional(optional);
  const auto add = [&](const auto&... fields) {
    ((fields.optional ? all_optional : all_required).push_back(fields.key), ...);
  };
  (std::apply(add, lists), ...);
  return object(node, all_required, all_optional);
}

template <typename Record, typename Read, typename... Lists>
bool StrictReader::members(const JsonNode& node, Record& record, Read read, const Lists&... lists) {
  const auto readOne = [&](const auto& field) {
    return (field.optional && !node.has(field.key)) ||
           read(node.member(field.key), record.*field.member, field);
  };
  const auto readAll = [&](const auto&... fields) { return (readOne(fields) && ...); };
  return (std::apply(readAll, lists) && ...);
}

template <typename Record, typename Read>
bool StrictReader::list(const JsonNode& node, std::vector<Record>& records, Read read) {
  if (!array(node)) return false;
  records.resize(node.value().size());
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (!read(node.element(i), records[i])) return false;
  }
  return true;
}

template <typename T>
bool StrictReader::integer(const JsonNode& node, T& value, std::int64_t lowest,
                           std::uint64_t highest) {
  if (!isInteger(node, lowest, highest)) return false;
  value = static_cast<T>(node.value().get<std::int64_t>());
  return true;
}

}  // namespace torc::ir

#endif  // TORC_IR_JSON_STRICT_READER_H_
