// Retired variables and values: the table of them.
#include "settings/retired.h"

#include "support/message.h"

namespace torc {
namespace {

struct Retired {
  std::string_view name, value;  // up to a colon; empty: any
  std::string_view instead;
};

constexpr std::string_view kNoUcx =
    "torc has no transport of UCX any more; messages go by puts within a host, else by MPI";

constexpr std::string_view kNoAuto =
    "no rank is dedicated by it; `mpiexec -n RANKS torc-run --dedicated-sweep` finds the ratio, "
    "for TORC_DEDICATED=1:N";

constexpr Retired kRetired[] = {
    {"TORC_TRANSPORT", "ucx", kNoUcx},
    {"TORC_TRANSPORT", "put+ucx", kNoUcx},
    {"TORC_DEDICATED", "auto", kNoAuto},
    {"TORC_DEDICATED_FILE", "", kNoAuto},
    {"TORC_COMMUNICATORS", "", "torc takes at most 128 communicators, first come, first served"},
    {"TORC_NONBLOCKING", "",
     "nonblocking collectives are served where code that is loaded by MPI_Init has some"},
    {"TORC_STATS", "prometheus",
     "nothing is written; `torc stats --prometheus FILE` makes it of lines of "
     "TORC_STATS=json:FILE"},
    {"TORC_STATS", "syslog",
     "nothing is sent; `logger -t torc <FILE` sends lines of TORC_STATS=json:FILE"},
};

struct Renamed {
  std::string_view name, value;  // empty: any
  std::string_view now, text;    // the new value; for `any` values its begin
};

constexpr Renamed kRenamed[] = {
    {"TORC_MEMORY", "", "TORC_LIMITS", "memory="},
    {"TORC_CACHE", "", "TORC_LIMITS", "cache="},
    {"TORC_SCRATCH", "", "TORC_LIMITS", "scratch="},
    {"TORC_STALL", "", "TORC_LIMITS", "stall="},
    {"TORC_TRACE_EVENTS", "", "TORC_LIMITS", "trace_events="},
    {"TORC_EXPLAIN", "0", "TORC_VERBOSE", ""},
    {"TORC_EXPLAIN", "1", "TORC_VERBOSE", "3"},
};

}  // namespace

std::string retiredWarning(std::string_view name, std::string_view value) {
  const std::string_view word = value.substr(0, value.find(':'));
  for (const Retired& each : kRetired) {
    if (name == each.name && (each.value.empty() || word == each.value)) {
      return message(name, '=', shown(value), ": ", each.instead);
    }
  }
  return {};
}

NewForm newFormOf(std::string_view name, std::string_view value) {
  for (const Renamed& each : kRenamed) {
    if (name == each.name && (each.value.empty() || value == each.value)) {
      return {each.now, message(each.text, each.value.empty() ? value : "")};
    }
  }
  return {};
}

}  // namespace torc
