// Data of a run for the page of `torc view`: its trace, beside the prediction.
#ifndef TORC_COMPILER_VIEW_TRACE_DATA_H_
#define TORC_COMPILER_VIEW_TRACE_DATA_H_

#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>
#include <nlohmann/json.hpp>

#include "compiler/view/page_data.h"

namespace torc::compiler {

/// The document of a trace, a list of events at the key traceEvents. Errors: no such file, no JSON,
/// no such list.
llvm::Expected<nlohmann::json> readTrace(llvm::StringRef path);

/// The number at a key of an event; 0 without one.
double numberIn(const nlohmann::json& object, const char* key);

/// The operations of `schedule` in the trace file `path` (docs/users/view.md): the round with the
/// median time, its operations as quartiles over the ranks, and some ranks in full, the late one
/// first. `bytes` in it is the size of the call. Errors: no trace, none of the schedule, or of
/// calls only.
llvm::Expected<nlohmann::ordered_json> traceData(const ViewedSchedule& schedule,
                                                 llvm::StringRef path);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_VIEW_TRACE_DATA_H_
