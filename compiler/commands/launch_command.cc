// torc launch mpiexec ... PROGRAM: runs a job with its collectives served.
#include <cstdlib>
#include <fstream>
#include <thread>
#include <unistd.h>

#include <llvm/ADT/STLExtras.h>
#include <llvm/Support/FileUtilities.h>

#include "compiler/commands/commands.h"
#include "compiler/jobs/child_process.h"
#include "compiler/jobs/job_command.h"
#include "compiler/jobs/job_library.h"
#include "compiler/jobs/stats_sum.h"
#include "ir/make_error.h"

namespace torc::compiler {
namespace launch_command {

using namespace options;

int run();
Command command("launch", "run an MPI program with its collectives served by torc", run,
                "torc launch mpiexec -n 8 ./program",
                "that of the command, or 128 and the number of the signal that ended it");
Rest words{command, {kWhat, "MPIEXEC...", "COMMAND", "The command that starts the job"}};
Text torus{command,
           {kMachine, "torus", "SHAPE", "Shape; default: Slurm's, the machine's, most cubic"}};
Text machine{command, kMachineRow};
Flag tune{command,
          {kMachine, "tune", "", "Let the first calls try what is fastest, MPI's own too"}};
Flag quiet{command, kQuietRow};

int run() {
  if (words.empty()) wrongUsage("launch: which command? torc launch mpiexec -n 8 ./program");
  const JobCommand job = orInputFault(readJobCommand(words));
  const std::string preload = orInputFault(findPreload(job.mpi));
  JobPlace place = orOptionFault(placeOfJob(job.ranks, torus, machine));
  if (!quiet) {
    llvm::errs() << "torc: " << (job.ranks > 0 ? std::to_string(job.ranks) + " ranks on " : "")
                 << place.torus << " (" << place.why << "), " << nameOf(job.mpi) << '\n';
  }
  const bool is_given = !place.library.empty();
  if (!is_given) {
    const int code = cachedLibrary(place.torus, machine, quiet, place.library);
    if (code != kSuccess) return code;
  }

  const bool sums_up = !quiet && std::getenv("TORC_STATS") == nullptr;
  std::string scratch;
  if (sums_up || !place.mapping.empty()) {
    const std::string cache = orInputFault(cacheFolder());
    scratch = cache + "/job-" + std::to_string(::getpid());
  }
  const llvm::FileRemover statistics(scratch + ".jsonl", !scratch.empty()),
      mapping(scratch + ".map", !scratch.empty());
  const char* preloaded = std::getenv("LD_PRELOAD");
  Variables variables = {{"LD_PRELOAD", preload}, {"TORC_LIBRARY", place.library}};
  if (preloaded != nullptr && *preloaded != 0 && !llvm::StringRef(preloaded).contains(preload))
    variables.front().second += std::string(":") + preloaded;
  if (is_given && !torus.empty()) variables.emplace_back("TORC_TORUS", torus.text());
  if (!place.mapping.empty()) {
    orInputFault(writeOutput(scratch + ".map", place.mapping));
    variables.emplace_back("TORC_MAPPING", scratch + ".map");
  }
  if (tune) variables.emplace_back("TORC_TUNE", "1");
  if (sums_up) variables.emplace_back("TORC_STATS", "json:" + scratch + ".jsonl");
  const int code = runChild([&] { return becomeProgram(withVariables(job, variables)); });
  if (!sums_up || code == 127) return code;
  StatsSum sum;
  std::ifstream lines(scratch + ".jsonl");
  for (std::string line; std::getline(lines, line);)
    (void)sum.addLine(line);
  for (const std::string& line :
       summaryOf(sum, isOfOneHost(job) ? std::thread::hardware_concurrency() : 0, tune))
    llvm::errs() << "torc: " << line << '\n';
  return code;
}

}  // namespace launch_command

options::Command& kLaunchCommand = launch_command::command;

}  // namespace torc::compiler
