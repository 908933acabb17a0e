// Builds values from nlohmann's events, with the reader's current line.
#include "ir/json/located_json.h"

#include <iterator>

#include <llvm/ADT/STLExtras.h>
#include <nlohmann/json.hpp>

#include "ir/json/document.h"
#include "ir/make_error.h"

namespace torc::ir {
namespace {

using nlohmann::json;

constexpr std::size_t kDeepest = 16;

/// Iterates over a text and counts its lines, for all its copies together.
class LineIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  LineIterator(const char* at, std::uint32_t& line) : at_(at), line_(&line) {}
  const char& operator*() const { return *at_; }
  LineIterator& operator++() {
    if (*at_++ == '\n') ++*line_;
    return *this;
  }
  bool operator==(const LineIterator& other) const { return at_ == other.at_; }
  bool operator!=(const LineIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  std::uint32_t* line_;
};

class Builder : public json::json_sax_t {
 public:
  Builder(const std::uint32_t& line, llvm::StringRef streamed,
          llvm::function_ref<bool(const LocatedJson&)> take)
      : line_(line), streamed_(streamed), take_(take) {}

  bool null() override { return add(std::monostate()); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(std::int64_t value) override { return add(value); }
  bool number_unsigned(std::uint64_t value) override {
    if (value > std::uint64_t{INT64_MAX}) return add(static_cast<double>(value));
    return add(static_cast<std::int64_t>(value));
  }
  bool number_float(double value, const std::string&) override { return add(value); }
  bool string(std::string& value) override { return add(std::move(value)); }
  bool binary(json::binary_t&) override { return false; }  // JSON has none
  bool start_object(std::size_t) override { return open(LocatedJson::Members()); }
  bool start_array(std::size_t) override { return open(LocatedJson::Elements()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(std::string& key) override {
    const auto& members = std::get<LocatedJson::Members>(open_.back().value);
    const auto is_same = [&](const auto& member) { return member.first == key; };
    if (llvm::any_of(members, is_same)) return refuse("key " + shownName(key) + " occurs twice");
    if (members.size() == kMostMembers) return refuse("an object has too many keys");
    keys_.back() = std::move(key);
    return true;
  }

  bool parse_error(std::size_t, const std::string&, const json::exception& fault) override {
    return refuse("no JSON: " + syntaxFault(fault.what()));
  }

  LocatedJson root;
  std::string fault;

 private:
  /// Of an object: each new key is compared to all of them.
  static constexpr std::size_t kMostMembers = 1 << 12;

  bool refuse(const llvm::Twine& what) {
    fault = what.str();
    return false;
  }

  bool place(LocatedJson&& value) {
    if (open_.empty()) {
      root = std::move(value);
      return true;
    }
    if (auto* const members = std::get_if<LocatedJson::Members>(&open_.back().value)) {
      members->emplace_back(keys_.back(), std::move(value));
      return true;
    }
    if (open_.size() == 2 && keys_[0] == streamed_) return take_(value);
    std::get<LocatedJson::Elements>(open_.back().value).push_back(std::move(value));
    return true;
  }

  template <typename T>
  bool add(T value) {
    LocatedJson one;
    one.value = std::move(value);
    one.line = line_;
    return place(std::move(one));
  }

  template <typename T>
  bool open(T value) {
    if (open_.size() == kDeepest) return refuse("is nested too deeply");
    open_.push_back({std::move(value), line_});
    keys_.emplace_back();
    return true;
  }

  bool close() {
    LocatedJson value = std::move(open_.back());
    open_.pop_back();
    keys_.pop_back();
    return place(std::move(value));
  }

  const std::uint32_t& line_;
  llvm::StringRef streamed_;
  llvm::function_ref<bool(const LocatedJson&)> take_;
  std::vector<LocatedJson> open_;  // from the root to the innermost open value
  std::vector<std::string> keys_;  // of each, the last key read
};

}  // namespace

const LocatedJson* LocatedJson::find(llvm::StringRef key) const {
  const auto* const members = std::get_if<Members>(&value);
  if (members == nullptr) return nullptr;
  const auto found = llvm::find_if(*members, [&](const auto& one) { return one.first == key; });
  return found == members->end() ? nullptr : &found->second;
}

void LocatedJsonReader::refuse(std::uint32_t line, const llvm::Twine& what) {
  if (failed()) return;
  fault_ = (origin_ + ":" + llvm::Twine(line) + ": error: " + what).str();
}

llvm::Error LocatedJsonReader::takeError() const {
  return makeError(fault_);
}

const LocatedJson& LocatedJsonReader::member(const LocatedJson& object, llvm::StringRef key) {
  static const LocatedJson kNothing;
  const LocatedJson* const found = object.find(key);
  if (found == nullptr) {
    refuse(object.line, std::holds_alternative<LocatedJson::Members>(object.value)
                            ? "has no key '" + key + "' here"
                            : "has no object here, whose '" + key + "' is wanted");
  }
  return found == nullptr ? kNothing : *found;
}

std::int32_t LocatedJsonReader::numberOf(const LocatedJson& value, const llvm::Twine& what,
                                         std::int32_t lowest, std::int32_t highest) {
  const auto* const number = std::get_if<std::int64_t>(&value.value);
  if (number != nullptr && *number >= lowest && *number <= highest)
    return static_cast<std::int32_t>(*number);
  refuse(value.line, what +
                         (number != nullptr ? " is " + llvm::Twine(*number)
                                            : llvm::Twine(" is no whole number")) +
                         "; allowed: " + llvm::Twine(lowest) + " to " + llvm::Twine(highest));
  return lowest;
}

std::int32_t LocatedJsonReader::number(const LocatedJson& object, llvm::StringRef key,
                                       std::int32_t lowest, std::int32_t highest) {
  const LocatedJson& found = member(object, key);
  return failed() ? lowest : numberOf(found, llvm::Twine("'") + key + "'", lowest, highest);
}

template <typename T>
const T& LocatedJsonReader::valueOf(const LocatedJson& object, llvm::StringRef key,
                                    const char* fault) {
  static const T kNothing{};
  const LocatedJson& found = member(object, key);
  const T* const value = std::get_if<T>(&found.value);
  if (value == nullptr) refuse(found.line, "'" + key + "' " + fault);
  return value == nullptr ? kNothing : *value;
}

bool LocatedJsonReader::boolean(const LocatedJson& object, llvm::StringRef key) {
  return valueOf<bool>(object, key, "is neither true nor false");
}

llvm::StringRef LocatedJsonReader::text(const LocatedJson& object, llvm::StringRef key) {
  return valueOf<std::string>(object, key, "is no string");
}

const LocatedJson::Elements& LocatedJsonReader::elements(const LocatedJson& object,
                                                         llvm::StringRef key) {
  return valueOf<LocatedJson::Elements>(object, key, "is no array");
}

const LocatedJson::Elements& LocatedJsonReader::elementsIfAny(const LocatedJson& object,
                                                              llvm::StringRef key) {
  static const LocatedJson::Elements kNone;
  return object.find(key) == nullptr ? kNone : elements(object, key);
}

llvm::Expected<LocatedJson> parseLocatedJson(llvm::StringRef text, llvm::StringRef origin,
                                             llvm::StringRef streamed,
                                             llvm::function_ref<bool(const LocatedJson&)> take) {
  std::uint32_t line = 1;
  Builder builder(line, streamed, take);
  if (json::sax_parse(LineIterator(text.begin(), line), LineIterator(text.end(), line), &builder)) {
    return std::move(builder.root);
  }
  return makeError(origin + ":" + llvm::Twine(line) + ": error: " + builder.fault);
}

}  // namespace torc::ir
