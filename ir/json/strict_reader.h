// Strict reading of a document's values: every key is known and present, every value of its type
// and in its range. The first fault ends the reading.
#ifndef TORC_IR_JSON_STRICT_READER_H_
#define TORC_IR_JSON_STRICT_READER_H_

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/Twine.h>

#include "ir/json/document.h"
#include "ir/thrown.h"

namespace torc::ir {

/// A value of a document for a message, cut if long.
std::string shownValue(const nlohmann::json& value);

/// Functions throw the first fault: `/operations/17/stream: expected a string`.
class StrictReader {
 public:
  using Names = llvm::ArrayRef<std::string_view>;

 protected:
  /// kWithValues: a message ends with the value: ", not 7".
  enum class Faults { kAlone, kWithValues };

  explicit StrictReader(Faults faults) : faults_(faults) {}

  [[noreturn]] static void fail(const JsonNode& node, const llvm::Twine& what);

  /// An object with all `required` keys and no others than these and `optional` ones.
  void object(const JsonNode& node, Names required, Names optional = {}) const;
  void object(const JsonNode& node) const;
  /// The same with the keys of the fields in `lists`, which are tuples of structs with `key`,
  /// `member` and `optional`.
  template <typename... Lists>
  void keys(const JsonNode& node, Names required, Names optional, const Lists&... lists) const;
  /// Reads these fields by `read(node, member of record, field)`.
  template <typename Record, typename Read, typename... Lists>
  void members(const JsonNode& node, Record& record, Read read, const Lists&... lists) const;
  void array(const JsonNode& node) const;
  /// `elements` is the plural noun for a message about their number.
  void array(const JsonNode& node, std::size_t lowest, std::size_t highest,
             std::string_view elements) const;
  std::string string(const JsonNode& node) const;
  /// The number of one of `names`.
  std::size_t name(const JsonNode& node, Names names) const;
  double number(const JsonNode& node) const;
  /// Both ends are included.
  double number(const JsonNode& node, double lowest, double highest, std::string_view unit) const;
  template <typename T>
  T integer(const JsonNode& node, std::int64_t lowest = std::numeric_limits<T>::min(),
            std::uint64_t highest = std::numeric_limits<T>::max()) const {
    return static_cast<T>(wideInteger(node, lowest, highest));
  }

 private:
  [[noreturn]] void expected(const JsonNode& node, const llvm::Twine& what) const;
  std::int64_t wideInteger(const JsonNode& node, std::int64_t lowest, std::uint64_t highest) const;

  const Faults faults_;
};

template <typename... Lists>
void StrictReader::keys(const JsonNode& node, Names required, Names optional,
                        const Lists&... lists) const {
  llvm::SmallVector<std::string_view, 24> all_required(required), all_optional(optional);
  const auto add = [&](const auto&... fields) {
    ((fields.optional ? all_optional : all_required).push_back(fields.key), ...);
  };
  (std::apply(add, lists), ...);
  object(node, all_required, all_optional);
}

template <typename Record, typename Read, typename... Lists>
void StrictReader::members(const JsonNode& node, Record& record, Read read,
                           const Lists&... lists) const {
  const auto readOne = [&](const auto& field) {
    if (!field.optional || node.has(field.key))
      read(node.member(field.key), record.*field.member, field);
  };
  (std::apply([&](const auto&... fields) { (readOne(fields), ...); }, lists), ...);
}

}  // namespace torc::ir

#endif  // TORC_IR_JSON_STRICT_READER_H_
