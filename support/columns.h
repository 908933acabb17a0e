// Text in columns, for readers.
#ifndef TORC_SUPPORT_COLUMNS_H_
#define TORC_SUPPORT_COLUMNS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace torc {

/// Words in lines of at most `width` columns; the first line continues after `indent` columns, the
/// others begin with as many.
std::string wrapped(std::string_view words, std::size_t indent, std::size_t width);

/// Formats like printf.
[[gnu::format(printf, 1, 2)]] std::string formatted(const char* format, ...);

/// "4096", "64K", "1.5M": powers of 1024.
std::string shortBytes(std::uint64_t bytes);

struct Column {
  std::string head = {};
  bool is_right = false;  // cells end below each other
};

/// Rows below the heads of their columns; each column is as wide as its widest cell.
class Columns {
 public:
  explicit Columns(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// A dash stands for an empty cell, so that programs can still split columns.
  void add(std::vector<std::string> row);

  /// The heads and each row, with line ends, after `indent` blanks. Long texts of the last column
  /// wrap within it beyond `width`.
  std::vector<std::string> lines(std::size_t indent = 0, std::size_t width = -1) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace torc

#endif  // TORC_SUPPORT_COLUMNS_H_
