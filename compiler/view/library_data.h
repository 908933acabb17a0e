// What the page of `torc view` shows of a library.
#ifndef TORC_COMPILER_VIEW_LIBRARY_DATA_H_
#define TORC_COMPILER_VIEW_LIBRARY_DATA_H_

#include <nlohmann/json.hpp>

#include "compiler/library/manifest.h"

namespace torc::compiler {

/// Its shapes, each with what serves which sizes of which collective, and what that is predicted to
/// take, or, where tuned, has taken.
nlohmann::ordered_json libraryData(const Library& library);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_VIEW_LIBRARY_DATA_H_
