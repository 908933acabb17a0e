// libFuzzer target: any text as a machine and as a cluster. What is accepted of a machine reads
// back as the same; a refusal names the file, and shows a second line only of a fault of syntax.
#include <cstdint>
#include <cstdlib>

#include <llvm/ADT/StringRef.h>

#include "model/cluster/cluster.h"
#include "model/machines/machine.h"

namespace {

void checkRefusal(llvm::Error error) {
  const std::string message = toString(std::move(error));
  if (!llvm::StringRef(message).starts_with("m.json:")) std::abort();
  if (llvm::StringRef(message).count('\n') > 2) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const llvm::StringRef text(reinterpret_cast<const char*>(data), size);
  if (llvm::Expected<torc::model::Machine> machine = torc::model::parseMachine(text, "m.json")) {
    const std::string json = torc::model::machineJson(*machine);
    llvm::Expected<torc::model::Machine> again = torc::model::parseMachine(json, "again");
    if (!again || torc::model::machineJson(*again) != json) std::abort();
    llvm::consumeError(torc::model::topologyOf(*machine).takeError());
  } else {
    checkRefusal(machine.takeError());
  }
  if (llvm::Expected<torc::model::Cluster> cluster = torc::model::parseCluster(text, "m.json");
      !cluster)
    checkRefusal(cluster.takeError());
  return 0;
}
