// YAML as a tree with lines. Anchors, aliases and a second document are refused, so that a tree is
// never larger than its text.
#ifndef TORC_MODEL_MACHINES_YAML_TREE_H_
#define TORC_MODEL_MACHINES_YAML_TREE_H_

#include <cstdint>
#include <string>
#include <vector>

#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>

namespace torc::model {

struct YamlNode {
  enum class Kind : std::uint8_t { kScalar, kSequence, kMapping };

  Kind kind = Kind::kScalar;
  std::uint32_t line = 0;              // from 1 on
  std::string text = {};               // of a scalar
  std::vector<std::string> keys = {};  // of a mapping, unique, one for each item
  std::vector<YamlNode> items = {};    // of a sequence or mapping

  bool isSequence() const { return kind == Kind::kSequence; }
  bool isMapping() const { return kind == Kind::kMapping; }
  /// The item of a mapping's key; nullptr if this is no mapping or has no such key.
  const YamlNode* find(llvm::StringRef key) const;
};

/// Errors: `origin:3: error: ...`, the first fault.
llvm::Expected<YamlNode> parseYaml(llvm::StringRef text, llvm::StringRef origin);

}  // namespace torc::model

#endif  // TORC_MODEL_MACHINES_YAML_TREE_H_
