// Reads tokens of the kinds that the grammar requires; the error names the token found instead.
#include "ir/text/cursor.h"

#include <charconv>
#include <string_view>
#include <vector>

#include <llvm/ADT/StringExtras.h>

#include "ir/text/format.h"
#include "ir/text/text.h"
#include "support/setting_values.h"

namespace torc::ir {
namespace {

/// A token for a message: a long one is cut, nothing unprintable.
std::string quoted(llvm::StringRef text) {
  constexpr std::size_t kLongest = 24;
  std::string shown = "'";
  for (char c : text.take_front(kLongest))
    shown += llvm::isPrint(c) ? c : '?';
  return shown + (text.size() > kLongest ? "...'" : "'");
}

}  // namespace

TextCursor::TextCursor(llvm::StringRef text, llvm::StringRef origin)
    : text_(text), origin_(origin), lexer_(text), token_(lexer_.next()) {}

void TextCursor::advance() {
  last_end_ = token_.end();
  token_ = lexer_.next();
}

bool TextCursor::take(llvm::StringRef spelling) {
  if (!at(spelling)) return false;
  advance();
  return true;
}

bool TextCursor::expect(llvm::StringRef spelling, llvm::StringRef context) {
  if (take(spelling)) return true;
  return failExpected("'" + spelling + "'" + (context.empty() ? "" : " ") + context);
}

bool TextCursor::word(llvm::StringRef& word, llvm::StringRef what) {
  if (token_.kind != TokenKind::kWord) return failExpected(what);
  word = token_.text;
  advance();
  return true;
}

bool TextCursor::integer(std::uint64_t& value, std::uint64_t lowest, std::uint64_t highest,
                         llvm::StringRef what) {
  if (token_.kind != TokenKind::kInteger) return failExpected(what);
  if (token_.text.getAsInteger(10, value) || value > highest) {
    return fail(offset(), token_.text.take_front(40) + " is too large for " + what + " (largest " +
                              llvm::Twine(highest) + ")");
  }
  if (value < lowest) {
    return fail(offset(), llvm::Twine(value) + " is too small for " + what + " (smallest " +
                              llvm::Twine(lowest) + ")");
  }
  advance();
  return true;
}

bool TextCursor::numbered(std::uint64_t expected, llvm::StringRef records) {
  std::uint64_t number = 0;
  if (token_.kind != TokenKind::kInteger || token_.text.getAsInteger(10, number) ||
      number != expected) {
    return failExpected(llvm::Twine(expected) + " (" + records + " are numbered in order)");
  }
  advance();
  return true;
}

bool TextCursor::signedInteger(std::int32_t& value, llvm::StringRef what) {
  const bool negative = at("-");
  if (!negative && !at("+")) return failExpected("'+' or '-'");
  advance();
  return magnitude(negative, value, what);
}

bool TextCursor::magnitude(bool negative, std::int32_t& value, llvm::StringRef what) {
  std::uint64_t digits = 0;
  if (!integer(digits, 0, negative ? 2147483648u : 2147483647u, what)) return false;
  const auto wide = static_cast<std::int64_t>(digits);
  value = static_cast<std::int32_t>(negative ? -wide : wide);
  return true;
}

bool TextCursor::real(double& value, llvm::StringRef what) {
  if (token_.kind != TokenKind::kInteger && token_.kind != TokenKind::kDecimal) {
    return failExpected(what);
  }
  const char* begin = token_.text.begin();
  const auto result = std::from_chars(begin, token_.text.end(), value);
  if (result.ec != std::errc() || result.ptr != token_.text.end()) {
    return fail(offset(), token_.text.take_front(40) + " is outside the range of a double");
  }
  advance();
  return true;
}

bool TextCursor::string(std::string& value, llvm::StringRef what) {
  if (token_.kind != TokenKind::kString) return failExpected(what);
  value = unquoted(token_.text);
  advance();
  return true;
}

bool TextCursor::indexed(std::uint32_t& index, char prefix, llvm::StringRef what,
                         std::uint64_t count) {
  const llvm::StringRef digits = token_.text.drop_front(token_.text.empty() ? 0 : 1);
  if (token_.kind != TokenKind::kWord || token_.text[0] != prefix || digits.empty() ||
      !llvm::all_of(digits, llvm::isDigit)) {
    return failExpected(llvm::Twine("a ") + what + " (" + llvm::Twine(prefix) + "0, " +
                        llvm::Twine(prefix) + "1, ...)");
  }
  std::uint64_t wide = 0;
  if (digits.getAsInteger(10, wide) || wide >= count) {
    return fail(offset(), what + " " + token_.text.take_front(40) +
                              " does not exist (schedule has " + llvm::Twine(count) + ")");
  }
  index = static_cast<std::uint32_t>(wide);
  advance();
  return true;
}

bool TextCursor::axis(const Topology& topology, std::uint32_t& axis) {
  if (token_.kind != TokenKind::kWord) return failExpected("an axis");
  axis = topology.axisNamed(token_.text[0]);
  if (token_.text.size() > 1 || axis == topology.axis_count)
    return failAxis(topology, offset(), token_.text);
  advance();
  return true;
}

bool TextCursor::failAxis(const Topology& topology, std::size_t offset, llvm::StringRef name) {
  std::string names;
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    if (i > 0) names += ", ";
    names += topology.axes[i].name;
  }
  return fail(offset, "unknown axis " + quoted(name) + " (axes are " + names + ")");
}

bool TextCursor::failCoordinate(const Topology& topology, std::size_t offset,
                                llvm::StringRef name) {
  std::string names;
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    if (i > 0) names += ", ";
    names += coordinateName(topology.axes[i]);
  }
  return fail(offset, "unknown coordinate " + quoted(name) + " (coordinates are " + names + ")");
}

bool TextCursor::failExpected(const llvm::Twine& what) {
  if (token_.kind == TokenKind::kBad) return fail(lexer_.problemOffset(), lexer_.problem());
  if (token_.kind == TokenKind::kEnd) {
    return fail(last_end_, "expected " + what + ", found the end of the text");
  }
  return fail(offset(), "expected " + what + ", found " + quoted(token_.text));
}

bool TextCursor::failName(const llvm::Twine& what, llvm::ArrayRef<llvm::StringRef> names) {
  if (token_.kind != TokenKind::kWord) return failExpected(what);
  const std::vector<std::string_view> known(names.begin(), names.end());
  const std::string_view nearest = nearestName(token_.text, known);
  const std::string hint = nearest.empty() ? " (docs/developers/ir.md)"
                                           : "; did you mean '" + std::string(nearest) + "'?";
  return fail(offset(), "expected " + what + ", found " + quoted(token_.text) + hint);
}

bool TextCursor::fail(std::size_t offset, const llvm::Twine& what) {
  if (error_.empty()) error_ = located(text_, origin_, offset, what.str());
  return false;
}

}  // namespace torc::ir
