// What the programs of several commands share, torc and torc-model: how a command line is read,
// what
// --help and --version say, and how a program ends.
#ifndef TORC_COMPILER_COMMAND_LINE_H_
#define TORC_COMPILER_COMMAND_LINE_H_

#include <vector>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Support/CommandLine.h>

namespace torc::compiler {

/// A subcommand: its options, and what it does once they are parsed. `run` returns the exit code.
struct Command {
  llvm::cl::SubCommand* options;
  llvm::cl::OptionCategory* category;
  int (*run)();
};

/// What a program's main() returns: the exit code of `run`, or that of a fault after one line where
/// memory has run out. `name` is what messages call the program.
int runProgram(const char* name, llvm::function_ref<int()> run);

/// Runs the command that the command line names, and returns the exit code. `overview` heads
/// --help.
int runCommand(llvm::ArrayRef<Command> commands, llvm::StringRef overview,
               llvm::ArrayRef<const char*> arguments);

/// What `main` was given, with `--help` at the end in place of a first `help`: `help compile`.
std::vector<const char*> withHelp(int argc, const char* const* argv);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_COMMAND_LINE_H_
