// What one rank executes, as JSON: what `torc dump --rank --json` prints, and the page of
// `torc view` shows.
#ifndef TORC_COMPILER_VIEW_RANK_DATA_H_
#define TORC_COMPILER_VIEW_RANK_DATA_H_

#include <nlohmann/json.hpp>

#include "schedules/expansion/expand.h"

namespace torc::compiler {

nlohmann::ordered_json rankData(const FlatProgram& program);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_VIEW_RANK_DATA_H_
