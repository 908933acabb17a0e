#include "compiler/report.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringExtras.h>

#include "compiler/sizes.h"

namespace torc::compiler {
namespace {

std::string cellText(const Field& field) {
  const Json& value = field.value;
  if (value.is_null()) return "-";
  if (value.is_string()) return value.get<std::string>();
  if (field.unit.as_size) return sizeText(value.get<std::uint64_t>());
  if (field.unit.format == nullptr) return value.dump();
  return formatted(field.unit.format, field.unit.factor * value.get<double>());
}

/// Encodes a value: texts with commas, quotes or line ends are quoted, and quotes doubled.
std::string csvCell(const Json& value) {
  if (value.is_null()) return {};
  if (!value.is_string()) return value.dump();
  const auto text = value.get<std::string>();
  if (text.find_first_of(",\"\r\n") == text.npos) return text;
  return '"' + llvm::join(llvm::split(text, '"'), "\"\"") + '"';
}

}  // namespace

std::string tableText(const std::vector<Record>& rows, std::size_t indent) {
  return llvm::join(tableLines(rows, indent), "");
}

std::vector<std::string> tableLines(const std::vector<Record>& rows, std::size_t indent) {
  if (rows.empty()) return {};
  std::vector<Column> columns;
  for (const Field& field : rows.front()) {
    if (!field.head.empty())
      columns.push_back({field.head, field.head[0] == ' ' || field.value.is_number()});
  }
  Columns table(std::move(columns));
  for (const Record& row : rows) {
    std::vector<std::string> cells;
    for (const Field& field : row) {
      if (!field.head.empty()) cells.push_back(cellText(field));
    }
    table.add(std::move(cells));
  }
  return table.lines(indent);
}

Json jsonOf(const Record& record) {
  Json object = Json::object();
  for (const Field& field : record) {
    if (!field.key.empty()) object[field.key] = field.value;
  }
  return object;
}

Json jsonOf(const std::vector<Record>& rows) {
  Json array = Json::array();
  for (const Record& row : rows)
    array.push_back(jsonOf(row));
  return array;
}

std::string jsonText(const Json& document) {
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

std::string jsonText(const std::vector<Record>& rows) {
  return jsonText(rows.size() == 1 ? jsonOf(rows.front()) : jsonOf(rows));
}

std::string csvText(const std::vector<Record>& rows) {
  std::vector<std::string> keys;
  for (const Record& row : rows) {
    for (const Field& field : row) {
      if (!field.key.empty() && !field.value.is_structured() &&
          !llvm::is_contained(keys, field.key))
        keys.push_back(field.key);
    }
  }
  std::string text = llvm::join(keys, ",") + '\n';
  for (const Record& row : rows) {
    const Json object = jsonOf(row);
    std::vector<std::string> cells;
    for (const std::string& key : keys)
      cells.push_back(object.contains(key) ? csvCell(object[key]) : "");
    text += llvm::join(cells, ",") + '\n';
  }
  return text;
}

std::string microsText(double seconds) {
  return formatted("%.6g us", 1e6 * seconds);
}

int printReport(const std::vector<Record>& rows, Form form,
                llvm::function_ref<void(llvm::raw_ostream&)> text, int code) {
  if (form.json && form.csv) wrongUsage("--json and --csv: one of them");
  if (form.json) return printOutput(jsonText(rows), code);
  if (form.csv) return printOutput(csvText(rows), code);
  std::string lines;
  llvm::raw_string_ostream out(lines);
  text(out);
  return printOutput(lines, code);
}

}  // namespace torc::compiler
