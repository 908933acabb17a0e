// Text in columns, for a person.
#ifndef TORC_SUPPORT_COLUMNS_H_
#define TORC_SUPPORT_COLUMNS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace torc {

/// Words in lines of at most `width` columns, the first of which goes on after `indent` of them, as
/// the others do.
std::string wrapped(std::string_view words, std::size_t indent, std::size_t width);

/// As printf prints it.
[[gnu::format(printf, 1, 2)]] std::string formatted(const char* format, ...);

/// "4096", "64K", "1.5M": powers of 1024.
std::string shortBytes(std::uint64_t bytes);

struct Column {
  std::string head = {};
  bool is_right = false;  // cells end below each other
};

/// Rows below the heads of their columns, each column as wide as its widest cell.
class Columns {
 public:
  explicit Columns(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// A dash stands for an empty cell, so that columns stay columns to a program.
  void add(std::vector<std::string> row);

  /// The heads and each row, with its end, after `indent` blanks. Texts of the last column go on
  /// below in it beyond `width`.
  std::vector<std::string> lines(std::size_t indent = 0, std::size_t width = -1) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace torc

#endif  // TORC_SUPPORT_COLUMNS_H_
