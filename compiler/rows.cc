// Rows of options: the values for completion.
#include "compiler/rows.h"

#include <llvm/ADT/StringExtras.h>

#include "model/machines/machine.h"
#include "schedules/collective.h"

namespace torc::compiler {

std::string machineWords() {
  return llvm::join(model::machinePresets(), " ");
}

std::string collectiveWords() {
  return collectiveNames(" ", " ");
}

}  // namespace torc::compiler
