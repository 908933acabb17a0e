// Names in the JSON form that reader and writer share; the rest are those of schedules/schedule.h.
#ifndef TORC_IR_JSON_NAMES_H_
#define TORC_IR_JSON_NAMES_H_

#include <string_view>

namespace torc::ir {

inline constexpr int kJsonFormVersion = 8;  // the value of "torc_schedule"
inline constexpr std::string_view kAxisKindNames[] = {"torus", "mesh", "cores"};
inline constexpr std::string_view kAnyPart = "any";  // the part of a stream that serves all
inline constexpr std::string_view kIntervalKindNames[] = {
    "all",     "absolute",   "relative",    "root",        "from_root",
    "to_root", "plus_shift", "minus_shift", "root_within", "for_roots"};
inline constexpr std::string_view kIterationOriginNames[] = {"own", "first", "last", "all", "back"};
inline constexpr std::string_view kPeerOrderNames[] = {"fixed", "shuffled"};

}  // namespace torc::ir

#endif  // TORC_IR_JSON_NAMES_H_
