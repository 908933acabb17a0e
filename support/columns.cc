#include "support/columns.h"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>

namespace torc {

std::string wrapped(std::string_view words, std::size_t indent, std::size_t width) {
  std::string text;
  std::size_t column = indent;
  for (std::size_t begin = 0; begin < words.size();) {
    const std::size_t end = std::min(words.find(' ', begin), words.size());
    if (column > indent && column + 1 + end - begin > width) {
      text += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      text += ' ';
      ++column;
    }
    text += words.substr(begin, end - begin);
    column += end - begin;
    begin = end + 1;
  }
  return text;
}

std::string formatted(const char* format, ...) {
  char text[256];
  va_list values;
  va_start(values, format);
  std::vsnprintf(text, sizeof(text), format, values);
  va_end(values);
  return text;
}

std::string shortBytes(std::uint64_t bytes) {
  if (bytes < 10000) return std::to_string(bytes);
  double value = static_cast<double>(bytes);
  std::size_t letter = 0;
  for (; value >= 1024 && letter < 6; ++letter)
    value /= 1024;
  return formatted("%.*f%c", value == std::floor(value) ? 0 : 1, value, " KMGTPE"[letter]);
}

void Columns::add(std::vector<std::string> row) {
  std::ranges::replace(row, "", "-");
  rows_.push_back(std::move(row));
}

std::vector<std::string> Columns::lines(std::size_t indent, std::size_t width) const {
  std::vector<std::string> lines(rows_.size() + 1, std::string(indent, ' '));
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const Column& column = columns_[i];
    const auto cell = [&](std::size_t line) -> const std::string& {
      return line == 0 ? column.head : rows_[line - 1][i];
    };
    std::size_t widest = 0;
    for (std::size_t line = 0; line < lines.size(); ++line)
      widest = std::max(widest, cell(line).size());
    const bool is_last = i + 1 == columns_.size();
    for (std::size_t line = 0; line < lines.size(); ++line) {
      const std::string blanks(widest - cell(line).size(), ' ');
      std::string& text = lines[line];
      if (column.is_right) text += blanks;
      text += is_last && !column.is_right ? wrapped(cell(line), text.size(), width) : cell(line);
      if (!column.is_right && !is_last) text += blanks;
      text += is_last ? "\n" : "  ";
    }
  }
  return lines;
}

}  // namespace torc
