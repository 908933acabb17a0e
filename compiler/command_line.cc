// The command line of torc and of torc-model.
#include "compiler/command_line.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <new>
#include <poll.h>
#include <span>
#include <stdexcept>
#include <string>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/raw_ostream.h>

#include "compiler/program_name.h"
#include "compiler/tool.h"
#include "model/machines/machine.h"
#include "schedules/collective.h"
#include "support/columns.h"
#include "support/message.h"
#include "support/setting_values.h"
#include "support/version.h"

namespace torc::compiler {
namespace {

/// The command that runs, in letters that stay.
const char* g_command = "";

constexpr std::string_view kProgramOptions[] = {"--help", "--version"};

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

/// After a write into a pipe without a reader (torc ... | head): the rest of the output goes
/// nowhere, and the command ends its work, as the file of -o.
void dropOutput(int) {
  const int error = errno;
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  for (const int output : {STDOUT_FILENO, STDERR_FILENO}) {
    pollfd pipe{output, POLLOUT, 0};
    if (::poll(&pipe, 1, 0) > 0 && (pipe.revents & POLLERR) != 0) ::dup2(nowhere, output);
  }
  ::close(nowhere);
  errno = error;
}

/// Without this, LLVM ends the program for the write that failed.
void forgetBrokenPipes() {
  for (llvm::raw_fd_ostream* out :
       {&llvm::outs(), static_cast<llvm::raw_fd_ostream*>(&llvm::errs())}) {
    out->flush();
    if (out->error() == std::errc::broken_pipe) out->clear_error();
  }
}

/// "library": the first of two words that name a command; "": the name is one word.
std::string_view groupOf(const options::Command& command) {
  const std::size_t space = command.name().find(' ');
  return command.name().substr(0, space == std::string_view::npos ? 0 : space);
}

/// The commands of `group`, or of the program: "torc library: ...", and a line for each.
std::string commandsHelp(llvm::ArrayRef<options::Command*> commands, std::string_view shown_name,
                         std::string_view about, std::string_view group) {
  std::string text = message(shown_name, ": ", about, "\n\nusage: ", shown_name,
                             " COMMAND [OPTION]...\n\nCommands\n");
  for (const options::Command* command : commands) {
    if (!group.empty() && groupOf(*command) != group) continue;
    const std::string name =
        message("  ", command->name().substr(group.empty() ? 0 : group.size() + 1));
    text += name + std::string(18 - name.size(), ' ') +
            wrapped(command->about(), 18, options::columnsOfHelp()) + '\n';
  }
  return text + message('\n', shown_name, " COMMAND --help prints the options of a command.\n");
}

/// The error of a word that names no command.
[[noreturn]] void unknownCommand(llvm::ArrayRef<options::Command*> commands,
                                 std::string_view shown_name, std::string_view group,
                                 std::string_view word) {
  std::vector<std::string_view> names;
  for (const options::Command* command : commands) {
    const std::string_view prefix = groupOf(*command);
    if (group == prefix)
      names.push_back(command->name().substr(group.empty() ? 0 : group.size() + 1));
    if (group.empty() && !prefix.empty()) names.push_back(prefix);
  }
  const std::string help = message(shown_name, " --help"), all = llvm::join(names, ", ");
  const std::string where = group.empty() ? "" : message(group, ": ");
  if (!word.empty()) {
    wrongUsage(where + unknownNameText("command", word, names,
                                       group.empty() ? help + " lists them" : "there are " + all));
  }
  wrongUsage(where + "which command? " +
             (group.empty() ? help + " lists them" : all + " (" + help + ")"));
}

/// The candidates for the place of the last of `words`: lines of a candidate, a tabulator, and its
/// help. A candidate that goes on ends in `=`.
std::string completions(llvm::ArrayRef<options::Command*> commands,
                        llvm::ArrayRef<const char*> words) {
  const std::string_view last = words.empty() ? "" : words.back();
  std::string text;
  const auto add = [&](std::string_view word, std::string_view help) {
    if (word.starts_with(last)) text += message(word, '\t', help, '\n');
  };
  std::string_view added;
  for (const options::Command* command : commands) {
    const std::string_view name = command->name(), prefix = groupOf(*command);
    if (words.size() <= 1) {
      if (prefix.empty() || prefix != added) add(prefix.empty() ? name : prefix, command->about());
      added = prefix;
    } else if (words.size() == 2 && !prefix.empty() && prefix == words[0]) {
      add(name.substr(prefix.size() + 1), command->about());
    } else if (name == words[0] || (words.size() > 2 && name == message(words[0], ' ', words[1]))) {
      for (const auto& [word, help] : command->completions(words[words.size() - 2], last))
        add(word, help);
    }
  }
  return text;
}

}  // namespace

int runProgram(const char* name, llvm::function_ref<int()> run) {
  g_program = name;
  std::set_new_handler(endOutOfMemory);
  llvm::install_bad_alloc_error_handler(endOutOfMemoryInLlvm);
  std::signal(SIGPIPE, dropOutput);
  try {
    int code = kSuccess;
    try {
      code = run();
    } catch (const CommandEnd& end) {
      code = end.code;
    }
    forgetBrokenPipes();
    return code;
  } catch (const std::bad_alloc&) {  // of more than any allocator is asked for
    endOutOfMemory();
  } catch (const std::length_error&) {
    endOutOfMemory();
  }
}

int runCommand(llvm::ArrayRef<options::Command*> commands, std::string_view about,
               llvm::ArrayRef<const char*> words) {
  const bool asks = !words.empty() && std::string_view(words.front()) == "help";
  if (asks) words = words.drop_front();
  const auto wordAt = [&](std::size_t i) -> std::string_view {
    return i < words.size() ? words[i] : "";
  };
  std::span<const char* const> own(words.begin(), words.end());
  for (const options::Command* command : commands) {
    if (command->name() == wordAt(0)) own = own.first(1 + command->ownWords(own.subspan(1)).size());
  }
  const bool has_help = asks || options::asksFor("help", own);
  if (options::asksFor("version", own)) return printOutput(message(g_program, ' ', kVersion, '\n'));
  if (wordAt(0) == "--table") {
    std::string text;
    for (const options::Command* command : commands)
      text += command->table();
    return printOutput(text);
  }
  if (wordAt(0) == "--complete") return printOutput(completions(commands, words.drop_front()));
  std::string_view group;
  for (options::Command* command : commands) {
    const std::string_view prefix = groupOf(*command);
    const std::size_t count = prefix.empty() ? 1 : 2;
    if (!prefix.empty() && prefix == wordAt(0)) group = prefix;
    if (command->name() !=
        (count == 1 ? std::string(wordAt(0)) : message(wordAt(0), ' ', wordAt(1))))
      continue;
    const std::string shown_name = message(g_program, ' ', command->name());
    if (has_help) return printOutput(command->help(shown_name, options::columnsOfHelp()));
    g_command = command->name().data();
    const Status status = command->parse(words.drop_front(count), shown_name);
    if (!status.ok()) wrongUsage(status.message());
    return command->run();
  }
  const std::string shown_name = group.empty() ? g_program : message(g_program, ' ', group);
  const std::string_view word = wordAt(group.empty() ? 0 : 1);
  if (has_help && (word.empty() || word.starts_with('-') || word == "help")) {
    return printOutput(commandsHelp(
        commands, shown_name,
        group.empty() ? about : std::string_view("commands on libraries of schedules"), group));
  }
  if (word.starts_with('-'))
    wrongUsage(unknownNameText("option", word, kProgramOptions, shown_name + " --help has them"));
  unknownCommand(commands, shown_name, group, word);
}

std::string machineWords() {
  return llvm::join(model::machinePresets(), " ");
}

std::string collectiveWords() {
  return collectiveNames(" ", " ");
}

}  // namespace torc::compiler
