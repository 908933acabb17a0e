// Reports of stalls on stderr.
#include "runtime/pmpi/engine/stall.h"

#include <mpi.h>

#include "runtime/pmpi/engine/engine.h"
#include "runtime/pmpi/statistics/stderr_lines.h"
#include "support/message.h"

namespace torc::runtime::pmpi {

StallTimer::StallTimer() : StallTimer(engine->settings.stall) {}

StallTimer::StallTimer(double limit) : began_(PMPI_Wtime()), limit_(limit) {}

bool StallTimer::isOver() {
  if (told_ || limit_ == 0 || ++looks_ % 64 != 0 || PMPI_Wtime() - began_ < limit_) return false;
  return told_ = true;
}

void tellOfStall(const std::string& what, const std::string& why) {
  const std::string line = message(what, ": no progress for ", engine->settings.stall, " s: ", why);
  warnOnce(line, line);
}

void tellOfStall(const CollectiveCall& call, const CommunicatorState& state,
                 const std::string& why) {
  std::string what = functionName(call);
  if (call.bytes > 0) what += message(" of ", call.bytes, " bytes");
  if (call.number > 0) what += message(", call ", call.number);
  tellOfStall(message(what, " on ", state.description()), why);
}

}  // namespace torc::runtime::pmpi
