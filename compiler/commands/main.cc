// torc: compiles, transforms, prints and proves schedules of collectives on tori.
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <tuple>
#include <unistd.h>
#include <vector>

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/Path.h>

#include "compiler/commands/commands.h"
#include "compiler/tool.h"
#include "support/version.h"

namespace torc::compiler {
namespace {

/// The command that runs, in letters that stay.
const char* g_command = "";

void writeError(const char* text) {
  // Whether that works changes nothing.
  static_cast<void>(::write(STDERR_FILENO, text, std::strlen(text)) < 0);
}

/// `torc: error: out of memory while running compile`, without a use of memory, and the end: also
/// of a thread, and from where nothing may be thrown.
[[noreturn]] void endOutOfMemory() {
  writeError("torc: error: out of memory while running ");
  writeError(g_command[0] == 0 ? "torc" : g_command);
  writeError("\n");
  ::_exit(kInputFault);
}

/// LLVM's containers do not throw.
void endOutOfMemoryInLlvm(void*, const char*, bool) {
  endOutOfMemory();
}

/// LLVM's report on a wrong command line, a few lines that each begin with the program's name, as
/// one line.
std::string oneLine(llvm::StringRef report, llvm::StringRef program) {
  std::string line;
  while (!report.empty()) {
    llvm::StringRef message;
    std::tie(message, report) = report.split('\n');
    if (message.consume_front(program)) message.consume_front(": ");
    // Advice with the program's path in it; ours follows.
    message = message.split("  Try: ").first.split(": See: ").first.rtrim("!.: ");
    if (message.empty()) continue;
    line += (line.empty() ? "" : "; ") + message.str();
    line[line.size() - message.size()] = llvm::toLower(message[0]);
  }
  return line + " (torc --help)";
}

/// Commands whose names have two words, the first of which is `library`.
constexpr llvm::StringRef kLibrary = "library";

/// The commands of `library`: "build, add, list, verify, diff".
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
      (nearest.empty() ? "; there are " + names : ", did you mean '" + nearest + "'?") +
      " (torc library --help)");
}

int run(int argc, char** argv) {
  const Command commands[] = {compileCommand(),     assembleCommand(),      optCommand(),
                              dumpCommand(),        verifyCommand(),        simulateCommand(),
                              boundsCommand(),      machinesCommand(),      modelCommand(),
                              infoCommand(),        libraryBuildCommand(),  libraryAddCommand(),
                              libraryListCommand(), libraryVerifyCommand(), libraryDiffCommand()};
  for (const Command& command : commands) {
    llvm::cl::HideUnrelatedOptions(*command.category, *command.options);
  }
  llvm::cl::OptionCategory none("none");
  llvm::cl::HideUnrelatedOptions(none);
  llvm::cl::SetVersionPrinter([](llvm::raw_ostream& out) { out << "torc " << kVersion << '\n'; });

  // To LLVM a subcommand is one word.
  std::vector<const char*> arguments(argv, argv + argc);
  std::string two_words;
  if (argc > 1 && argv[1] == kLibrary) {
    const llvm::StringRef word = argc > 2 ? argv[2] : "";
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

  std::string report;
  llvm::raw_string_ostream errors(report);
  if (!llvm::cl::ParseCommandLineOptions(static_cast<int>(arguments.size()), arguments.data(),
                                         "torc: schedules of MPI collectives on torus networks\n",
                                         &errors)) {
    // A value that an option refuses has been reported, on stderr, by LLVM.
    if (report.empty()) return kWrongUsage;
    return wrongUsage(oneLine(report, llvm::sys::path::filename(argv[0])));
  }
  for (const Command& command : commands) {
    if (!*command.options) continue;
    g_command = command.options->getName().data();
    return command.run();
  }
  std::string names;
  for (const Command& command : commands)
    names += (names.empty() ? "" : ", ") + command.options->getName().str();
  return wrongUsage("which command? " + names + " (torc --help)");
}

}  // namespace
}  // namespace torc::compiler

int main(int argc, char** argv) {
  std::set_new_handler(torc::compiler::endOutOfMemory);
  llvm::install_bad_alloc_error_handler(torc::compiler::endOutOfMemoryInLlvm);
  try {
    return torc::compiler::run(argc, argv);
  } catch (const std::bad_alloc&) {  // of more than any allocator is asked for
    torc::compiler::endOutOfMemory();
  } catch (const std::length_error&) {
    torc::compiler::endOutOfMemory();
  }
}
