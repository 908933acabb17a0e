// Reads JSON strictly: syntax faults with line, column and caret; repeated keys and deep nesting
// refused; and places in a document, for messages, as JSON pointers (RFC 6901).
#ifndef TORC_IR_JSON_DOCUMENT_H_
#define TORC_IR_JSON_DOCUMENT_H_

#include <cstddef>
#include <string>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>
#include <nlohmann/json.hpp>

namespace torc::ir {

/// Parses `text`. Errors: `origin:3:14: error: ...` with the line and a caret, or
/// `origin: /operations/3: key 'kind' occurs twice`.
llvm::Expected<nlohmann::json> parseJson(llvm::StringRef text, llvm::StringRef origin);

/// A value of a document and the way to it. Lives as long as the node above it.
class JsonNode {
 public:
  explicit JsonNode(const nlohmann::json& root) : value_(&root) {}

  const nlohmann::json& value() const { return *value_; }
  /// The element `index` of an array.
  JsonNode element(std::size_t index) const { return {(*value_)[index], this, {}, index}; }
  /// The member `key` of an object that has it; `key` outlives the node.
  JsonNode member(llvm::StringRef key) const { return {*value_->find(key.str()), this, key, 0}; }
  bool has(llvm::StringRef key) const { return value_->find(key.str()) != value_->end(); }
  /// `/operations/17/stream`; the root is `/`.
  std::string path() const;

 private:
  JsonNode(const nlohmann::json& value, const JsonNode* up, llvm::StringRef key, std::size_t index)
      : value_(&value), up_(up), key_(key), index_(index) {}

  const nlohmann::json* value_;
  const JsonNode* up_ = nullptr;
  llvm::StringRef key_;    // in an object
  std::size_t index_ = 0;  // in an array
};

/// A name from a document for a message: quoted, cut if long, nothing unprintable.
std::string shownName(llvm::StringRef name);

/// "unknown key 'sise'; did you mean 'size'?"; without a near key "(keys are size, kind)", or a
/// reference if there are many.
std::string unknownKey(llvm::StringRef key, llvm::ArrayRef<llvm::StringRef> known,
                       llvm::StringRef kind = "key");

}  // namespace torc::ir

#endif  // TORC_IR_JSON_DOCUMENT_H_
