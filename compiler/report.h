// What a command has found, for a person or for a program: rows of fields, each of which says what
// it is called and how it is shown, as a table of text, as JSON or as CSV.
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

/// How text shows a number: as printf does by `format`, times `factor`.
struct Unit {
  const char* format = nullptr;  // nullptr: whole numbers as they are
  double factor = 1;
  bool as_size = false;  // bytes, as 64K
};
inline constexpr Unit kMicros = {"%.6g", 1e6};       // seconds as microseconds
inline constexpr Unit kFixedMicros = {"%.2f", 1e6};  // the same, with two digits behind the point
inline constexpr Unit kRatio = {"%.4f"};
inline constexpr Unit kBoundRatio = {"%.3f"};
inline constexpr Unit kSize = {.as_size = true};

struct Field {
  std::string key;        // in JSON and CSV; empty: it is in text alone
  Json value = {};        // in SI units; null: not known, a dash in text
  std::string head = {};  // of its column in text, at least so wide; empty: not in text
  Unit unit = {};
};

/// Of one table all have the same columns in text.
using Record = std::vector<Field>;

/// Numbers, and what is below a head that begins with a blank, end below each other.
std::string tableText(const std::vector<Record>& rows, std::size_t indent = 0);
/// The same line by line, the heads first, each with its end.
std::vector<std::string> tableLines(const std::vector<Record>& rows, std::size_t indent = 0);

/// A value of null, where there is none.
template <typename Value>
Json orNull(const std::optional<Value>& value) {
  return value ? Json(*value) : Json();
}

Json jsonOf(const Record& record);
Json jsonOf(const std::vector<Record>& rows);
/// With its end.
std::string jsonText(const Json& document);
/// A row as an object, several as an array of them.
std::string jsonText(const std::vector<Record>& rows);

/// A line of keys, then one a row. Nested data is left out.
std::string csvText(const std::vector<Record>& rows);

/// "1.25 us"
std::string microsText(double seconds);

/// What --json and --csv say: text where neither does.
struct Form {
  bool json = false, csv = false;
};

/// Prints rows as JSON or CSV, or what `text` prints instead, on stdout. Returns the exit code:
/// `code`, unless the form is no single one, or what is printed cannot be written.
int printReport(const std::vector<Record>& rows, Form form,
                llvm::function_ref<void(llvm::raw_ostream&)> text, int code = kSuccess);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_REPORT_H_
