// Names of collectives.
#include "compiler/collective_spec.h"

#include <string>

namespace torc {

llvm::Expected<Collective> parseCollective(llvm::StringRef name) {
  std::string known;
  for (int i = 0; i < kCollectiveCount; ++i) {
    const auto collective = static_cast<Collective>(i);
    const llvm::StringRef candidate = rowOf(collective).name;
    if (candidate == name) return collective;
    if (i > 0) known += i + 1 == kCollectiveCount ? " and " : ", ";
    known += candidate;
  }
  return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                 "unknown collective '" + name + "'; there are " + known);
}

}  // namespace torc
