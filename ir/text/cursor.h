// A place in a text that is being parsed: the current token, and the first fault found. The
// functions that return bool return false after a fault; then `error()` has the located message.
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
  [[nodiscard]] bool expect(llvm::StringRef spelling, llvm::StringRef context = {});
  /// Reads any word: `expected a buffer, found ...`.
  [[nodiscard]] bool word(llvm::StringRef& word, llvm::StringRef what);
  /// Reads an integer from `lowest` to `highest`.
  [[nodiscard]] bool integer(std::uint64_t& value, std::uint64_t lowest, std::uint64_t highest,
                             llvm::StringRef what);
  template <typename T>
  [[nodiscard]] bool integer(T& value, llvm::StringRef what, std::uint64_t lowest = 0,
                             std::uint64_t highest = std::numeric_limits<T>::max());
  /// Reads the number of a record: they are written in order, so it must be `expected`.
  [[nodiscard]] bool numbered(std::uint64_t expected, llvm::StringRef records);
  /// Reads `+3` or `-1`.
  [[nodiscard]] bool signedInteger(std::int32_t& value, llvm::StringRef what);
  /// Reads the digits after such a sign.
  [[nodiscard]] bool magnitude(bool negative, std::int32_t& value, llvm::StringRef what);
  /// Reads a decimal number without sign.
  [[nodiscard]] bool real(double& value, llvm::StringRef what);
  /// Reads a string in quotes.
  [[nodiscard]] bool string(std::string& value, llvm::StringRef what);
  /// Reads an index: the digits of a word like p12.
  [[nodiscard]] bool indexed(std::uint32_t& index, char prefix, llvm::StringRef what,
                             std::uint64_t count);
  /// Reads the name of an axis, X.
  [[nodiscard]] bool axis(const Topology& topology, std::uint32_t& axis);

  /// `expected <what>, found <token>` at the current token. Always false.
  bool failExpected(const llvm::Twine& what);
  /// The same with the name nearest to the token among `names`, or else a reference to the list.
  bool failName(const llvm::Twine& what, llvm::ArrayRef<llvm::StringRef> names);
  /// Records the first fault. Always false.
  bool fail(std::size_t offset, const llvm::Twine& what);
  /// `unknown axis 'Q' (axes are X, Y, Z)`
  bool failAxis(const Topology& topology, std::size_t offset, llvm::StringRef name);
  /// `unknown coordinate 'q' (coordinates are x, y, z)`
  bool failCoordinate(const Topology& topology, std::size_t offset, llvm::StringRef name);
  const std::string& error() const { return error_; }

 private:
  llvm::StringRef text_, origin_;
  Lexer lexer_;
  Token token_;
  std::size_t last_end_ = 0;  // end of the previous token
  std::string error_;
};

template <typename T>
bool TextCursor::integer(T& value, llvm::StringRef what, std::uint64_t lowest,
                         std::uint64_t highest) {
  std::uint64_t wide = 0;
  if (!integer(wide, lowest, highest, what)) return false;
  value = static_cast<T>(wide);
  return true;
}

}  // namespace torc::ir

#endif  // TORC_IR_TEXT_CURSOR_H_
