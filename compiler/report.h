// A command's results for people and programs: rows of fields, each with its key and format, as a
// table of text, as JSON or as CSV.
#ifndef TORC_COMPILER_REPORT_H_
#define TORC_COMPILER_REPORT_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/Support/raw_ostream.h>
#include <nlohmann/json.hpp>

#include "compiler/tool.h"
#include "support/columns.h"

namespace torc::compiler {

using Json = nlohmann::ordered_json;

/// Text format of a number: printf's `format`, times `factor`.
struct Unit {
  const char* format = nullptr;  // nullptr: whole numbers as they are
  double factor = 1;
  bool as_size = false;  // bytes, like 64K
};
inline constexpr Unit kMicros = {"%.6g", 1e6};       // seconds as microseconds
inline constexpr Unit kFixedMicros = {"%.2f", 1e6};  // the same, with two decimals
inline constexpr Unit kRatio = {"%.4f"};
inline constexpr Unit kBoundRatio = {"%.3f"};
inline constexpr Unit kSize = {.as_size = true};

struct Field {
  std::string key;        // in JSON and CSV; empty: text only
  Json value = {};        // in SI units; null: unknown, a dash in text
  std::string head = {};  // of its text column, at least this wide; empty: not in text
  Unit unit = {};
};

/// All rows of a table have the same text columns.
using Record = std::vector<Field>;

/// Right-aligns numbers, and columns whose head begins with a blank.
std::string tableText(const std::vector<Record>& rows, std::size_t indent = 0);
/// The same line by line, the heads first, with line ends.
std::vector<std::string> tableLines(const std::vector<Record>& rows, std::size_t indent = 0);

/// The value, or null without one.
template <typename Value>
Json orNull(const std::optional<Value>& value) {
  return value ? Json(*value) : Json();
}

Json jsonOf(const Record& record);
Json jsonOf(const std::vector<Record>& rows);
/// With a line end.
std::string jsonText(const Json& document);
/// A row as an object, several as an array of them.
std::string jsonText(const std::vector<Record>& rows);

/// A line of keys, then one line per row. Nested data is omitted.
std::string csvText(const std::vector<Record>& rows);

/// "1.25 us"
std::string microsText(double seconds);

/// The options --json and --csv: text without either.
struct Form {
  bool json = false, csv = false;
};

/// Prints rows as JSON or CSV, or `text` otherwise, on stdout. Returns the exit code: `code`, or
/// another one if both forms are requested or writing fails.
int printReport(const std::vector<Record>& rows, Form form,
                llvm::function_ref<void(llvm::raw_ostream&)> text, int code = kSuccess);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_REPORT_H_
