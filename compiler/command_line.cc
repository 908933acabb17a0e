// The command line of torc and of torc-model.
#include "compiler/command_line.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/ADT/StringSet.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/Path.h>
#include <llvm/Support/raw_ostream.h>

#include "compiler/program_name.h"
#include "compiler/tool.h"
#include "ir/make_error.h"
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
  writeError(g_program);
  writeError(": error: out of memory while running ");
  writeError(g_command[0] == 0 ? g_program : g_command);
  writeError("\n");
  ::_exit(kInputFault);
}

/// LLVM's containers do not throw.
void endOutOfMemoryInLlvm(void*, const char*, bool) {
  endOutOfMemory();
}

/// `torc: error: IO failure on output stream: No space left on device`, of --help and --version,
/// which LLVM prints.
void endInLlvm(void*, const char* reason, bool) {
  for (const char* text : {g_program, ": error: ", reason, "\n"})
    writeError(text);
  ::_exit(kInputFault);
}

/// " (torc --help)"
std::string helpHint() {
  return " (" + std::string(g_program) + " --help)";
}

/// The first fault of LLVM's report on a wrong command line, a few lines that each begin with the
/// program's name.
std::string oneLine(llvm::StringRef report, llvm::StringRef program) {
  llvm::StringRef message = report.split('\n').first;
  if (message.consume_front(program)) message.consume_front(": ");
  // Advice with the program's path in it; ours follows.
  message = message.split("  Try: ").first.split(": See: ").first.rtrim("!.: ");
  std::string line = message.str();
  if (!line.empty()) line[0] = llvm::toLower(line[0]);
  return line + helpHint();
}

/// An error for the first argument that is no option of the command, or of the program, which LLVM
/// reports in more than one line.
llvm::Error checkOptions(llvm::ArrayRef<Command> commands, llvm::ArrayRef<const char*> arguments) {
  const llvm::StringRef first = arguments.size() > 1 ? arguments[1] : "";
  const auto* const command = llvm::find_if(
      commands, [&](const Command& each) { return each.options->getName() == first; });
  const bool has_command = command != commands.end();
  if (!has_command && !first.starts_with("--")) return llvm::Error::success();
  llvm::StringSet<> options;
  const auto add = [&](llvm::cl::SubCommand& of) {
    for (const auto& option : llvm::cl::getRegisteredOptions(of))
      options.insert(("--" + option.getKey()).str());
  };
  add(llvm::cl::SubCommand::getTopLevel());
  if (has_command) add(*command->options);
  const std::string where = std::string(g_program) + (has_command ? " " + first.str() : "");
  for (const llvm::StringRef argument : arguments.drop_front()) {
    if (argument == "--") break;
    const llvm::StringRef name = argument.split('=').first;
    if (!name.starts_with("--") || options.contains(name)) continue;
    return unknownName("option", name, llvm::to_vector(options.keys()), where + " --help has them");
  }
  return llvm::Error::success();
}

/// `text`, a table of `  --option - what it does`, in lines of `width` columns at most: what does
/// not fit goes on under what it does.
std::string wrapped(llvm::StringRef text, std::size_t width) {
  std::string result;
  for (const llvm::StringRef line : llvm::split(text, '\n')) {
    const std::size_t dash = line.find(" - ");
    const std::size_t indent = dash < width / 2 ? dash + 3 : 0;
    std::size_t column = 0;
    for (const llvm::StringRef word : llvm::split(line, ' ')) {
      if (column > indent && column + 1 + word.size() > width) {
        result += "\n" + std::string(indent, ' ');
        column = indent;
      } else if (word.data() != line.data()) {
        result += ' ';
        ++column;
      }
      result += word;
      column += word.size();
    }
    result += '\n';
  }
  result.pop_back();
  return result;
}

/// The columns of the terminal that stdout is; 0: it is none.
std::size_t terminalColumns() {
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

int g_terminal = -1;  // stdout, while LLVM's help goes into a file in memory

/// LLVM prints help in lines as long as they come, and ends the program.
void wrapHelp() {
  llvm::outs().flush();
  const off_t length = ::lseek(STDOUT_FILENO, 0, SEEK_END);
  std::string text(static_cast<std::size_t>(std::max<off_t>(length, 0)), ' ');
  const ssize_t read = ::pread(STDOUT_FILENO, text.data(), text.size(), 0);
  ::dup2(g_terminal, STDOUT_FILENO);
  if (read >= 0) llvm::outs() << wrapped(text, terminalColumns());
  llvm::outs().flush();
}

/// Has help that goes to a terminal fit its width.
void fitHelpToTerminal(llvm::ArrayRef<const char*> arguments) {
  const bool is_help = llvm::any_of(arguments, [](llvm::StringRef argument) {
    return argument.consume_front("-") &&
           llvm::is_contained({"h", "help", "-help", "-help-hidden", "-help-list"}, argument);
  });
  constexpr std::size_t kNarrowest = 40;
  if (!is_help || terminalColumns() < kNarrowest) return;
  const int memory = ::memfd_create("help", 0);
  if (memory < 0) return;
  g_terminal = ::dup(STDOUT_FILENO);
  if (g_terminal < 0) return;
  ::dup2(memory, STDOUT_FILENO);
  llvm::outs();  // is there before that, and so until then
  std::atexit(wrapHelp);
}

}  // namespace

int runProgram(const char* name, llvm::function_ref<int()> run) {
  g_program = name;
  std::set_new_handler(endOutOfMemory);
  llvm::install_bad_alloc_error_handler(endOutOfMemoryInLlvm);
  llvm::install_fatal_error_handler(endInLlvm);
  try {
    return run();
  } catch (const std::bad_alloc&) {  // of more than any allocator is asked for
    endOutOfMemory();
  } catch (const std::length_error&) {
    endOutOfMemory();
  }
}

std::vector<const char*> withHelp(int argc, const char* const* argv) {
  std::vector<const char*> arguments(argv, argv + argc);
  if (argc < 2 || std::strcmp(argv[1], "help") != 0) return arguments;
  arguments.erase(arguments.begin() + 1);
  arguments.push_back("--help");
  return arguments;
}

int runCommand(llvm::ArrayRef<Command> commands, llvm::StringRef overview,
               llvm::ArrayRef<const char*> arguments) {
  for (const Command& command : commands) {
    llvm::cl::HideUnrelatedOptions(*command.category, *command.options);
  }
  llvm::cl::OptionCategory none("none");
  llvm::cl::HideUnrelatedOptions(none);
  llvm::cl::SetVersionPrinter(
      [](llvm::raw_ostream& out) { out << g_program << ' ' << kVersion << '\n'; });

  if (llvm::Error error = checkOptions(commands, arguments))
    return wrongUsage(toString(std::move(error)));
  fitHelpToTerminal(arguments);
  std::string report;
  llvm::raw_string_ostream errors(report);
  if (!llvm::cl::ParseCommandLineOptions(static_cast<int>(arguments.size()), arguments.data(),
                                         overview, &errors)) {
    // A value that an option refuses has been reported, on stderr, by LLVM.
    if (report.empty()) return kWrongUsage;
    return wrongUsage(oneLine(report, llvm::sys::path::filename(arguments[0])));
  }
  for (const Command& command : commands) {
    if (!*command.options) continue;
    g_command = command.options->getName().data();
    return command.run();
  }
  return wrongUsage(llvm::Twine("which command? ") + g_program + " help has them");
}

}  // namespace torc::compiler
