#include "compiler/jobs/job_command.h"

#include <cstdlib>
#include <unistd.h>

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallString.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/Path.h>

#include "ir/make_error.h"

namespace torc::compiler {
namespace {

constexpr llvm::StringRef kSection = ":";

/// Whose mpiexec a program is, by the name that its links lead to.
Mpi launcherOf(const std::string& path) {
  llvm::SmallString<128> real;
  (void)llvm::sys::fs::real_path(path, real);
  const llvm::StringRef name = llvm::sys::path::filename(real);
  if (name.contains("hydra")) return Mpi::kMpich;
  return name == "orterun" || name == "prterun" || name == "prte" ? Mpi::kOpenMpi : Mpi::kNone;
}

/// The ranks that `-n 8`, `-np 8`, `--ntasks=8`, `-n8` say; 0: another option. `next` is the word
/// behind it.
std::uint64_t ranksIn(llvm::StringRef word, llvm::StringRef next) {
  std::uint64_t ranks = 0;
  if (!word.consume_front("-")) return 0;
  word.consume_front("-");
  const auto [name, value] = word.split('=');
  const bool is_name = name == "n" || name == "np" || name == "ntasks";
  if (is_name && !(value.empty() ? next : value).getAsInteger(10, ranks)) return ranks;
  return word.consume_front("n") && !word.getAsInteger(10, ranks) ? ranks : 0;
}

}  // namespace

llvm::Expected<JobCommand> readJobCommand(llvm::ArrayRef<std::string> words) {
  JobCommand command;
  command.words = words.vec();
  if (findProgram(words.front()).empty())
    return makeError("there is no program '" + words.front() + "'");
  // Of a section:
  bool is_program_found = false;
  std::uint64_t ranks = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const llvm::StringRef word = words[i];
    if (word == kSection) {
      is_program_found = false;
      ranks = 0;
    }
    if (is_program_found || word == kSection) continue;
    if (word.starts_with("-") && ranks == 0) {
      ranks = ranksIn(word, i + 1 < words.size() ? words[i + 1] : "");
      command.ranks += ranks;
    }
    const std::string path = word.starts_with("-") ? std::string() : findProgram(word);
    if (path.empty()) continue;
    if (const Mpi launcher = launcherOf(path); launcher != Mpi::kNone) {
      command.launcher = launcher;
      command.launcher_word = i;
    }
    llvm::Expected<MpiProgram> program = readProgram(path);
    if (!program) {
      consumeError(program.takeError());  // a script
      continue;
    }
    if (program->calls_mpi && !program->fault.empty())
      return makeError("'" + path + "' " + program->fault + ": " + program->remedy);
    if (program->mpi == Mpi::kNone) continue;
    is_program_found = true;
    if (command.launcher != Mpi::kNone && program->mpi != command.launcher) {
      return makeError("'" + path + "' is a program of " + nameOf(program->mpi) + ", and " +
                       words[command.launcher_word] + " is of " + nameOf(command.launcher) +
                       ": start it with its own mpiexec");
    }
    if (command.program.empty()) command.program = path;
    command.mpi = program->mpi;
  }
  if (command.mpi == Mpi::kNone) command.mpi = command.launcher;
  if (command.mpi == Mpi::kNone) {
    return makeError(
        "no word of the command is a program of MPI; name mpiexec.hydra or "
        "mpiexec.openmpi, which say which MPI it is");
  }
  return command;
}

bool isOfOneHost(const JobCommand& command) {
  const char* nodes = std::getenv("SLURM_JOB_NUM_NODES");
  if (nodes != nullptr && llvm::StringRef(nodes) != "1") return false;
  return llvm::none_of(command.words, [](llvm::StringRef word) {
    return word == "-f" || word == "-machinefile" || word.starts_with("-host") ||
           word.starts_with("--host");
  });
}

std::vector<std::string> withVariables(const JobCommand& command, const Variables& variables) {
  std::vector<std::string> options;
  for (const auto& [name, value] : variables) {
    if (command.launcher == Mpi::kMpich) {
      options.insert(options.end(), {"-genv", name, value});
    } else if (command.launcher == Mpi::kOpenMpi) {
      options.insert(options.end(), {"-x", name + '=' + value});
    } else {
      ::setenv(name.c_str(), value.c_str(), 1);
    }
  }
  // Open MPI passes no variable on by itself to other hosts, and has options of each section.
  const bool has_sections = command.launcher == Mpi::kOpenMpi;
  for (char** entry = environ; has_sections && *entry != nullptr; ++entry) {
    const llvm::StringRef name = llvm::StringRef(*entry).split('=').first;
    const bool is_set = llvm::any_of(variables, [&](const auto& of) { return of.first == name; });
    if (name.starts_with("TORC_") && !is_set) options.insert(options.end(), {"-x", name.str()});
  }
  std::vector<std::string> words;
  for (std::size_t i = 0; i < command.words.size(); ++i) {
    words.push_back(command.words[i]);
    if (i == command.launcher_word || (has_sections && command.words[i] == kSection))
      words.insert(words.end(), options.begin(), options.end());
  }
  return words;
}

}  // namespace torc::compiler
