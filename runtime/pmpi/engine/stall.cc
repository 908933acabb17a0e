// Stalls: what is told of them.
#include "runtime/pmpi/engine/stall.h"

#include <mpi.h>

#include "runtime/pmpi/engine/call_report.h"
#include "runtime/pmpi/engine/engine.h"
#include "runtime/pmpi/statistics/report.h"
#include "support/message.h"

namespace torc::runtime::pmpi {

StallTimer::StallTimer() : began_(PMPI_Wtime()) {}

bool StallTimer::isOver() {
  const double limit = engine->settings.stall;
  if (told_ || limit == 0 || ++looks_ % 64 != 0 || PMPI_Wtime() - began_ < limit) return false;
  return told_ = true;
}

void tellOfStall(const CollectiveCall& call, const CommunicatorState& state,
                 const std::string& why) {
  std::string what = functionName(call.id, call.form);
  if (call.bytes > 0) what += message(" of ", call.bytes, " bytes");
  if (call.number > 0) what += message(", call ", call.number);
  const std::string line = message(what, " on ", state.description(), ": no progress for ",
                                   engine->settings.stall, " s: ", why);
  warnOnce(line, line);
}

}  // namespace torc::runtime::pmpi
