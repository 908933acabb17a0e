// The commands of `torc-model`, and shared helpers.
#ifndef TORC_STUDIES_COMMANDS_MODEL_COMMANDS_H_
#define TORC_STUDIES_COMMANDS_MODEL_COMMANDS_H_

#include <string>

#include <llvm/ADT/Twine.h>
#include <llvm/Support/Error.h>

#include "compiler/command_line.h"
#include "model/machines/machine.h"

namespace torc::studies {

options::Command& broadcastCommand();
options::Command& reduceCommand();
options::Command& gemmCommand();
options::Command& luCommand();
options::Command& alltoallCommand();

inline constexpr double kMicro = 1e6;  // microseconds per second

/// --torus and --machine of two commands.
class TorusFlags {
 public:
  TorusFlags(options::Command& one, options::Command& other);
  /// The machine of these options, without dimensions of one node.
  llvm::Expected<model::Machine> readMachine() const;

 private:
  options::Text torus_, machine_;
};

}  // namespace torc::studies

#endif  // TORC_STUDIES_COMMANDS_MODEL_COMMANDS_H_
