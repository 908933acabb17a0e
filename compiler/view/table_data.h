// Data of a judge's or a paper's table for the page of `torc view`.
#ifndef TORC_COMPILER_VIEW_TABLE_DATA_H_
#define TORC_COMPILER_VIEW_TABLE_DATA_H_

#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>
#include <nlohmann/json.hpp>

namespace torc::compiler {

/// The CSV file `path`: names of columns, and rows of numbers, texts and null for empty cells.
/// Cells are not quoted. Errors name the line: `a.csv:3:1: error: has 2 cells, and the first line
/// 5`.
llvm::Expected<nlohmann::ordered_json> tableData(llvm::StringRef path);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_VIEW_TABLE_DATA_H_
