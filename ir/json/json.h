// The JSON form of a schedule: the same content as the binary file, for other
// tools to read. JSON Schema: docs/schemas/schedule.schema.json. bin -> json -> bin
// gives the same bytes.
#ifndef TORC_IR_JSON_JSON_H_
#define TORC_IR_JSON_JSON_H_

#include <string>

#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>

#include "schedules/schedule.h"

namespace torc::ir {

inline constexpr int kJsonFormVersion = 8;  // the value of "torc_schedule"

std::string writeJson(const ScheduleView& schedule);

/// Reads and validates. Errors name the file and the place: `a.json: /operations/17/stream:
/// expected an integer from 0 to 4294967294`.
llvm::Expected<Schedule> readJson(llvm::StringRef text, llvm::StringRef origin);

}  // namespace torc::ir

#endif  // TORC_IR_JSON_JSON_H_
