// torc: compiles, transforms, prints and proves schedules of collectives on tori.
#include <string>
#include <vector>

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/raw_ostream.h>

#include "compiler/commands/commands.h"
#include "compiler/tool.h"

namespace torc::compiler {
namespace {

/// Commands whose names have two words, the first of which is `library`.
constexpr llvm::StringRef kLibrary = "library";

/// The commands of `library`: "build, add, list, verify".
std::string libraryCommands(llvm::ArrayRef<Command> commands) {
  std::string names;
  for (const Command& command : commands) {
    llvm::StringRef name = command.options->getName();
    if (name.consume_front("library ")) names += (names.empty() ? "" : ", ") + name.str();
  }
  return names;
}

/// `torc library --help`.
void printLibraryHelp(llvm::ArrayRef<Command> commands) {
  llvm::raw_ostream& out = llvm::outs();
  out << "OVERVIEW: torc library: folders of schedules that jobs load when they start\n\n"
         "USAGE: torc library COMMAND [options]\n\nCOMMANDS:\n\n";
  for (const Command& command : commands) {
    const llvm::StringRef name = command.options->getName();
    if (!name.starts_with("library ")) continue;
    out << "  " << llvm::left_justify(name, 14) << " - " << command.options->getDescription()
        << '\n';
  }
  out << "\n  Type \"torc library COMMAND --help\" for the options of a command\n";
}

/// `torc library` without a command, or with one that does not exist.
int wrongLibraryCommand(llvm::ArrayRef<Command> commands, llvm::StringRef word) {
  const std::string names = libraryCommands(commands);
  if (word.empty())
    return wrongUsage("library: which command? " + names + " (torc library --help)");
  std::string nearest;
  unsigned least = 3;  // letters: more than that is no slip
  for (const Command& command : commands) {
    llvm::StringRef name = command.options->getName();
    if (!name.consume_front("library ")) continue;
    const unsigned distance = word.edit_distance(name);
    if (distance < least) {
      least = distance;
      nearest = name.str();
    }
  }
  return wrongUsage(
      "library: unknown command '" + word + "'" +
      (nearest.empty() ? "; there are " + names : "; did you mean '" + nearest + "'?"));
}

int run(int argc, char** argv) {
  const Command commands[] = {compileCommand(),       assembleCommand(),   importCommand(),
                              exportCommand(),        optCommand(),        dumpCommand(),
                              verifyCommand(),        simulateCommand(),   boundsCommand(),
                              machinesCommand(),      infoCommand(),       statsCommand(),
                              libraryBuildCommand(),  libraryAddCommand(), libraryListCommand(),
                              libraryVerifyCommand(), viewCommand()};
  std::vector<const char*> arguments = withHelp(argc, argv);
  std::string two_words;
  const llvm::StringRef first = arguments.size() > 1 ? arguments[1] : "";
  if (first == "model") {
    return wrongUsage("unknown subcommand 'model': torc-model does this now (torc-model --help)");
  }
  // To LLVM a subcommand is one word.
  if (first == kLibrary) {
    const llvm::StringRef word = arguments.size() > 2 ? arguments[2] : "";
    if (word == "--help" || word == "-help" || word == "-h" || word == "help") {
      printLibraryHelp(commands);
      return kSuccess;
    }
    two_words = (kLibrary + " " + word).str();
    if (llvm::none_of(commands, [&](const Command& command) {
          return command.options->getName() == two_words;
        })) {
      return wrongLibraryCommand(commands, word);
    }
    arguments.erase(arguments.begin() + 1);
    arguments[1] = two_words.c_str();
  }
  return runCommand(commands, "torc: schedules of MPI collectives on torus networks\n", arguments);
}

}  // namespace
}  // namespace torc::compiler

int main(int argc, char** argv) {
  return torc::compiler::runProgram("torc", [&] { return torc::compiler::run(argc, argv); });
}
