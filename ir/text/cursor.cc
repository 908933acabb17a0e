// Reads tokens of the kinds that the grammar requires; the error names the token found instead.
#include "ir/text/cursor.h"

#include <charconv>
#include <string_view>
#include <vector>

#include <llvm/ADT/StringExtras.h>

#include "ir/make_error.h"
#include "ir/text/format.h"
#include "ir/text/text.h"
#include "ir/thrown.h"
#include "support/setting_values.h"

namespace torc::ir {
namespace {

/// A token for a message.
std::string quoted(llvm::StringRef text) {
  return "'" + printable(text, 24) + "'";
}

}  // namespace

std::string printable(llvm::StringRef text, std::size_t longest) {
  std::string shown;
  for (char c : text.take_front(longest))
    shown += llvm::isPrint(c) ? c : '?';
  return text.size() > longest ? shown + "..." : shown;
}

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

void TextCursor::expect(llvm::StringRef spelling, llvm::StringRef context) {
  if (take(spelling)) return;
  failExpected("'" + spelling + "'" + (context.empty() ? "" : " ") + context);
}

llvm::StringRef TextCursor::word(llvm::StringRef what) {
  if (token_.kind != TokenKind::kWord) failExpected(what);
  const llvm::StringRef word = token_.text;
  advance();
  return word;
}

std::size_t TextCursor::named(const llvm::Twine& what, llvm::ArrayRef<llvm::StringRef> names) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (take(names[i])) return i;
  }
  failName(what, names);
}

std::uint64_t TextCursor::wideInteger(llvm::StringRef what, std::uint64_t lowest,
                                      std::uint64_t highest) {
  std::uint64_t value = 0;
  if (token_.kind != TokenKind::kInteger) failExpected(what);
  if (token_.text.getAsInteger(10, value) || value > highest) {
    fail(offset(), token_.text.take_front(40) + " is too large for " + what + " (largest " +
                       llvm::Twine(highest) + ")");
  }
  if (value < lowest) {
    fail(offset(), llvm::Twine(value) + " is too small for " + what + " (smallest " +
                       llvm::Twine(lowest) + ")");
  }
  advance();
  return value;
}

void TextCursor::numbered(std::uint64_t expected, llvm::StringRef records) {
  std::uint64_t number = 0;
  if (token_.kind != TokenKind::kInteger || token_.text.getAsInteger(10, number) ||
      number != expected) {
    failExpected(llvm::Twine(expected) + " (" + records + " are numbered in order)");
  }
  advance();
}

bool TextCursor::isMinus() {
  if (take("-")) return true;
  if (!take("+")) failExpected("'+' or '-'");
  return false;
}

std::int32_t TextCursor::magnitude(bool negative, llvm::StringRef what) {
  const auto wide = integer<std::int64_t>(what, 0, negative ? 2147483648u : 2147483647u);
  return static_cast<std::int32_t>(negative ? -wide : wide);
}

double TextCursor::real(llvm::StringRef what) {
  double value = 0;
  if (token_.kind != TokenKind::kInteger && token_.kind != TokenKind::kDecimal) {
    failExpected(what);
  }
  const char* begin = token_.text.begin();
  const auto result = std::from_chars(begin, token_.text.end(), value);
  if (result.ec != std::errc() || result.ptr != token_.text.end()) {
    fail(offset(), token_.text.take_front(40) + " is outside the range of a double");
  }
  advance();
  return value;
}

std::string TextCursor::string(llvm::StringRef what) {
  if (token_.kind != TokenKind::kString) failExpected(what);
  std::string value = unquoted(token_.text);
  advance();
  return value;
}

std::uint32_t TextCursor::indexed(char prefix, llvm::StringRef what, std::uint64_t count) {
  const llvm::StringRef digits = token_.text.drop_front(token_.text.empty() ? 0 : 1);
  if (token_.kind != TokenKind::kWord || token_.text[0] != prefix || digits.empty() ||
      !llvm::all_of(digits, llvm::isDigit)) {
    failExpected(llvm::Twine("a ") + what + " (" + llvm::Twine(prefix) + "0, " +
                 llvm::Twine(prefix) + "1, ...)");
  }
  std::uint64_t wide = 0;
  if (digits.getAsInteger(10, wide) || wide >= count) {
    fail(offset(), what + " " + token_.text.take_front(40) + " does not exist (schedule has " +
                       llvm::Twine(count) + ")");
  }
  advance();
  return static_cast<std::uint32_t>(wide);
}

std::uint32_t TextCursor::axis(const Topology& topology) {
  if (token_.kind != TokenKind::kWord) failExpected("an axis");
  const std::uint32_t axis = topology.axisNamed(token_.text[0]);
  if (token_.text.size() > 1 || axis == topology.axis_count)
    failAxis(topology, offset(), token_.text);
  advance();
  return axis;
}

void TextCursor::failAxis(const Topology& topology, std::size_t offset, llvm::StringRef name,
                          bool is_coordinate) {
  std::string names;
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    if (i > 0) names += ", ";
    names += is_coordinate ? coordinateName(topology.axes[i]) : topology.axes[i].name;
  }
  const llvm::StringRef kind = is_coordinate ? "coordinate" : "axis";
  const llvm::StringRef kinds = is_coordinate ? "coordinates" : "axes";
  fail(offset, "unknown " + kind + " " + quoted(name) + " (" + kinds + " are " + names + ")");
}

void TextCursor::failExpected(const llvm::Twine& what) {
  if (token_.kind == TokenKind::kBad) fail(lexer_.problemOffset(), lexer_.problem());
  if (token_.kind == TokenKind::kEnd) {
    fail(last_end_, "expected " + what + ", found the end of the text");
  }
  fail(offset(), "expected " + what + ", found " + quoted(token_.text));
}

void TextCursor::failName(const llvm::Twine& what, llvm::ArrayRef<llvm::StringRef> names) {
  if (token_.kind != TokenKind::kWord) failExpected(what);
  const std::vector<std::string_view> known(names.begin(), names.end());
  const std::string_view nearest = nearestName(token_.text, known);
  const std::string hint = nearest.empty() ? " (docs/developers/ir.md)"
                                           : "; did you mean '" + std::string(nearest) + "'?";
  fail(offset(), "expected " + what + ", found " + quoted(token_.text) + hint);
}

void TextCursor::fail(std::size_t offset, const llvm::Twine& what) {
  throw Thrown{makeError(located(text_, origin_, offset, what.str()))};
}

}  // namespace torc::ir
