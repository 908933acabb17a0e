// Shared by the programs of figures: the exit after a fault, with one line, CSV files and tables.
#ifndef TORC_STUDIES_PAPERS_FIGURES_H_
#define TORC_STUDIES_PAPERS_FIGURES_H_

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <llvm/Support/Error.h>

namespace torc::studies {

[[noreturn]] inline void quit(const std::string& message) {
  std::fprintf(stderr, "figures: %s\n", message.c_str());
  std::exit(1);
}

/// The value, or the exit.
template <typename T>
T take(llvm::Expected<T> value) {
  if (!value) quit(llvm::toString(value.takeError()));
  return std::move(*value);
}

/// FOLDER/NAME.csv.
class CsvFile {
 public:
  CsvFile(const std::string& folder, const std::string& name)
      : path_(folder + "/" + name + ".csv"), file_(std::fopen(path_.c_str(), "w")) {
    if (file_ == nullptr) quit(path_ + ": cannot be written");
  }
  CsvFile(const CsvFile&) = delete;
  CsvFile& operator=(const CsvFile&) = delete;
  /// A full disk may be reported only now.
  ~CsvFile() {
    if (std::fclose(file_) != 0) quit(path_ + ": cannot be written");
  }
  operator std::FILE*() const { return file_; }

 private:
  const std::string path_;
  std::FILE* const file_;
};

/// The first two lines of a printed table.
inline void printHeads(const std::vector<std::string>& heads) {
  std::printf("|");
  for (const std::string& head : heads)
    std::printf(head.empty() ? " %s|" : " %s |", head.c_str());
  std::printf("\n|");
  for (std::size_t i = 0; i < heads.size(); ++i)
    std::printf(" --- |");
  std::printf("\n");
}

/// Numbers, each twice the one before.
inline std::vector<double> sizes(double first, double last) {
  std::vector<double> listed;
  for (; first <= last; first *= 2)
    listed.push_back(first);
  return listed;
}

/// Rows of numbers under names of columns; the first column is the x axis.
struct Table {
  std::string name, title;
  std::vector<std::string> columns;
  std::vector<std::pair<std::string, std::vector<std::optional<double>>>> rows = {};

  void add(const std::string& first, std::vector<std::optional<double>> numbers) {
    rows.emplace_back(first, std::move(numbers));
  }

  /// A row for each of `x`, integers, the x axis of the figure.
  static Table over(std::string name, std::string title, const char* x_name,
                    const std::vector<double>& x) {
    Table table{std::move(name), std::move(title), {x_name}};
    for (const double each : x)
      table.add(std::to_string(std::llround(each)), {});
    return table;
  }
  std::vector<double> x() const {
    std::vector<double> listed;
    for (const auto& row : rows)
      listed.push_back(std::stod(row.first));
    return listed;
  }
  void draw(const std::string& column, const std::function<std::optional<double>(double)>& point) {
    columns.push_back(column);
    for (auto& [first, numbers] : rows)
      numbers.push_back(point(std::stod(first)));
  }

  /// Writes FOLDER/NAME.csv, and prints it under `title`, `unit` after the names of columns,
  /// numbers in `format`, for one double.
  void write(const std::string& folder, const char* format, const std::string& unit = "") const {
    const CsvFile file(folder, name);
    std::vector<std::string> heads;
    for (const std::string& column : columns) {
      std::fprintf(file, "%s%s", heads.empty() ? "" : ",", column.c_str());
      heads.push_back(heads.empty() ? column : column + unit);
    }
    std::printf("\n%s\n", title.c_str());
    printHeads(heads);
    for (const auto& [first, numbers] : rows) {
      std::printf("| %s |", first.c_str());
      std::fprintf(file, "\n%s", first.c_str());
      for (const std::optional<double> number : numbers) {
        std::fprintf(file, number ? ",%.6g" : ",", number.value_or(0));
        std::printf(" ");
        if (number) std::printf(format, *number);  // NOLINT: a literal of the caller
        std::printf(number ? " |" : "|");
      }
      std::printf("\n");
    }
    std::fprintf(file, "\n");
  }
};

}  // namespace torc::studies

#endif  // TORC_STUDIES_PAPERS_FIGURES_H_
