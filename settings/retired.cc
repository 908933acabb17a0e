// Retired values: the table of them.
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
    "for "
    "TORC_DEDICATED=1:N";

constexpr Retired kRetired[] = {
    {"TORC_TRANSPORT", "ucx", kNoUcx},
    {"TORC_TRANSPORT", "put+ucx", kNoUcx},
    {"TORC_DEDICATED", "auto", kNoAuto},
    {"TORC_DEDICATED_FILE", "", kNoAuto},
    {"TORC_STATS", "prometheus",
     "nothing is written; `torc stats --prometheus FILE` makes it of lines of "
     "TORC_STATS=json:FILE"},
    {"TORC_STATS", "syslog",
     "nothing is sent; `logger -t torc <FILE` sends lines of TORC_STATS=json:FILE"},
};

}  // namespace

std::string retiredWarning(std::string_view name, std::string_view value) {
  for (const Retired& each : kRetired) {
    if (name == each.name &&
        (each.value.empty() || value.substr(0, value.find(':')) == each.value)) {
      return message(name, '=', shown(value), ": ", each.instead);
    }
  }
  return {};
}

}  // namespace torc
