// torc-model: what collectives and dense linear algebra take by the models of the papers.
#include "compiler/command_line.h"
#include "studies/commands/commands.h"

int main(int argc, char** argv) {
  using namespace torc;
  return compiler::runProgram("torc-model", [&] {
    return compiler::runCommand(
        {studies::broadcastCommand(), studies::reduceCommand(), studies::alltoallCommand(),
         studies::gemmCommand(), studies::luCommand()},
        "torc-model: what the models of papers predict, beside torc's schedules\n",
        compiler::withHelp(argc, argv));
  });
}
