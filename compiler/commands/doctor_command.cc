// torc doctor [PROGRAM]: whether a job is set up so that torc can serve it, and remedies if not.
#include <functional>

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringExtras.h>

#include "compiler/commands/commands.h"
#include "compiler/jobs/set_up.h"
#include "compiler/report.h"

namespace torc::compiler {
namespace doctor_command {

using namespace options;

int run();
Command command("doctor", "check that a job can be served, and say what to do if not", run,
                "torc doctor --ranks 8 ./program");
Text program{command, {kWhat, "[PROGRAM]", "PROGRAM", "The program of the job"}};
Integer ranks{command, {kWhat, "ranks", "N", "Ranks of the job"}, 1, kHighestRank};
Text library{command, {kWhat, "library", "DIR", "The library; default: TORC_LIBRARY"}};
Text shared_memory{command,
                   {kWhat, "shared-memory", "DIR", "Where MPI has shared memory", "/dev/shm"}};
Text machine{command, kMachineRow};
Flag json{command, kJsonRow};

int run() {
  const std::vector<Finding> findings =
      checkSetUp({ranks, library, machine, program, shared_memory});
  std::vector<Record> records;
  for (const Finding& finding : findings) {
    records.push_back({{"check", finding.check},
                       {"good", finding.isGood()},
                       {"found", finding.found},
                       {"remedy", finding.remedy}});
  }
  const bool is_good = llvm::all_of(findings, std::mem_fn(&Finding::isGood));
  const Record record = {{"good", is_good}, {"checks", jsonOf(records)}};
  return printReport(
      {record}, {json},
      [&](llvm::raw_ostream& out) {
        for (const Finding& finding : findings) {
          out << (finding.isGood() ? "good   " : "WRONG  ") << llvm::left_justify(finding.check, 15)
              << finding.found << (finding.isGood() ? "" : ". To do: " + finding.remedy) << '\n';
        }
      },
      is_good ? kSuccess : kInputFault);
}

}  // namespace doctor_command

options::Command& kDoctorCommand = doctor_command::command;

}  // namespace torc::compiler
