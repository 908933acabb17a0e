// Tokens of the text form, and the places of faults: line, column, the line itself and a caret.
#ifndef TORC_IR_TEXT_LEXER_H_
#define TORC_IR_TEXT_LEXER_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include <llvm/ADT/StringRef.h>

namespace torc::ir {

enum class TokenKind : std::uint8_t {
  kEnd,          // end of the text
  kWord,         // send, p0, x, XYZ
  kInteger,      // 17
  kDecimal,      // 0.5, 1e-07
  kString,       // "..."
  kOperation,    // %17
  kName,         // @allreduce
  kPunctuation,  // one of { } [ ] ( ) , = + - * / :
  kDots,         // ..
  kBad,          // not a token; see Lexer::problem
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::size_t offset = 0;  // bytes from the start of the text
  llvm::StringRef text;    // unchanged

  /// Whether this is the punctuation mark or the word `spelling`.
  bool is(llvm::StringRef spelling) const {
    return (kind == TokenKind::kPunctuation || kind == TokenKind::kWord ||
            kind == TokenKind::kDots) &&
           text == spelling;
  }
  std::size_t end() const { return offset + text.size(); }
};

/// Cuts a text into tokens, one at a time; skips white space and comments (`//` to the line's end).
class Lexer {
 public:
  explicit Lexer(llvm::StringRef text) : text_(text) {}

  Token next();

  /// The last token of kind kBad: its fault and place.
  const std::string& problem() const { return problem_; }
  std::size_t problemOffset() const { return problem_offset_; }

 private:
  void skipBlanks();
  Token token(TokenKind kind, std::size_t length);
  Token bad(std::size_t length, std::size_t problem_offset, std::string problem);
  Token number();
  Token string();

  llvm::StringRef text_;
  std::size_t position_ = 0;
  std::string problem_;
  std::size_t problem_offset_ = 0;
};

/// The bytes that a string token denotes: \" \\ and \xHH resolved.
std::string unquoted(llvm::StringRef token);

}  // namespace torc::ir

#endif  // TORC_IR_TEXT_LEXER_H_
