// Data of a library for the page of `torc view`.
#ifndef TORC_COMPILER_VIEW_LIBRARY_DATA_H_
#define TORC_COMPILER_VIEW_LIBRARY_DATA_H_

#include <nlohmann/json.hpp>

#include "compiler/library/manifest.h"

namespace torc::compiler {

/// Its shapes, each with the schedules per collective and range of sizes, and their predicted or,
/// if tuned, measured times.
nlohmann::ordered_json libraryData(const Library& library);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_VIEW_LIBRARY_DATA_H_
