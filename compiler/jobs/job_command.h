// The command that starts a job, `mpiexec -n 8 ./program`: its parts, and its words with more
// variables.
#ifndef TORC_COMPILER_JOBS_JOB_COMMAND_H_
#define TORC_COMPILER_JOBS_JOB_COMMAND_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/Support/Error.h>

#include "compiler/jobs/mpi_program.h"

namespace torc::compiler {

struct JobCommand {
  std::vector<std::string> words;
  Mpi launcher = Mpi::kNone;  // whose mpiexec starts the ranks; none: another's, as srun
  std::size_t launcher_word = 0;
  std::uint64_t ranks = 0;  // of all sections; 0: not said
  std::string program;      // a path; empty: none of the words is a program of MPI
  Mpi mpi = Mpi::kNone;     // the program's; where there is none, the launcher's
};

/// Reads a command. Errors: its first word is no program, the program is one that cannot be served,
/// or of another MPI than the launcher.
llvm::Expected<JobCommand> readJobCommand(llvm::ArrayRef<std::string> words);

/// Whether all ranks run on this host, as far as the command and Slurm say.
bool isOfOneHost(const JobCommand& command);

using Variables = std::vector<std::pair<std::string, std::string>>;

/// The words, so that ranks get `variables` and those TORC_ of the environment, where the launcher
/// takes them by options. Others are set here.
std::vector<std::string> withVariables(const JobCommand& command, const Variables& variables);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_JOBS_JOB_COMMAND_H_
