// The main function of torc and torc-model: selects the command, prints --help and --version, and
// ends the program.
#ifndef TORC_COMPILER_COMMAND_LINE_H_
#define TORC_COMPILER_COMMAND_LINE_H_

#include <string_view>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/STLFunctionalExtras.h>

#include "support/options.h"

namespace torc::compiler {

/// The result of a program's main(): the exit code of `run`, or of a `CommandEnd`. If memory runs
/// out, prints one line and returns the exit code of a fault. Messages name the program `name`.
int runProgram(const char* name, llvm::function_ref<int()> run);

/// Runs the command named by the first one or two words, and returns the exit code. `about` is the
/// head of --help.
int runCommand(llvm::ArrayRef<options::Command*> commands, std::string_view about,
               llvm::ArrayRef<const char*> words);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_COMMAND_LINE_H_
