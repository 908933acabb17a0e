// The subcommands of `torc`, one source file each, with the headers common to all. The name of some
// has two words: `library build`.
#ifndef TORC_COMPILER_COMMANDS_COMMANDS_H_
#define TORC_COMPILER_COMMANDS_COMMANDS_H_

#include <string>

#include <llvm/Support/Error.h>

#include "compiler/command_line.h"
#include "compiler/tool.h"
#include "passes/manager/pass_manager.h"

namespace torc::compiler {

extern options::Command& kCompileCommand;
extern options::Command& kOptCommand;
extern options::Command& kDumpCommand;
extern options::Command& kSimulateCommand;
extern options::Command& kVerifyCommand;
extern options::Command& kAssembleCommand;
extern options::Command& kImportCommand;
extern options::Command& kExportCommand;
extern options::Command& kBoundsCommand;
extern options::Command& kMachinesCommand;
extern options::Command& kInfoCommand;
extern options::Command& kDoctorCommand;
extern options::Command& kLaunchCommand;
extern options::Command& kStatsCommand;
extern options::Command& kTraceCommand;
extern options::Command& kLibraryBuildCommand;
extern options::Command& kLibraryAddCommand;
extern options::Command& kLibraryListCommand;
extern options::Command& kLibraryVerifyCommand;
extern options::Command& kViewCommand;

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
