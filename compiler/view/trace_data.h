// What the page of `torc view` shows of a run: its trace, beside the prediction.
#ifndef TORC_COMPILER_VIEW_TRACE_DATA_H_
#define TORC_COMPILER_VIEW_TRACE_DATA_H_

#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>
#include <nlohmann/json.hpp>

#include "compiler/view/schedule_data.h"

namespace torc::compiler {

/// The document of a trace, a list of events at the key traceEvents. Errors: no such file, no JSON,
/// no such list.
llvm::Expected<nlohmann::json> readTrace(llvm::StringRef path);

/// A number of an event; 0 where it has none.
double numberIn(const nlohmann::json& object, const char* key);

/// The trace in the file `path` (docs/users/view.md), as far as it is of `schedule`: the round
/// whose time is the median of all rounds, its operations as quartiles over the ranks and three
/// ranks in full. `bytes` of it is the size of the call. Errors: no trace, or none of the schedule.
llvm::Expected<nlohmann::ordered_json> traceData(const ViewedSchedule& schedule,
                                                 llvm::StringRef path);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_VIEW_TRACE_DATA_H_
