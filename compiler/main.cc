// torc: compiles, transforms, prints and proves schedules of collectives on tori.
#include <string>
#include <tuple>

#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/Path.h>

#include "compiler/commands.h"
#include "compiler/tool.h"
#include "schedules/version.h"

namespace torc {
namespace {

/// LLVM's report on a wrong command line, a few lines that each begin with the program's name, as
/// one line.
std::string oneLine(llvm::StringRef report, llvm::StringRef program) {
  std::string line;
  while (!report.empty()) {
    llvm::StringRef piece;
    std::tie(piece, report) = report.split('\n');
    if (piece.consume_front(program)) piece.consume_front(": ");
    // Advice with the program's path in it; ours follows.
    piece = piece.split("  Try: ").first.split(": See: ").first.rtrim("!.: ");
    if (piece.empty()) continue;
    line += (line.empty() ? "" : "; ") + piece.str();
    line[line.size() - piece.size()] = llvm::toLower(piece[0]);
  }
  return line + " (torc --help)";
}

int run(int argc, char** argv) {
  const Command commands[] = {compileCommand(),  optCommand(),      dumpCommand(),
                              verifyCommand(),   simulateCommand(), boundsCommand(),
                              machinesCommand(), infoCommand()};
  for (const Command& command : commands) {
    llvm::cl::HideUnrelatedOptions(*command.category, *command.options);
  }
  llvm::cl::OptionCategory none("none");
  llvm::cl::HideUnrelatedOptions(none);
  llvm::cl::SetVersionPrinter([](llvm::raw_ostream& out) { out << "torc " << kVersion << '\n'; });

  std::string report;
  llvm::raw_string_ostream errors(report);
  if (!llvm::cl::ParseCommandLineOptions(
          argc, argv, "torc: schedules of MPI collectives on torus networks\n", &errors)) {
    // A value that an option refuses has been reported, on stderr, by LLVM.
    if (report.empty()) return kWrongUsage;
    return wrongUsage(oneLine(report, llvm::sys::path::filename(argv[0])));
  }
  for (const Command& command : commands) {
    if (*command.options) return command.run();
  }
  std::string names;
  for (const Command& command : commands)
    names += (names.empty() ? "" : ", ") + command.options->getName().str();
  return wrongUsage("which command? " + names + " (torc --help)");
}

}  // namespace
}  // namespace torc

int main(int argc, char** argv) {
  return torc::run(argc, argv);
}
