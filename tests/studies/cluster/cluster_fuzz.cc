// libFuzzer target: any text as a cluster. A refusal names the file, and has a second line only for
// a fault of syntax.
#include <cstdint>
#include <cstdlib>

#include <llvm/ADT/StringRef.h>

#include "studies/cluster/cluster.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const llvm::StringRef text(reinterpret_cast<const char*>(data), size);
  llvm::Expected<torc::studies::Cluster> cluster = torc::studies::parseCluster(text, "m.json");
  if (cluster) return 0;
  const std::string message = toString(cluster.takeError());
  if (!llvm::StringRef(message).starts_with("m.json:")) std::abort();
  if (llvm::StringRef(message).count('\n') > 2) std::abort();
  return 0;
}
