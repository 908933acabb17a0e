// Reads CSV.
#include <cmath>
#include <utility>

#include <llvm/ADT/SmallVector.h>

#include "compiler/tool.h"
#include "compiler/view/page_data.h"
#include "ir/make_error.h"

namespace torc::compiler {
namespace {

using Json = nlohmann::ordered_json;

// Limit of cells in a page's table.
constexpr std::size_t kMostCells = 200'000;

Json cellData(llvm::StringRef cell) {
  cell = cell.trim();
  double number = 0;
  if (cell.empty()) return {};
  if (!cell.getAsDouble(number) && std::isfinite(number)) return number;
  return cell.str();
}

/// Number of columns with only numbers and empty cells.
std::size_t numberColumns(const Json& rows) {
  std::size_t count = 0;
  for (std::size_t column = 0; column < rows[0].size(); ++column) {
    bool has_number = false, has_text = false;
    for (const Json& row : rows) {
      has_number |= row[column].is_number();
      has_text |= row[column].is_string();
    }
    count += has_number && !has_text ? 1 : 0;
  }
  return count;
}

}  // namespace

llvm::Expected<Json> tableData(llvm::StringRef path) {
  llvm::Expected<std::string> text = readBytes(path);
  if (!text) return text.takeError();
  Json columns = Json::array(), rows = Json::array();
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(*text).split(lines, '\n');
  for (std::size_t number = 0; number < lines.size(); ++number) {
    const llvm::StringRef line = lines[number].rtrim();
    if (line.empty()) continue;
    llvm::SmallVector<llvm::StringRef> cells;
    line.split(cells, ',');
    if (columns.empty()) {
      for (const llvm::StringRef cell : cells)
        columns.push_back(cell.trim().str());
      continue;
    }
    const std::string place = path.str() + ":" + std::to_string(number + 1) + ":1: error: ";
    if (cells.size() != columns.size()) {
      return makeError(place + "has " + std::to_string(cells.size()) +
                       " cells, and the first line " + std::to_string(columns.size()));
    }
    if ((rows.size() + 1) * columns.size() > kMostCells) {
      return makeError(place + "a page shows at most " + std::to_string(kMostCells) + " cells");
    }
    Json row = Json::array();
    for (const llvm::StringRef cell : cells)
      row.push_back(cellData(cell));
    rows.push_back(std::move(row));
  }
  if (rows.empty()) return makeError(path + ": is no table: it has no line below a first one");
  if (numberColumns(rows) < 2)
    return makeError(path + ": has fewer than two columns of numbers, and so nothing to draw");
  return Json{{"file", path.str()}, {"columns", std::move(columns)}, {"rows", std::move(rows)}};
}

}  // namespace torc::compiler
