// Builds a document from nlohmann's events, which reveals repeated keys and throws no exception on
// any text.
#include "ir/json/document.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <llvm/ADT/StringExtras.h>

#include "ir/make_error.h"
#include "ir/text/text.h"
#include "support/setting_values.h"

namespace torc::ir {
namespace {

using nlohmann::json;

/// The fault of a text in nlohmann's words, without error code, line and column, shortened.
std::string faultOf(llvm::StringRef what) {
  // "[json...] parse error at line 1, column 5: syntax error while parsing value - invalid literal;
  // last read: '{x'; expected string literal": the part before the dash is left out; in a long
  // message, so are the last two parts.
  constexpr std::size_t kLongest = 72;
  what = what.substr(what.find(']') + 1).ltrim();
  const std::size_t dash = what.find(" - ");
  if (dash != llvm::StringRef::npos) what = what.substr(dash + 3);
  const llvm::StringRef fault = what.take_front(what.find("; last read: '"));
  const std::size_t expected = what.rfind("; expected ");
  std::string text = what.str();
  if (text.size() > kLongest && expected != llvm::StringRef::npos && fault.size() < expected)
    text = (fault + what.substr(expected)).str();
  if (text.size() > kLongest) text = fault.str();
  return printable(text, kLongest);
}

class DocumentBuilder : public json::json_sax_t {
 public:
  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(std::int64_t value) override { return add(value); }
  bool number_unsigned(std::uint64_t value) override { return add(value); }
  bool number_float(double value, const std::string&) override { return add(value); }
  bool string(std::string& value) override { return add(std::move(value)); }
  bool binary(json::binary_t& value) override { return add(std::move(value)); }
  bool start_object(std::size_t) override { return open(json::object()); }
  bool start_array(std::size_t) override { return open(json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(std::string& key) override {
    if (open_.back()->contains(key)) {
      fault_ = path() + ": key " + shownName(key) + " occurs twice";
      return false;
    }
    keys_.back() = std::move(key);
    return true;
  }

  bool parse_error(std::size_t position, const std::string&,
                   const json::exception& exception) override {
    syntax_fault_ = true;
    position_ = position;
    fault_ = faultOf(exception.what());
    return false;
  }

  json take() { return std::move(root_); }
  const std::string& fault() const { return fault_; }
  /// Whether the fault is in the syntax, after `position` bytes.
  bool syntaxFault() const { return syntax_fault_; }
  std::size_t position() const { return position_; }

 private:
  static constexpr std::size_t kDeepest = 16;  // a schedule needs 4

  /// The place of `value`: the root, the end of an array, or under the last key.
  json& place(json value) {
    if (open_.empty()) return root_ = std::move(value);
    json& parent = *open_.back();
    if (parent.is_array()) {
      parent.push_back(std::move(value));
      return parent.back();
    }
    return parent[keys_.back()] = std::move(value);
  }

  bool add(json value) {
    place(std::move(value));
    return true;
  }

  bool open(json value) {
    if (open_.size() == kDeepest) {
      fault_ = path() + ": nested too deeply";
      return false;
    }
    json& placed = place(std::move(value));
    open_.push_back(&placed);
    keys_.emplace_back();
    return true;
  }

  bool close() {
    open_.pop_back();
    keys_.pop_back();
    return true;
  }

  /// The path of the innermost open value.
  std::string path() const {
    if (open_.size() < 2) return "/";
    std::string path;
    for (std::size_t i = 0; i + 1 < open_.size(); ++i) {
      path += '/';
      path += open_[i]->is_array() ? std::to_string(open_[i]->size() - 1) : printable(keys_[i]);
    }
    return path;
  }

  json root_;
  std::vector<json*> open_;        // from the root to the innermost open value
  std::vector<std::string> keys_;  // of each, the last key read
  std::string fault_;
  bool syntax_fault_ = false;
  std::size_t position_ = 0;
};

}  // namespace

llvm::Expected<json> parseJson(llvm::StringRef text, llvm::StringRef origin) {
  DocumentBuilder builder;
  if (json::sax_parse(text.begin(), text.end(), &builder)) return builder.take();
  const std::string message =
      builder.syntaxFault()
          ? located(text, origin, builder.position() - std::min<std::size_t>(builder.position(), 1),
                    builder.fault())
          : (origin + ": " + builder.fault()).str();
  return makeError(message);
}

std::string JsonNode::path() const {
  if (up_ == nullptr) return "/";
  std::string path;
  if (up_->up_ != nullptr) path = up_->path();
  path += '/';
  if (up_->value().is_array()) return path + std::to_string(index_);
  return path + key_.str();
}

std::string shownName(llvm::StringRef name) {
  return "'" + printable(name) + "'";
}

std::string unknownKey(llvm::StringRef key, llvm::ArrayRef<llvm::StringRef> known,
                       llvm::StringRef kind) {
  constexpr std::size_t kShort = 40;
  const std::vector<std::string_view> names(known.begin(), known.end());
  const std::string_view nearest = nearestName(key, names);
  const std::string all = llvm::join(known, ", ");
  const std::string text = "unknown " + kind.str() + " " + shownName(key);
  if (!nearest.empty()) return text + "; did you mean '" + std::string(nearest) + "'?";
  return text + (all.size() <= kShort ? " (" + kind.str() + "s are " + all + ")"
                                      : " (docs/schemas has the " + kind.str() + "s)");
}

}  // namespace torc::ir
