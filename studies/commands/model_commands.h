// The commands of `torc-model`, and shared helpers.
#ifndef TORC_STUDIES_COMMANDS_MODEL_COMMANDS_H_
#define TORC_STUDIES_COMMANDS_MODEL_COMMANDS_H_

#include <string>

#include <llvm/ADT/Twine.h>
#include <llvm/Support/Error.h>

#include "compiler/command_line.h"
#include "model/machines/machine.h"

namespace torc::studies {

extern options::Command& kBroadcastCommand;
extern options::Command& kReduceCommand;
extern options::Command& kGemmCommand;
extern options::Command& kLuCommand;
extern options::Command& kAlltoallCommand;

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
