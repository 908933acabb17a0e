// Builds YAML trees from libyaml's events.
#include "model/machines/yaml_tree.h"

#include <yaml.h>

#include <llvm/ADT/STLExtras.h>

#include "model/machines/foreign.h"

namespace torc::model {
namespace {

constexpr std::size_t kDeepest = 16;   // Slurm's files need 7
constexpr std::size_t kMostKeys = 64;  // of a mapping; Slurm's files need 5

class TreeReader {
 public:
  TreeReader(llvm::StringRef text, llvm::StringRef origin) : origin_(origin) {
    yaml_parser_initialize(&parser_);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                                 text.size());
  }
  ~TreeReader() { yaml_parser_delete(&parser_); }
  TreeReader(const TreeReader&) = delete;
  TreeReader& operator=(const TreeReader&) = delete;

  llvm::Expected<YamlNode> read() {
    for (bool more = true; more;) {
      yaml_event_t event;
      if (yaml_parser_parse(&parser_, &event) == 0) {
        const char* problem = parser_.problem != nullptr ? parser_.problem : "out of memory";
        return fault(parser_.problem_mark.line + 1, llvm::Twine("is no YAML: ") + problem);
      }
      more = event.type != YAML_STREAM_END_EVENT;
      llvm::Error error = take(event);
      yaml_event_delete(&event);
      if (error) return error;
    }
    if (documents_ == 0) return fault(1, "has no YAML document");
    return std::move(root_);
  }

 private:
  llvm::Error fault(std::size_t line, const llvm::Twine& what) const {
    return foreignFault(origin_, line, what);
  }

  llvm::Error take(const yaml_event_t& event) {
    const std::size_t line = event.start_mark.line + 1;
    switch (event.type) {
      case YAML_DOCUMENT_START_EVENT:
        return ++documents_ > 1 ? fault(line, "has a second document") : llvm::Error::success();
      case YAML_ALIAS_EVENT:
        return fault(line, "has an alias, which no machine needs");
      case YAML_SCALAR_EVENT: {
        if (event.data.scalar.anchor != nullptr) return anchor(line);
        std::string text(reinterpret_cast<const char*>(event.data.scalar.value),
                         event.data.scalar.length);
        if (!open_.empty() && open_.back()->isMapping() &&
            open_.back()->keys.size() == open_.back()->items.size()) {
          return addKey(std::move(text), line);
        }
        return add({.line = static_cast<std::uint32_t>(line), .text = std::move(text)});
      }
      case YAML_SEQUENCE_START_EVENT:
        if (event.data.sequence_start.anchor != nullptr) return anchor(line);
        return open(YamlNode::Kind::kSequence, line);
      case YAML_MAPPING_START_EVENT:
        if (event.data.mapping_start.anchor != nullptr) return anchor(line);
        return open(YamlNode::Kind::kMapping, line);
      case YAML_SEQUENCE_END_EVENT:
      case YAML_MAPPING_END_EVENT:
        open_.pop_back();
        return llvm::Error::success();
      default:
        return llvm::Error::success();
    }
  }

  llvm::Error anchor(std::size_t line) const {
    return fault(line, "has an anchor, which no machine needs");
  }

  llvm::Error addKey(std::string key, std::size_t line) {
    if (llvm::is_contained(open_.back()->keys, key)) {
      return fault(line, "key '" + key + "' occurs twice");
    }
    if (open_.back()->keys.size() == kMostKeys) return fault(line, "has too many keys");
    open_.back()->keys.push_back(std::move(key));
    return llvm::Error::success();
  }

  llvm::Error add(YamlNode node) {
    if (open_.empty()) {
      root_ = std::move(node);
      return llvm::Error::success();
    }
    YamlNode& parent = *open_.back();
    if (parent.isMapping() && parent.keys.size() == parent.items.size()) {
      return fault(node.line, "has a key that is no word");
    }
    parent.items.push_back(std::move(node));
    return llvm::Error::success();
  }

  llvm::Error open(YamlNode::Kind kind, std::size_t line) {
    if (open_.size() == kDeepest) return fault(line, "is nested too deeply");
    if (llvm::Error error = add({.kind = kind, .line = static_cast<std::uint32_t>(line)})) {
      return error;
    }
    open_.push_back(open_.empty() ? &root_ : &open_.back()->items.back());
    return llvm::Error::success();
  }

  llvm::StringRef origin_;
  yaml_parser_t parser_;
  YamlNode root_;
  std::vector<YamlNode*> open_;  // from the root to the innermost open node
  int documents_ = 0;
};

}  // namespace

const YamlNode* YamlNode::find(llvm::StringRef key) const {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i] == key) return &items[i];
  }
  return nullptr;
}

llvm::Expected<YamlNode> parseYaml(llvm::StringRef text, llvm::StringRef origin) {
  return TreeReader(text, origin).read();
}

}  // namespace torc::model
