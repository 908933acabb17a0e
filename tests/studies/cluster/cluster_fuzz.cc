// libFuzzer target: any text as a cluster.
#include <cstdint>

#include <llvm/ADT/StringRef.h>

#include "studies/cluster/cluster.h"
#include "tests/fuzz/checked_refusal.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const llvm::StringRef text(reinterpret_cast<const char*>(data), size);
  if (llvm::Expected<torc::studies::Cluster> cluster = torc::studies::parseCluster(text, "m.json");
      !cluster)
    torc::fuzz::checkRefusal(cluster.takeError());
  return 0;
}
