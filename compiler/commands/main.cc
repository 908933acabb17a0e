// torc: compiles, transforms, prints and proves schedules of collectives on tori.
#include "compiler/commands/commands.h"

int main(int argc, char** argv) {
  using namespace torc::compiler;
  return runProgram("torc", [&] {
    if (argc > 1 && std::string_view(argv[1]) == "model")
      wrongUsage("unknown command 'model': torc-model does this now (torc-model --help)");
    return runCommand(
        {&kCompileCommand,    &kAssembleCommand,    &kImportCommand,        &kExportCommand,
         &kOptCommand,        &kDumpCommand,        &kVerifyCommand,        &kSimulateCommand,
         &kBoundsCommand,     &kMachinesCommand,    &kInfoCommand,          &kDoctorCommand,
         &kLaunchCommand,     &kStatsCommand,       &kTraceCommand,         &kLibraryBuildCommand,
         &kLibraryAddCommand, &kLibraryListCommand, &kLibraryVerifyCommand, &kViewCommand},
        "schedules of MPI collectives on torus networks", llvm::ArrayRef(argv + 1, argv + argc));
  });
}
