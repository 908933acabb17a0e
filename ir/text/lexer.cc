// The lexer of the text form: white space, comments, words, numbers, strings, punctuation.
#include "ir/text/lexer.h"

#include <algorithm>
#include <utility>

#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/ConvertUTF.h>

#include "ir/text/text.h"

namespace torc::ir {
namespace {

bool isWordStart(char c) {
  return llvm::isAlpha(c) || c == '_';
}
bool isWordPart(char c) {
  return llvm::isAlnum(c) || c == '_';
}
bool isNamePart(char c) {
  return isWordPart(c) || c == '.' || c == '-';
}

/// A byte for a message: itself if printable, else its value.
std::string shown(char c) {
  if (llvm::isPrint(c)) return std::string("'") + c + "'";
  return "byte 0x" + llvm::utohexstr(static_cast<unsigned char>(c), /*LowerCase=*/true, 2);
}

/// Bytes of the printable character (UTF-8) at the start of `text`; 0 if there is none.
std::size_t characterLength(llvm::StringRef text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return llvm::isPrint(text[0]) || first == '\t' || first == '\r' ? 1 : 0;
  const unsigned length = llvm::getNumBytesForUTF8(first);
  const llvm::UTF8* begin = text.bytes_begin();
  return length <= text.size() && llvm::isLegalUTF8Sequence(begin, begin + length) ? length : 0;
}

}  // namespace

Token Lexer::token(TokenKind kind, std::size_t length) {
  Token result{kind, position_, text_.substr(position_, length)};
  position_ += length;
  return result;
}

Token Lexer::bad(std::size_t length, std::size_t problem_offset, std::string problem) {
  problem_ = std::move(problem);
  problem_offset_ = problem_offset;
  return token(TokenKind::kBad, length);
}

void Lexer::skipBlanks() {
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      ++position_;
    } else if (text_.substr(position_).starts_with("//")) {
      position_ = std::min(text_.find('\n', position_), text_.size());
    } else {
      return;
    }
  }
}

Token Lexer::next() {
  skipBlanks();
  if (position_ == text_.size()) return {TokenKind::kEnd, position_, {}};
  const llvm::StringRef rest = text_.substr(position_);
  const char c = rest[0];
  if (isWordStart(c)) return token(TokenKind::kWord, rest.take_while(isWordPart).size());
  if (llvm::isDigit(c)) return number();
  if (c == '"') return string();
  if (c == '%') {
    const std::size_t digits = rest.drop_front().take_while(llvm::isDigit).size();
    if (digits == 0) return bad(1, position_, "expected the number of an operation after '%'");
    return token(TokenKind::kOperation, 1 + digits);
  }
  if (c == '@') {
    if (rest.size() < 2 || !isWordStart(rest[1]))
      return bad(1, position_, "expected a name after '@'");
    return token(TokenKind::kName, 1 + rest.drop_front().take_while(isNamePart).size());
  }
  if (rest.starts_with("..")) return token(TokenKind::kDots, 2);
  if (rest.starts_with("->")) return token(TokenKind::kPunctuation, 2);
  if (llvm::StringRef("{}[](),=+-*/:").contains(c)) return token(TokenKind::kPunctuation, 1);
  return bad(1, position_, "unexpected " + shown(c));
}

Token Lexer::number() {
  const llvm::StringRef rest = text_.substr(position_);
  auto digits = [&](std::size_t from) {
    return rest.substr(from).take_while(llvm::isDigit).size();
  };
  std::size_t length = digits(0);
  TokenKind kind = TokenKind::kInteger;
  // Not the dots of 1..6.
  if (rest.substr(length).starts_with(".") && digits(length + 1) > 0) {
    kind = TokenKind::kDecimal;
    length += 1 + digits(length + 1);
  }
  if (length < rest.size() && (rest[length] == 'e' || rest[length] == 'E')) {
    std::size_t exponent = length + 1;
    if (exponent < rest.size() && (rest[exponent] == '+' || rest[exponent] == '-')) ++exponent;
    if (digits(exponent) > 0) {
      kind = TokenKind::kDecimal;
      length = exponent + digits(exponent);
    }
  }
  if (length < rest.size() && isWordPart(rest[length])) {
    const std::size_t end = length + rest.substr(length).take_while(isWordPart).size();
    return bad(end, position_ + length, "a number may not be followed by " + shown(rest[length]));
  }
  return token(kind, length);
}

