// A place in a text that is being parsed: the current token. A fault ends the parsing by an
// exception, which `parseProgram` catches.
#ifndef TORC_IR_TEXT_CURSOR_H_
#define TORC_IR_TEXT_CURSOR_H_

#include <cstdint>
#include <limits>
#include <string>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/ADT/Twine.h>

#include "ir/text/lexer.h"
#include "schedules/topology/topology.h"

namespace torc::ir {

class TextCursor {
 public:
  TextCursor(llvm::StringRef text, llvm::StringRef origin);

  const Token& token() const { return token_; }
  std::size_t offset() const { return token_.offset; }
  bool at(llvm::StringRef spelling) const { return token_.is(spelling); }
  void advance();

  /// Steps over the word or mark `spelling` if it is here.
  bool take(llvm::StringRef spelling);
  /// Steps over it or fails: `expected ')' after the box, found 'to'`.
  void expect(llvm::StringRef spelling, llvm::StringRef context = {});
  /// Reads any word: `expected a buffer, found ...`.
  llvm::StringRef word(llvm::StringRef what);
  /// Reads one of the names, and returns its index.
  std::size_t named(const llvm::Twine& what, llvm::ArrayRef<llvm::StringRef> names);
  /// Reads an integer from `lowest` to `highest`.
  template <typename T = std::uint32_t>
  T integer(llvm::StringRef what, std::uint64_t lowest = 0,
            std::uint64_t highest = std::numeric_limits<T>::max()) {
    return static_cast<T>(wideInteger(what, lowest, highest));
  }
  /// Reads the number of a record: they are written in order, so it must be `expected`.
  void numbered(std::uint64_t expected, llvm::StringRef records);
  /// Reads the mark - or +.
  bool isMinus();
  /// Whether one of them is here.
  bool atSign() const { return at("-") || at("+"); }
  /// Reads the digits after such a sign.
  std::int32_t magnitude(bool negative, llvm::StringRef what);
  /// Reads `+3` or `-1`.
  std::int32_t signedInteger(llvm::StringRef what) { return magnitude(isMinus(), what); }
  /// Reads a decimal number without sign.
  double real(llvm::StringRef what);
  /// Reads a string in quotes.
  std::string string(llvm::StringRef what);
  /// Reads an index: the digits of a word like p12.
  std::uint32_t indexed(char prefix, llvm::StringRef what, std::uint64_t count);
  /// Reads the name of an axis, X.
  std::uint32_t axis(const Topology& topology);

  /// `expected <what>, found <token>` at the current token.
  [[noreturn]] void failExpected(const llvm::Twine& what);
  /// The same with the name nearest to the token among `names`, or else a reference to the list.
  [[noreturn]] void failName(const llvm::Twine& what, llvm::ArrayRef<llvm::StringRef> names);
  [[noreturn]] void fail(std::size_t offset, const llvm::Twine& what);
  /// `unknown axis 'Q' (axes are X, Y, Z)`, `unknown coordinate 'q' (coordinates are x, y, z)`
  [[noreturn]] void failAxis(const Topology& topology, std::size_t offset, llvm::StringRef name,
                             bool is_coordinate = false);

 private:
  std::uint64_t wideInteger(llvm::StringRef what, std::uint64_t lowest, std::uint64_t highest);

  llvm::StringRef text_, origin_;
  Lexer lexer_;
  Token token_;
  std::size_t last_end_ = 0;  // end of the previous token
};

}  // namespace torc::ir

#endif  // TORC_IR_TEXT_CURSOR_H_
