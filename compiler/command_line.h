// The main function of torc and torc-model: which command runs, --help, --version, and how a
// program ends.
#ifndef TORC_COMPILER_COMMAND_LINE_H_
#define TORC_COMPILER_COMMAND_LINE_H_

#include <string_view>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/STLFunctionalExtras.h>

#include "support/options.h"

namespace torc::compiler {

/// The result of a program's main(): the exit code of `run`, or that of a fault after one line
/// where memory has run out. `name` is the program's in messages.
int runProgram(const char* name, llvm::function_ref<int()> run);

/// Runs the command that the first words name, one word or two, and returns the exit code. `about`
/// heads --help.
int runCommand(llvm::ArrayRef<options::Command*> commands, std::string_view about,
               llvm::ArrayRef<const char*> words);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_COMMAND_LINE_H_