Token Lexer::string() {
  const llvm::StringRef rest = text_.substr(position_);
  for (std::size_t i = 1; i < rest.size() && rest[i] != '\n'; ++i) {
    if (rest[i] == '"') return token(TokenKind::kString, i + 1);
    if (rest[i] != '\\') continue;
    const llvm::StringRef escape = rest.substr(i + 1);
    if (escape.starts_with("\"") || escape.starts_with("\\")) {
      ++i;
    } else if (escape.size() >= 3 && escape[0] == 'x' && llvm::isHexDigit(escape[1]) &&
               llvm::isHexDigit(escape[2])) {
      i += 3;
    } else {
      return bad(i, position_ + i, "unknown escape; there are \\\", \\\\ and \\xHH");
    }
  }
  return bad(rest.size(), position_, "the string does not end on its line");
}

std::string unquoted(llvm::StringRef token) {
  std::string bytes;
  const llvm::StringRef inner = token.drop_front().drop_back();
  for (std::size_t i = 0; i < inner.size(); ++i) {
    if (inner[i] != '\\') {
      bytes += inner[i];
    } else if (inner[i + 1] == 'x') {
      bytes += static_cast<char>(llvm::hexFromNibbles(inner[i + 2], inner[i + 3]));
      i += 3;
    } else {
      bytes += inner[++i];
    }
  }
  return bytes;
}

std::string located(llvm::StringRef text, llvm::StringRef origin, std::size_t offset,
                    llvm::StringRef what) {
  constexpr std::size_t kTab = 8, kWidth = 100, kBefore = 60;
  offset = std::min(offset, text.size());
  const llvm::StringRef before = text.take_front(offset);
  const std::size_t line_number = before.count('\n') + 1;
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  const llvm::StringRef line = text.substr(line_start).take_until([](char c) { return c == '\n'; });
  const std::size_t column = offset - line_start;

  // At most kWidth bytes around the caret are shown, from a character's first byte.
  auto continues = [&](std::size_t i) {
    return i < line.size() && (static_cast<unsigned char>(line[i]) & 0xc0) == 0x80;
  };
  std::size_t begin = column > kBefore && line.size() > kWidth ? column - kBefore : 0;
  while (begin > 0 && begin < column && continues(begin))
    ++begin;
  std::size_t end = std::min(line.size(), begin + kWidth);
  while (end > column + 1 && continues(end))
    --end;

  std::string shown_line = begin > 0 ? "..." : "";
  std::size_t width = shown_line.size(), caret = width;
  for (std::size_t i = begin; i < end;) {
    const std::size_t length = characterLength(line.substr(i, end - i));
    if (i <= column && column < i + std::max<std::size_t>(length, 1)) caret = width;
    if (line[i] == '\t') {
      const std::size_t blanks = kTab - width % kTab;
      shown_line.append(blanks, ' ');
      width += blanks;
    } else if (line[i] == '\r' && i + 1 == line.size()) {
      // A carriage return before the line feed is not shown.
    } else {
      shown_line += length == 0 ? "?" : line.substr(i, length).str();
      ++width;
    }
    i += std::max<std::size_t>(length, 1);
  }
  if (column >= end) caret = width;
  if (end < line.size()) shown_line += "...";
  return (origin + ":" + llvm::Twine(line_number) + ":" + llvm::Twine(column + 1) +
          ": error: " + what + "\n" + shown_line + "\n" + std::string(caret, ' ') + "^")
      .str();
}

}  // namespace torc::ir
