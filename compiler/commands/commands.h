// The subcommands of `torc`: one source file each. The name of some has two words: `library build`.
#ifndef TORC_COMPILER_COMMANDS_COMMANDS_H_
#define TORC_COMPILER_COMMANDS_COMMANDS_H_

#include <string>

#include <llvm/Support/CommandLine.h>
#include <llvm/Support/Error.h>

#include "compiler/command_line.h"
#include "passes/manager/pass_manager.h"

namespace torc::compiler {

Command compileCommand();
Command optCommand();
Command dumpCommand();
Command simulateCommand();
Command verifyCommand();
Command assembleCommand();
Command importCommand();
Command exportCommand();
Command boundsCommand();
Command machinesCommand();
Command infoCommand();
Command statsCommand();
Command libraryBuildCommand();
Command libraryAddCommand();
Command libraryListCommand();
Command libraryVerifyCommand();
Command viewCommand();

/// The number of threads that --jobs gives; where it is not given, the number of cores.
llvm::Expected<unsigned> readJobs(const llvm::cl::opt<std::string>& jobs);

/// The options of a subcommand that runs passes.
class PassFlags {
 public:
  PassFlags(llvm::cl::SubCommand& command, llvm::cl::OptionCategory& category, bool verify_each);
  passes::PassManagerOptions options() const;
  /// Whether any is set: then the passes have to run, even for a program that is there.
  bool areGiven() const { return verify_each_ || print_after_all_ || time_passes_ || statistics_; }

 private:
  llvm::cl::opt<bool> verify_each_, print_after_all_, time_passes_, statistics_;
};

}  // namespace torc::compiler

#endif  // TORC_COMPILER_COMMANDS_COMMANDS_H_
