// libFuzzer target: any text as a machine, torc's or another tool's. What is accepted reads back as
// the same.
#include <cstdint>
#include <cstdlib>

#include <llvm/ADT/StringRef.h>

#include "model/machines/foreign.h"
#include "model/machines/machine.h"
#include "tests/fuzz/checked_refusal.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const llvm::StringRef text(reinterpret_cast<const char*>(data), size);
  const auto read = torc::model::isMachineJson(text) ? torc::model::parseMachine
                                                     : torc::model::parseForeignMachine;
  if (llvm::Expected<torc::model::Machine> machine = read(text, "m.json")) {
    const std::string json = torc::model::machineJson(*machine);
    llvm::Expected<torc::model::Machine> again = torc::model::parseMachine(json, "again");
    if (!again || torc::model::machineJson(*again) != json) std::abort();
    llvm::consumeError(torc::model::topologyOf(*machine).takeError());
  } else {
    torc::fuzz::checkRefusal(machine.takeError());
  }
  return 0;
}
