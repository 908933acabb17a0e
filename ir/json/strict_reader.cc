#include "ir/json/strict_reader.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Support/Format.h>
#include <llvm/Support/raw_ostream.h>

#include "ir/make_error.h"
#include "ir/text/text.h"

namespace torc::ir {

std::string shownValue(const nlohmann::json& value) {
  return printable(
      value.dump(-1, ' ', /*ensure_ascii=*/true, nlohmann::json::error_handler_t::replace));
}

void StrictReader::fail(const JsonNode& node, const llvm::Twine& what) {
  throw Thrown{makeError(node.path() + ": " + what)};
}

void StrictReader::expected(const JsonNode& node, const llvm::Twine& what) const {
  fail(node, faults_ == Faults::kAlone ? what : what + ", not " + shownValue(node.value()));
}

void StrictReader::object(const JsonNode& node) const {
  if (!node.value().is_object()) expected(node, "expected an object");
}

void StrictReader::object(const JsonNode& node, Names required, Names optional) const {
  object(node);
  for (const std::string_view key : required) {
    if (!node.has(key)) fail(node, "missing key '" + llvm::Twine(key) + "'");
  }
  for (const auto& [key, value] : node.value().items()) {
    if (llvm::is_contained(required, key) || llvm::is_contained(optional, key)) continue;
    llvm::SmallVector<llvm::StringRef> known(required.begin(), required.end());
    known.append(optional.begin(), optional.end());
    fail(node, unknownKey(key, known));
  }
}

void StrictReader::array(const JsonNode& node) const {
  if (!node.value().is_array()) expected(node, "expected an array");
}

void StrictReader::array(const JsonNode& node, std::size_t lowest, std::size_t highest,
                         std::string_view elements) const {
  array(node);
  const std::size_t size = node.value().size();
  if (size >= lowest && size <= highest) return;
  fail(node, "has " + llvm::Twine(size) + " " + elements + ", must have " +
                 (lowest == highest ? llvm::Twine(lowest)
                                    : llvm::Twine(lowest) + " to " + llvm::Twine(highest)));
}

std::string StrictReader::string(const JsonNode& node) const {
  if (!node.value().is_string()) expected(node, "expected a string");
  return node.value().get<std::string>();
}

std::size_t StrictReader::name(const JsonNode& node, Names names) const {
  const std::string text = string(node);
  const auto* const found = llvm::find(names, text);
  if (found == names.end())
    fail(node, unknownKey(text, llvm::to_vector_of<llvm::StringRef>(names), "name"));
  return static_cast<std::size_t>(found - names.begin());
}

double StrictReader::number(const JsonNode& node) const {
  if (!node.value().is_number()) expected(node, "expected a number");
  return node.value().get<double>();
}

double StrictReader::number(const JsonNode& node, double lowest, double highest,
                            std::string_view unit) const {
  if (node.value().is_number()) {
    const double value = node.value().get<double>();
    if (value >= lowest && value <= highest) return value + 0.0;  // no negative zero
  }
  std::string range;
  llvm::raw_string_ostream(range) << llvm::format("%g to %g ", lowest, highest) << unit;
  expected(node, "must be a number from " + range);
}

std::int64_t StrictReader::wideInteger(const JsonNode& node, std::int64_t lowest,
                                       std::uint64_t highest) const {
  const nlohmann::json& json = node.value();
  const bool fits =
      json.is_number_unsigned()
          ? json.get<std::uint64_t>() <= highest &&
                (lowest <= 0 || json.get<std::uint64_t>() >= static_cast<std::uint64_t>(lowest))
          : json.is_number_integer() && json.get<std::int64_t>() >= lowest;
  if (fits) return json.get<std::int64_t>();
  expected(node, (faults_ == Faults::kAlone ? "expected" : "must be") +
                     llvm::Twine(" an integer from ") + llvm::Twine(lowest) + " to " +
                     llvm::Twine(highest));
}

}  // namespace torc::ir
