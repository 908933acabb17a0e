#include "ir/json/strict_reader.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Support/Format.h>
#include <llvm/Support/raw_ostream.h>

namespace torc::ir {

std::string shownValue(const nlohmann::json& value) {
  constexpr std::size_t kLongest = 40;
  const std::string text =
      value.dump(-1, ' ', /*ensure_ascii=*/true, nlohmann::json::error_handler_t::replace);
  return text.size() > kLongest ? text.substr(0, kLongest) + "..." : text;
}

bool StrictReader::fail(const JsonNode& node, const llvm::Twine& what) {
  if (error_.empty()) error_ = (node.path() + ": " + what).str();
  return false;
}

bool StrictReader::expected(const JsonNode& node, const llvm::Twine& what) {
  return fail(node, faults_ == Faults::kAlone ? what : what + ", not " + shownValue(node.value()));
}

bool StrictReader::object(const JsonNode& node) {
  return node.value().is_object() || expected(node, "expected an object");
}

bool StrictReader::object(const JsonNode& node, Names required, Names optional) {
  if (!object(node)) return false;
  for (const std::string_view key : required) {
    if (!node.has(key)) return fail(node, "missing key '" + llvm::Twine(key) + "'");
  }
  for (const auto& [key, value] : node.value().items()) {
    if (llvm::is_contained(required, key) || llvm::is_contained(optional, key)) continue;
    llvm::SmallVector<llvm::StringRef> known(required.begin(), required.end());
    known.append(optional.begin(), optional.end());
    return fail(node, unknownKey(key, known));
  }
  return true;
}

bool StrictReader::array(const JsonNode& node) {
  return node.value().is_array() || expected(node, "expected an array");
}

bool StrictReader::array(const JsonNode& node, std::size_t lowest, std::size_t highest,
                         std::string_view elements) {
  if (!array(node)) return false;
  const std::size_t size = node.value().size();
  if (size >= lowest && size <= highest) return true;
  return fail(node, "has " + llvm::Twine(size) + " " + elements + ", must have " +
                        (lowest == highest ? llvm::Twine(lowest)
                                           : llvm::Twine(lowest) + " to " + llvm::Twine(highest)));
}

bool StrictReader::string(const JsonNode& node, std::string& value) {
  if (!node.value().is_string()) return expected(node, "expected a string");
  value = node.value().get_ref<const std::string&>();
  return true;
}

bool StrictReader::name(const JsonNode& node, Names names, std::size_t& value) {
  std::string text;
  if (!string(node, text)) return false;
  value = static_cast<std::size_t>(llvm::find(names, text) - names.begin());
  return value < names.size() ||
         fail(node, unknownKey(text, llvm::to_vector_of<llvm::StringRef>(names), "name"));
}

bool StrictReader::number(const JsonNode& node, double& value) {
  if (!node.value().is_number()) return expected(node, "expected a number");
  value = node.value().get<double>();
  return true;
}

bool StrictReader::number(const JsonNode& node, double& value, double lowest, double highest,
                          std::string_view unit) {
  if (node.value().is_number()) {
    value = node.value().get<double>();
    if (value >= lowest && value <= highest) {
      value += 0.0;  // no negative zero
      return true;
    }
  }
  std::string range;
  llvm::raw_string_ostream(range) << llvm::format("%g to %g ", lowest, highest) << unit;
  return expected(node, "must be a number from " + range);
}

bool StrictReader::isInteger(const JsonNode& node, std::int64_t lowest, std::uint64_t highest) {
  const nlohmann::json& json = node.value();
  if (json.is_number_unsigned()) {
    const auto number = json.get<std::uint64_t>();
    if (number <= highest && (lowest <= 0 || number >= static_cast<std::uint64_t>(lowest))) {
      return true;
    }
  } else if (json.is_number_integer() && json.get<std::int64_t>() >= lowest) {  // below 0
    return true;
  }
  return expected(node, (faults_ == Faults::kAlone ? "expected" : "must be") +
                            llvm::Twine(" an integer from ") + llvm::Twine(lowest) + " to " +
                            llvm::Twine(highest));
}

}  // namespace torc::ir
