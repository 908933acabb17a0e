// Implements --torus and --machine.
#include <utility>

#include <llvm/ADT/STLExtras.h>

#include "compiler/command_line.h"
#include "compiler/target.h"
#include "ir/make_error.h"
#include "studies/commands/model_commands.h"

namespace torc::studies {

TorusFlags::TorusFlags(options::Command& one, options::Command& other)
    : torus_({&one, &other},
             {options::kMachine, "torus", "SHAPE", "Shape, as 8x8x8; 8x8x4m: Z is a mesh"}),
      machine_({&one, &other}, compiler::kMachineRow) {}

llvm::Expected<model::Machine> TorusFlags::readMachine() const {
  llvm::Expected<compiler::Target> target = compiler::readTarget(torus_, /*order=*/{}, machine_);
  if (!target) return target.takeError();
  model::Machine& machine = target->machine;
  if (machine.ranks_per_node > 0) {
    return makeError("the models have one process on a node, not the cores of '" + torus_ + "'");
  }
  if (machine.damaged()) {
    return makeError("the models know no dead links and nodes, which " + machine.name + " has");
  }
  llvm::erase_if(machine.dimensions,
                 [](const model::MachineDimension& of) { return of.size == 1; });
  if (machine.dimensions.empty()) return makeError("a torus of one node has nothing to send");
  return std::move(machine);
}

}  // namespace torc::studies
