// The operations of one rank as JSON, for `torc dump --rank --json` and the page of `torc view`.
#ifndef TORC_COMPILER_VIEW_RANK_DATA_H_
#define TORC_COMPILER_VIEW_RANK_DATA_H_

#include <nlohmann/json.hpp>

#include "schedules/expansion/expand.h"

namespace torc::compiler {

nlohmann::ordered_json rankData(const FlatProgram& program);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_VIEW_RANK_DATA_H_
