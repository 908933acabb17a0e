// Names of collectives.
#include "compiler/collective_spec.h"

#include <string>

namespace torc {

llvm::Expected<Collective> parseCollective(llvm::StringRef name) {
  if (const std::optional<Collective> collective = collectiveNamed(name)) return *collective;
  return llvm::createStringError(
      llvm::inconvertibleErrorCode(),
      "unknown collective '" + name + "'; there are " + collectiveNames(" and "));
}

}  // namespace torc
