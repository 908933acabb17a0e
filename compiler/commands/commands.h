// The subcommands of `torc`: one source file each. The name of some has two words: `library build`.
#ifndef TORC_COMPILER_COMMANDS_COMMANDS_H_
#define TORC_COMPILER_COMMANDS_COMMANDS_H_

#include <string>

#include <llvm/Support/Error.h>

#include "compiler/command_line.h"
#include "passes/manager/pass_manager.h"

namespace torc::compiler {

options::Command& compileCommand();
options::Command& optCommand();
options::Command& dumpCommand();
options::Command& simulateCommand();
options::Command& verifyCommand();
options::Command& assembleCommand();
options::Command& importCommand();
options::Command& exportCommand();
options::Command& boundsCommand();
options::Command& machinesCommand();
options::Command& infoCommand();
options::Command& doctorCommand();
options::Command& launchCommand();
options::Command& statsCommand();
options::Command& traceCommand();
options::Command& libraryBuildCommand();
options::Command& libraryAddCommand();
options::Command& libraryListCommand();
options::Command& libraryVerifyCommand();
options::Command& viewCommand();

/// The number of threads that --jobs gives; where it is not given, the number of cores.
unsigned threadsOf(const options::Integer& jobs);

/// The options of a subcommand that runs passes.
class PassFlags {
 public:
  PassFlags(options::Command& command, bool verify_each);
  passes::PassManagerOptions options() const;
  /// Whether any is set: then the passes have to run, even for a program that is there.
  bool areGiven() const { return verify_each_ || print_after_all_ || time_passes_ || statistics_; }

 private:
  options::Flag verify_each_, print_after_all_, time_passes_, statistics_;
};

}  // namespace torc::compiler

#endif  // TORC_COMPILER_COMMANDS_COMMANDS_H_
